package postgres

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// A sender that did not hear of the commit settles again.
func TestAnAttemptIsCountedOnce(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	for _, state := range []feedmill.DeliveryState{feedmill.DeliveryRetrying, feedmill.DeliveryDelivered, feedmill.DeliveryExhausted} {
		d := published(t, db, sub)
		o := ended(d, state)
		o.Attempt.Body = []byte("no")
		for range 3 {
			if _, err := db.Settle(t.Context(), []feedmill.Outcome{o}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := db.Delivery(t.Context(), sub.Workspace, d.ID)
		if err != nil || got.Attempts != 1 || got.State != state {
			t.Errorf("%s: delivery is %+v, %v", state, got, err)
		}
		attempts, err := db.DeliveryAttempts(t.Context(), d.ID)
		if err != nil || len(attempts) != 1 || attempts[0].Number != 1 {
			t.Errorf("%s: attempts are %+v, %v", state, attempts, err)
		}
	}
}

// The sender of an attempt may not hear of the commit before somebody else has the
// delivery tried again.
func TestAnAttemptFromBeforeARetryChangesNothing(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	for _, state := range []feedmill.DeliveryState{feedmill.DeliveryDelivered, feedmill.DeliveryExhausted} {
		d := published(t, db, sub)
		o := ended(d, state)
		o.Attempt.Number, o.Attempt.Header = 1, [][2]string{{"Date", "today"}}
		if _, err := db.Settle(t.Context(), []feedmill.Outcome{o}); err != nil {
			t.Fatal(err)
		}
		before, err := db.DeliveryAttempts(t.Context(), d.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.RetryDelivery(t.Context(), sub.Workspace, d.ID, 1, time.Now(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Settle(t.Context(), []feedmill.Outcome{o}); err != nil {
			t.Fatal(err)
		}
		got, err := db.Delivery(t.Context(), sub.Workspace, d.ID)
		if err != nil || got.State != feedmill.DeliveryPending || got.Attempts != 1 {
			t.Errorf("%s: delivery is %+v, %v", state, got, err)
		}
		after, err := db.DeliveryAttempts(t.Context(), d.ID)
		if diff := cmp.Diff(before, after); err != nil || diff != "" {
			t.Errorf("%s: attempts (-before +after), %v:\n%s", state, err, diff)
		}
	}
}

// A first attempt that is late finds its delivery tried or ended by another.
func TestFirstAttemptsThatAreNotTheFirst(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	untried, tried, gone := published(t, db, sub), published(t, db, sub), published(t, db, sub)
	var outcomes []feedmill.Outcome
	for _, d := range []feedmill.DueDelivery{gone, tried, untried} {
		o := ended(d, feedmill.DeliveryDelivered)
		o.Attempt.Number = 1
		outcomes = append(outcomes, o)
	}
	before := []feedmill.Outcome{ended(tried, feedmill.DeliveryRetrying), ended(gone, feedmill.DeliveryExhausted)}
	for _, batch := range [][]feedmill.Outcome{before, outcomes, outcomes} {
		if _, err := db.Settle(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		d        feedmill.DueDelivery
		state    feedmill.DeliveryState
		attempts int
	}{
		{untried, feedmill.DeliveryDelivered, 1},
		{tried, feedmill.DeliveryDelivered, 2},
		{gone, feedmill.DeliveryExhausted, 2},
	} {
		got, err := db.Delivery(t.Context(), sub.Workspace, c.d.ID)
		if err != nil || got.State != c.state || got.Attempts != c.attempts {
			t.Errorf("delivery is %+v (%v), want %s after %d attempts", got, err, c.state, c.attempts)
		}
		attempts, err := db.DeliveryAttempts(t.Context(), c.d.ID)
		if err != nil || len(attempts) != c.attempts || attempts[c.attempts-1].Number != c.attempts {
			t.Errorf("attempts are %+v, %v", attempts, err)
		}
	}
}

func TestOutcomesOfOneDeliveryFollowEachOther(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	d := published(t, db, sub)
	outcomes := []feedmill.Outcome{
		ended(d, feedmill.DeliveryRetrying), ended(d, feedmill.DeliveryExhausted), ended(d, feedmill.DeliveryDelivered),
	}
	if _, err := db.Settle(t.Context(), outcomes); err != nil {
		t.Fatal(err)
	}
	got, err := db.Delivery(t.Context(), sub.Workspace, d.ID)
	if err != nil || got.State != feedmill.DeliveryExhausted || got.Attempts != 3 {
		t.Errorf("delivery is %+v, %v", got, err)
	}
	attempts, err := db.DeliveryAttempts(t.Context(), d.ID)
	if err != nil || len(attempts) != 3 {
		t.Fatalf("attempts are %+v, %v", attempts, err)
	}
	for i, a := range attempts {
		if a.ID != outcomes[i].Attempt.ID || a.Number != i+1 {
			t.Errorf("attempt %d is %+v", i, a)
		}
	}
}

func TestTextsThatNoColumnTakes(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	d := published(t, db, sub)
	o := ended(d, feedmill.DeliveryExhausted)
	o.Reason, o.Attempt.Error = "a\x00b\xff", "c\x00d\xff"
	if _, err := db.Settle(t.Context(), []feedmill.Outcome{o}); err != nil {
		t.Fatal(err)
	}
	got, err := db.Delivery(t.Context(), sub.Workspace, d.ID)
	if err != nil || got.Reason != "a\uFFFDb\uFFFD" {
		t.Errorf("delivery is %+v, %v", got, err)
	}
	e := newEvent(sub)
	e.ResourceID = "a\x00b"
	if _, _, err := db.Accept(t.Context(), []feedmill.Event{e}, nil); !errors.Is(err, feedmill.ErrInvalid) {
		t.Errorf("error is %v, want invalid", err)
	}
}

// Settling, ending and retrying lock the same rows; none may stop another.
func TestASubscriptionThatEndsWhileItIsDeliveredTo(t *testing.T) {
	db := open(t, pgtest.New(t))
	for range 5 {
		sub := subscribed(t, db)
		events := make([]feedmill.Event, 300)
		for i := range events {
			events[i] = newEvent(sub)
		}
		_, due, err := db.Accept(t.Context(), events, nil)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() {
				var outcomes []feedmill.Outcome
				for j := range 10 {
					// The parts interleave, and run in both directions.
					d := due[j*30+i]
					if i%2 == 1 {
						d = due[(9-j)*30+i]
					}
					o := ended(d, feedmill.DeliveryDelivered)
					o.Succeeded = true
					outcomes = append(outcomes, o)
				}
				if _, err := db.Settle(t.Context(), outcomes); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if err := db.DeleteSubscription(t.Context(), sub.Workspace, sub.ID, time.Now()); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if n, _, err := db.OpenWork(t.Context(), time.Now()); err != nil || n != 0 {
			t.Errorf("%d deliveries are open (%v), want none", n, err)
		}
	}
}
