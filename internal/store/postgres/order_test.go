package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// A delivery that is made while its subscription becomes ordered is put in order with
// those before it, although whoever makes it did not see that. Others who make
// deliveries meanwhile, such as beside a replica that is frozen, do not wait.
func TestOrderWaitsForDeliveriesThatAreBeingMade(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	first := published(t, db, sub)
	event := newEvent(sub)
	event.ResourceID = "m_2"
	heads := func(ctx context.Context) ([]feedmill.DueDelivery, error) {
		return db.Due(ctx, feedmill.DueQuery{Subscription: sub.ID, Now: time.Now(), Heads: true, Limit: 9})
	}
	ordered := make(chan error, 1)
	err := db.write(t.Context(), func(tx tx) error {
		batch := newAcceptBatch([]*acceptCall{{events: []feedmill.Event{event}, maxAttempts: 10}})
		if err := tx.send(t.Context(), batch.claimAndMatch); err != nil {
			return err
		}
		_, err := db.ChangeSubscription(t.Context(), sub.Workspace, sub.ID, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			s.Delivery.Ordered = true
			return nil, nil
		})
		if err != nil {
			return err
		}
		if _, err := heads(t.Context()); !errors.Is(err, feedmill.ErrUnavailable) {
			t.Errorf("the order is made without those who are about to write: %v", err)
		}
		go func() { ordered <- db.awaitLooks(context.Background(), time.Hour) }()
		published(t, db, sub) // which waits for nobody
		select {
		case err := <-ordered:
			t.Errorf("the wait for those who are about to write is over: %v", err)
			ordered <- err
		default:
		}
		return tx.send(t.Context(), batch.findHolders, batch.makeDeliveries, batch.write)
	})
	if err := errors.Join(err, <-ordered); err != nil {
		t.Fatal(err)
	}
	due, err := heads(t.Context())
	if err != nil || len(due) != 2 || due[0].ID != first.ID || due[1].Event != event.ID {
		t.Errorf("heads are %+v, %v; want those of both resources", due, err)
	}
}

// What is open of a subscription that becomes ordered is put in order by steps, those
// that wait for another attempt as well, and what is made later stands there at once.
func TestManyOpenDeliveriesAreOrdered(t *testing.T) {
	const rows = 2*feedmill.DiscardStep + 10
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	if _, err := db.pool.Exec(t.Context(), `INSERT INTO open_deliveries (`+commonColumns+`, due_at, slot, apart, ordered)
		SELECT 'dlv_' || lpad(n::text, 26, '0'), $2, $3, 'evt_1', n, 'metric.created', 'r' || n, CASE n % 2 WHEN 0 THEN 'pending' ELSE 'retrying' END,
			'', 0, 10, now(), 0, false, false
		FROM generate_series(1, $1) n`, rows, sub.Workspace, sub.ID); err != nil {
		t.Fatal(err)
	}
	_, err := db.ChangeSubscription(t.Context(), sub.Workspace, sub.ID, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
		s.Delivery.Ordered = true
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	published(t, db, sub)
	if _, err := db.Due(t.Context(), feedmill.DueQuery{Subscription: sub.ID, Now: time.Now(), Heads: true, Limit: 1}); err != nil {
		t.Fatal(err)
	}
	var n int
	var from *string
	err = db.pool.QueryRow(t.Context(), `SELECT count(*), (SELECT order_from FROM subscriptions WHERE id = $1)
		FROM open_deliveries WHERE subscription_id = $1 AND ordered`, sub.ID).Scan(&n, &from)
	if err != nil || n != rows+1 || from != nil {
		t.Errorf("%d of %d deliveries are in order, from %v on, %v", n, rows+1, from, err)
	}
}
