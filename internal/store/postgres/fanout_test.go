package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
	"github.com/feedmill/feedmill/internal/store/storetest"
)

// promised accepts events in an open transaction, with a promise of the
// deliveries of each.
func (t tx) promised(ctx context.Context, events ...feedmill.Event) error {
	batch := newAcceptBatch([]*acceptCall{{events: events, maxAttempts: 10}})
	for _, e := range events {
		batch.events = append(batch.events, acceptedEvent{Event: e})
		batch.promise(e, 10)
	}
	return t.send(ctx, batch.write)
}

// A change of a subscription that overlaps the acceptance of an event does not
// take the delivery away that it was promised.
func TestChangesWhileEventsArePromised(t *testing.T) {
	db := open(t, pgtest.New(t))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	change := func(change func(*feedmill.Subscription)) func(feedmill.Subscription) error {
		return func(sub feedmill.Subscription) error {
			_, err := db.ChangeSubscription(ctx, sub.Workspace, sub.ID, func(s *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
				change(s)
				return nil, nil
			})
			return err
		}
	}
	for name, meanwhile := range map[string]func(feedmill.Subscription) error{
		"other events": change(func(s *feedmill.Subscription) { s.Events = []string{"tag.*"} }),
		"same events":  change(func(s *feedmill.Subscription) { s.Events = []string{"metric.*", "tag.*"} }),
		"disabled":     change(func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionDisabled }),
		"disabled and enabled": func(sub feedmill.Subscription) error {
			return errors.Join(change(func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionDisabled })(sub),
				change(func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionActive })(sub))
		},
		"deleted": func(sub feedmill.Subscription) error {
			return db.DeleteSubscription(ctx, sub.Workspace, sub.ID, time.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			sub := subscribed(t, db)
			e := newEvent(sub)
			changed := make(chan error, 1)
			err := db.write(ctx, func(tx tx) error {
				if err := tx.promised(ctx, e); err != nil {
					return err
				}
				go func() { changed <- meanwhile(sub) }()
				return waitsOrEnds(ctx, tx, changed)
			})
			if err == nil {
				err = <-changed
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, worked, err := db.StepFanout(ctx, time.Now(), storetest.UpTo(10, 0)); err != nil || !worked {
				t.Fatal(worked, err)
			}
			if routes, err := db.EventRoutes(ctx, e.Workspace, []feedmill.ID{e.ID}, 10); err != nil || len(routes[e.ID]) != 1 {
				t.Errorf("the event has %d deliveries, want 1 (%v)", len(routes), err)
			}
		})
	}
}

// waitsOrEnds returns when somebody waits for a lock of the transaction, or has
// ended without; the end is put back.
func waitsOrEnds(ctx context.Context, tx tx, ended chan error) error {
	for {
		select {
		case err := <-ended:
			ended <- err
			return nil
		default:
		}
		// pg_stat_activity would stay as the transaction first saw it.
		var waiting bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))`).Scan(&waiting)
		if err != nil || waiting {
			return err
		}
	}
}

// Promises can be seen in another order than their moments have. Of two replicas of
// which one began with the later of two, none waits for the other for ever.
func TestReplicasStepAtOnceFromDifferentPromises(t *testing.T) {
	db := open(t, pgtest.New(t))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sub := subscribed(t, db)
	earlier, err := db.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	later := newEvent(sub)
	err = errors.Join(tx{earlier}.promised(ctx, newEvent(sub)),
		db.write(ctx, func(tx tx) error { return tx.promised(ctx, later) }))
	if err != nil {
		t.Fatal(err)
	}
	stepped := make(chan error, 1)
	err = db.write(ctx, func(tx tx) error {
		n, err := tx.exec(ctx, `SELECT FROM fanouts WHERE event_id = $1 FOR UPDATE`, later.ID)
		if err != nil || n != 1 {
			return fmt.Errorf("%d promises are locked: %w", n, err)
		}
		if err := earlier.Commit(ctx); err != nil {
			return err
		}
		go func() {
			_, _, err := db.StepFanout(ctx, time.Now(), storetest.UpTo(10, 10))
			stepped <- err
		}()
		if err := waitsOrEnds(ctx, tx, stepped); err != nil {
			return err
		}
		_, err = tx.exec(ctx, endTurn, sub.Workspace)
		return err
	})
	if err = errors.Join(err, <-stepped); err != nil {
		t.Error(err)
	}
	var left int
	if err := db.pool.QueryRow(ctx, `SELECT count(*) FROM fanouts`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d promises are not kept (%v)", left, err)
	}
}

// Neither a step nor an acceptance reads more than it needs of what is promised.
func TestManyPromisesCostNothing(t *testing.T) {
	const promises = 10_000
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	e := newEvent(sub)
	err := db.write(t.Context(), func(tx tx) error { return tx.promised(t.Context(), e) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.pool.Exec(t.Context(), `INSERT INTO fanouts (workspace_id, event_id, resource_id, name, wildcard, filter, attempts)
		SELECT workspace_id, event_id, 'r' || n, name, wildcard, filter, attempts FROM fanouts, generate_series(1, $1) n`, promises); err != nil {
		t.Fatal(err)
	}
	other := subscribed(t, db)
	before := rowsRead(t, db)
	for range 3 {
		if _, worked, err := db.StepFanout(t.Context(), time.Now(), storetest.UpTo(10, 0)); err != nil || !worked {
			t.Fatal(worked, err)
		}
		published(t, db, other)
		events := []feedmill.Event{newEvent(sub)}
		events[0].ResourceID = fmt.Sprint(e.ResourceID, "new")
		if _, _, err := db.Accept(t.Context(), events, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, n := range rowsRead(t, db) {
		if n -= before[name]; n > 500 {
			t.Errorf("%s: %d were read", name, n)
		}
	}
}

// Replicas that make promised deliveries at the same time make each of them once.
func TestReplicasMakePromisedDeliveriesTogether(t *testing.T) {
	const subscriptions, events, replicas = 40, 12, 3
	url := pgtest.New(t)
	db := open(t, url)
	sub := subscribed(t, db)
	more := slices.Repeat([]feedmill.Subscription{sub}, subscriptions-1)
	for i := range more {
		more[i].ID = feedmill.NewID(feedmill.PrefixSubscription)
	}
	if err := db.CreateSubscriptions(t.Context(), more, 0, nil); err != nil {
		t.Fatal(err)
	}
	promised := make([]feedmill.Event, events)
	for i := range promised {
		promised[i] = newEvent(sub)
	}
	if err := db.write(t.Context(), func(tx tx) error { return tx.promised(t.Context(), promised...) }); err != nil {
		t.Fatal(err)
	}
	var stepping sync.WaitGroup
	for i := range replicas {
		replica, whole := open(t, url), i*subscriptions
		stepping.Go(func() {
			for {
				var left int
				if _, _, err := replica.StepFanout(t.Context(), time.Now(), storetest.UpTo(3, whole)); err != nil {
					t.Error(err)
					return
				}
				if err := replica.pool.QueryRow(t.Context(), `SELECT count(*) FROM fanouts`).Scan(&left); err != nil || left == 0 {
					return
				}
			}
		})
	}
	stepping.Wait()
	var made, different int
	if err := db.pool.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT (event_id, subscription_id)) FROM open_deliveries`).Scan(&made, &different); err != nil {
		t.Fatal(err)
	}
	if made != subscriptions*events || different != made {
		t.Errorf("%d deliveries were made, %d different ones, want %d", made, different, subscriptions*events)
	}
}
