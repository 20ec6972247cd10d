package feedmill

import (
	"errors"
	"slices"
	"testing"
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
	if !errors.Is(locked, ErrUnavailable) || locked.Error() != "2 deliveries are locked by somebody" {
		t.Errorf("%v", locked)
	}
}
