package postgres

import (
	"errors"
	"sync"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// The database falls over in the middle of a crowd of publishers and comes
// back. What was answered is there, everything else was reported, and the same
// handle goes on.
func TestWhatWasAnsweredOutlivesACrash(t *testing.T) {
	server := pgtest.Start(t, pgtest.Options{Durable: true})
	db := open(t, server.NewDatabase(t))
	sub := subscribed(t, db)
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		accepted []feedmill.DueDelivery
		settled  []feedmill.ID
		enough   = make(chan struct{})
	)
	for range 16 {
		wg.Go(func() {
			for {
				_, due, err := db.Accept(t.Context(), []feedmill.Event{newEvent(sub)}, nil)
				if err == nil {
					mu.Lock()
					accepted = append(accepted, due...)
					if len(accepted) == 200 {
						close(enough)
					}
					mu.Unlock()
					if _, err = db.Settle(t.Context(), []feedmill.Outcome{ended(due[0], feedmill.DeliveryDelivered)}); err == nil {
						mu.Lock()
						settled = append(settled, due[0].ID)
						mu.Unlock()
					}
				}
				if err != nil {
					if !errors.Is(err, feedmill.ErrUnavailable) {
						t.Errorf("error is %v, want unavailable", err)
					}
					return
				}
			}
		})
	}
	<-enough
	server.Stop(t, pgtest.Immediate)
	wg.Wait()
	server.Start(t)

	for _, d := range accepted {
		if _, err := db.Event(t.Context(), sub.Workspace, d.Event); err != nil {
			t.Fatalf("an accepted event is lost: %v", err)
		}
		if _, err := db.Delivery(t.Context(), sub.Workspace, d.ID); err != nil {
			t.Fatalf("a delivery is lost: %v", err)
		}
	}
	for _, id := range settled {
		d, err := db.Delivery(t.Context(), sub.Workspace, id)
		if err != nil || d.State != feedmill.DeliveryDelivered || d.Attempts != 1 {
			t.Fatalf("an outcome is lost: %+v, %v", d, err)
		}
	}
	published(t, db, sub)
}
