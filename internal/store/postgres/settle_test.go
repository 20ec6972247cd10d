package postgres

import (
	"errors"
	"sync"
	"testing"
	"time"

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
			if _, err := db.Settle(t.Context(), []feedmill.Outcome{o}, 10); err != nil {
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

func TestOutcomesOfOneDeliveryFollowEachOther(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	d := published(t, db, sub)
	outcomes := []feedmill.Outcome{
		ended(d, feedmill.DeliveryRetrying), ended(d, feedmill.DeliveryExhausted), ended(d, feedmill.DeliveryDelivered),
	}
	if _, err := db.Settle(t.Context(), outcomes, 10); err != nil {
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
	if _, err := db.Settle(t.Context(), []feedmill.Outcome{o}, 10); err != nil {
		t.Fatal(err)
	}
	got, err := db.Delivery(t.Context(), sub.Workspace, d.ID)
	if err != nil || got.Reason != "a\uFFFDb\uFFFD" {
		t.Errorf("delivery is %+v, %v", got, err)
	}
	e := newEvent(sub)
	e.ResourceID = "a\x00b"
	if _, _, err := db.Accept(t.Context(), []feedmill.Event{e}, 10, nil); !errors.Is(err, feedmill.ErrInvalid) {
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
		_, due, err := db.Accept(t.Context(), events, 10, nil)
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
				if _, err := db.Settle(t.Context(), outcomes, 10); err != nil {
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
