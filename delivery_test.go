package feedmill

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOpenDeliveries(t *testing.T) {
	var open []DeliveryState
	for _, s := range DeliveryStates {
		if s.Open() {
			open = append(open, s)
		}
	}
	if want := []DeliveryState{DeliveryPending, DeliveryRetrying}; !slices.Equal(open, want) {
		t.Errorf("open are %q, want %q", open, want)
	}
}

func TestDueDeliveriesAreFull(t *testing.T) {
	due := []DueDelivery{{Payload: make([]byte, 10)}, {Payload: make([]byte, 10)}}
	for most, want := range map[int]bool{0: false, 1: true, 20: true, 21: false} {
		if got := (DueQuery{MaxBytes: most}).IsFull(due); got != want {
			t.Errorf("a list is full at %d bytes: %v, want %v", most, got, want)
		}
	}
	locked := error(&LockedError{map[ID]struct{}{"dlv_1": {}, "dlv_2": {}}})
	if !errors.Is(locked, ErrUnavailable) || locked.Error() != "2 deliveries are locked by another process" {
		t.Errorf("%v", locked)
	}
}

func TestRetryByHand(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	active, deleted := Subscription{State: SubscriptionActive}, Subscription{State: SubscriptionDisabled, DeletedAt: now}
	for _, c := range []struct {
		of    Subscription
		state DeliveryState
		want  string // in the refusal
	}{
		{active, DeliveryExhausted, ""},
		{active, DeliveryDelivered, ""},
		{active, DeliveryDiscarded, ""},
		{active, DeliveryRetrying, ""},
		{Subscription{State: SubscriptionPaused}, DeliveryExhausted, ""},
		{active, DeliveryPending, "already pending"},
		{Subscription{State: SubscriptionDisabled}, DeliveryExhausted, "Set its state to active"},
		{deleted, DeliveryPending, "is deleted"},
	} {
		d := Delivery{State: c.state, Reason: "r", Attempts: 3, MaxAttempts: 3, EndedAt: now}
		before := d
		err := d.Retry(c.of.EndedReason(), 4, now)
		if c.want == "" {
			if want := (Delivery{State: DeliveryPending, Attempts: 3, MaxAttempts: 7, DueAt: now}); err != nil || d != want {
				t.Errorf("%s of %s: %+v, %v", c.state, c.of.State, d, err)
			}
			continue
		}
		refusal, ok := errors.AsType[*Error](err)
		if !ok || refusal.Type != "not-retryable" || !errors.Is(err, ErrConflict) || !strings.Contains(refusal.Detail, c.want) || d != before {
			t.Errorf("%s of %s: %+v, %v", c.state, c.of.State, d, err)
		}
	}
}
