package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// Somebody who holds locks holds up what he has locked and nothing else.
func TestLocksHoldUpNoNeighbours(t *testing.T) {
	url := pgtest.New(t)
	db := open(t, url)
	sub := subscribed(t, db)
	for _, c := range []struct {
		name, lock string
		warn       bool
		want       bool // that what is locked is written all the same
	}{
		{name: "a subscription", lock: `SELECT 1 FROM subscriptions WHERE id = $2 AND $1 <> '' FOR UPDATE`, want: true},
		{name: "a delivery", lock: `SELECT 1 FROM open_deliveries WHERE id = $1 AND $2 <> '' FOR UPDATE`},
		{name: "a delivery of one that is to be warned", lock: `SELECT 1 FROM open_deliveries WHERE id = $1 AND $2 <> '' FOR UPDATE`, warn: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			locked, free := published(t, db, sub), published(t, db, sub)
			unlock := hold(t, url, c.lock, locked.ID, sub.ID)
			outcomes := []feedmill.Outcome{ended(locked, feedmill.DeliveryExhausted), ended(free, feedmill.DeliveryExhausted)}
			for i := range outcomes {
				outcomes[i].Succeeded = true
			}
			outcomes[0].Warn = c.warn
			var e *feedmill.LockedError
			_, err := db.Settle(t.Context(), outcomes)
			if errors.As(err, &e) {
				if got := slices.Collect(maps.Keys(e.Deliveries)); !slices.Equal(got, []feedmill.ID{locked.ID}) || c.want {
					t.Errorf("%v are locked", got)
				}
			} else if err != nil || !c.want {
				t.Errorf("error is %v", err)
			}
			if got, err := db.Delivery(t.Context(), sub.Workspace, free.ID); err != nil || got.State != feedmill.DeliveryExhausted {
				t.Errorf("the neighbour is %+v, %v", got, err)
			}
			unlock()
			if _, err := db.Settle(t.Context(), outcomes); err != nil {
				t.Fatal(err)
			}
			for _, d := range []feedmill.DueDelivery{locked, free} {
				if got, err := db.Delivery(t.Context(), sub.Workspace, d.ID); err != nil || got.State != feedmill.DeliveryExhausted || got.Attempts != 1 {
					t.Errorf("after the lock a delivery is %+v, %v", got, err)
				}
			}
		})
	}
}

// hold locks something on a connection of its own.
func hold(t *testing.T, url, lock string, args ...any) (unlock func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{`BEGIN`, lock} {
		if query == `BEGIN` {
			_, err = conn.Exec(t.Context(), query)
		} else {
			_, err = conn.Exec(t.Context(), query, args...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if _, err := conn.Exec(context.Background(), `ROLLBACK`); err != nil { // closing alone is seen a moment later
			t.Error(err)
		}
		conn.Close(context.Background())
	}
}

// A replica that freezes with a publisher's id in hand keeps nobody from
// publishing: its transaction is ended, and whoever repeats the id is answered.
func TestAFrozenReplicaHoldsNoPublisherIDs(t *testing.T) {
	url := pgtest.New(t)
	db, frozen := open(t, url), open(t, url)
	sub := subscribed(t, db)
	tx, err := frozen.steady.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(t.Context(), `INSERT INTO publisher_ids VALUES ($1, 'mine', 'evt_1')`, sub.Workspace); err != nil {
		t.Fatal(err)
	}
	e := newEvent(sub)
	e.DedupeKey = "mine"
	if _, due, err := db.Accept(t.Context(), []feedmill.Event{e}, nil); err != nil || len(due) != 1 {
		t.Errorf("%d deliveries, %v", len(due), err)
	}
}

// What a replica says of deliveries whose slot another has is not written, unless
// it does not matter who says it.
func TestOnlyWhoHasTheSlotSettles(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	if _, err := db.pool.Exec(t.Context(), `UPDATE slots SET owner = 'b', expires_at = now() + interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	for _, state := range []feedmill.DeliveryState{feedmill.DeliveryDelivered, feedmill.DeliveryRetrying, feedmill.DeliveryExhausted} {
		for _, warn := range []bool{false, true} {
			for by, want := range map[string]bool{"a": false, "b": true, "": true} {
				d := published(t, db, sub)
				o := ended(d, state)
				o.By, o.Warn, o.Failed, o.Attempt.Number = by, warn, true, 1
				if _, err := db.Settle(t.Context(), []feedmill.Outcome{o}); errors.Is(err, feedmill.ErrPassedOver) == want || want && err != nil {
					t.Fatalf("%s by %q: %v", state, by, err)
				}
				got, err := db.Delivery(t.Context(), sub.Workspace, d.ID)
				if err != nil || (got.State == state) != want || (got.Attempts == 1) != want {
					t.Errorf("%s by %q: the delivery is %+v, %v", state, by, got, err)
				}
				if s, err := db.Subscription(t.Context(), sub.Workspace, sub.ID); err != nil || (s.Failures == 1) != want || s.FailingSince.IsZero() == want {
					t.Errorf("%s by %q: the subscription has failed %d times since %v, %v", state, by, s.Failures, s.FailingSince, err)
				}
				// What has ended is nobody's any more.
				if _, err := db.Settle(t.Context(), []feedmill.Outcome{o}); errors.Is(err, feedmill.ErrPassedOver) == (by == "") {
					t.Errorf("%s by %q, again: %v", state, by, err)
				}
				if by == "a" && warn {
					if s, err := db.Subscription(t.Context(), sub.Workspace, sub.ID); err != nil || !s.WarnedAt.IsZero() {
						t.Errorf("%s: the subscription is warned of at %v, %v", state, s.WarnedAt, err)
					}
				}
				if _, err := db.pool.Exec(t.Context(), `UPDATE subscriptions SET warned_at = NULL, failing_since = NULL, failures = 0`); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// Every connection has the limits, whichever pool it is of.
func TestLimitsOfConnections(t *testing.T) {
	db := open(t, pgtest.New(t))
	for pool, lock := range map[interface {
		QueryRow(context.Context, string, ...any) pgx.Row
	}]time.Duration{db.pool: lockPatience, db.steady: steadyLockPatience} {
		for name, want := range map[string]string{
			"lock_timeout": lock.String(), "idle_in_transaction_session_timeout": idleInTransaction.String(), "tcp_keepalives_idle": "5", "tcp_user_timeout": "15000",
			"statement_timeout": "1min", "jit": "off",
		} {
			var got string
			if err := pool.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %q, %v; want %q", name, got, err, want)
			}
		}
	}
}
