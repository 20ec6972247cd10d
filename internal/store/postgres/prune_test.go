package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// pruneAll prunes everything up to now that may go.
func pruneAll(t *testing.T, db *DB) {
	t.Helper()
	at := time.Now().AddDate(0, 0, 60)
	for {
		more, err := db.Prune(t.Context(), at, at.AddDate(0, 0, -30))
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

// partitions counts the tables that are partitions of today.
func partitions(t *testing.T, db *DB) (n int) {
	t.Helper()
	today := "%" + partitionName("", dayOf(time.Now()))
	err := db.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_tables WHERE tablename LIKE $1`, today).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPruneDropsDaysOnceNothingIsOpen(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	d := published(t, db, sub)
	pruneAll(t, db)
	if n := partitions(t, db); n != len(partitioned) {
		t.Errorf("%d partitions are there of a day with open work, want %d", n, len(partitioned))
	}
	if _, err := db.Settle(t.Context(), []feedmill.Outcome{ended(d, feedmill.DeliveryExhausted)}); err != nil {
		t.Fatal(err)
	}
	pruneAll(t, db)
	if n := partitions(t, db); n != 0 {
		t.Errorf("%d partitions are left", n)
	}
}

func TestPruneGivesWay(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	d := published(t, db, sub)
	if _, err := db.Settle(t.Context(), []feedmill.Outcome{ended(d, feedmill.DeliveryExhausted)}); err != nil {
		t.Fatal(err)
	}
	reader, err := db.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback(t.Context())
	// However long it takes until somebody comes who wants to drop what it reads.
	if _, err := reader.Exec(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0; SELECT FROM events`); err != nil {
		t.Fatal(err)
	}
	at := dayOf(time.Now()).Add(aDay)
	for more := true; more && err == nil; {
		more, err = db.Prune(t.Context(), at, at)
	}
	if !errors.Is(err, feedmill.ErrUnavailable) {
		t.Errorf("error is %v, want that a reader was in the way", err)
	}
	if _, err := db.Delivery(t.Context(), sub.Workspace, d.ID); err != nil {
		t.Error(err)
	}
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		if more, err = db.Prune(t.Context(), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if n := partitions(t, db); n != 0 {
		t.Errorf("%d partitions are left", n)
	}
}

// An event is older than the deliveries that replays make of it.
func TestADeliveryCanOutliveItsEvent(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	e := newEvent(sub)
	e.ID = feedmill.FirstID(feedmill.PrefixEvent, time.Now().AddDate(0, 0, -10))
	_, due, err := db.Accept(t.Context(), []feedmill.Event{e}, nil)
	if err != nil {
		t.Fatal(err)
	}
	prune := func() {
		t.Helper()
		for more := true; more; {
			if more, err = db.Prune(t.Context(), time.Now(), time.Now().AddDate(0, 0, -5)); err != nil {
				t.Fatal(err)
			}
		}
	}
	prune()
	if again, err := db.Due(t.Context(), feedmill.DueQuery{Subscription: sub.ID, Now: time.Now(), Limit: 9}); err != nil || len(again) != 1 {
		t.Fatalf("%d deliveries are due (%v), want that whose event is old", len(again), err)
	}
	if _, err := db.Settle(t.Context(), []feedmill.Outcome{ended(due[0], feedmill.DeliveryExhausted)}); err != nil {
		t.Fatal(err)
	}
	prune()
	if _, err := db.Delivery(t.Context(), sub.Workspace, due[0].ID); err != nil {
		t.Error(err)
	}
	if _, err := db.RetryDelivery(t.Context(), sub.Workspace, due[0].ID, 1, time.Now(), nil); !errors.Is(err, feedmill.ErrConflict) {
		t.Errorf("error is %v, want that the event is gone", err)
	}
	r := feedmill.NewReplay(feedmill.Replay{
		Workspace: sub.Workspace, Subscription: sub.ID, Selection: feedmill.ReplayExhausted, Until: time.Now().Add(time.Hour), CreatedAt: time.Now(),
	})
	if err := db.CreateReplay(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it is counted first
		if _, _, err := db.StepReplay(t.Context(), time.Now(), 10); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, err := db.OpenWork(t.Context(), time.Now()); err != nil || n != 0 {
		t.Errorf("%d deliveries are open (%v), want none of an event that is gone", n, err)
	}
}

// A day that must stay loses its deliveries a bounded number at a time, and an
// event goes with the last of its own.
func TestAHeldDayIsPrunedInSteps(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	published(t, db, sub) // which holds the day
	const each = sweepRows + 100
	for _, apart := range []bool{true, false} {
		old := newEvent(sub)
		old.Type = "tag.created"
		if _, _, err := db.Accept(t.Context(), []feedmill.Event{old}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := db.pool.Exec(t.Context(), `WITH made AS (
				INSERT INTO ended_deliveries (`+commonColumns+`, ended_at, apart)
				SELECT left($2, 24) || lpad(n::text, 6, '0'), $3, $4, $1, n, 'tag.created', '', 'discarded', '', 0, 10, now(), $5 FROM generate_series(1, $6) n
				RETURNING id), tried AS (
				INSERT INTO attempts (`+attemptColumns+`) SELECT id, 'att_1', 1, now(), 500, '', NULL, 0, 0, 0, 0, 0 FROM made)
			UPDATE events SET (first_delivery, last_delivery) = (SELECT min(id), max(id) FROM made) WHERE id = $1 AND NOT $5::boolean`,
			old.ID, feedmill.NewID(feedmill.PrefixDelivery), sub.Workspace, sub.ID, apart, each); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (events, deliveries, attempts int) {
		t.Helper()
		err := db.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM ended_deliveries), (SELECT count(*) FROM attempts)`).
			Scan(&events, &deliveries, &attempts)
		if err != nil {
			t.Fatal(err)
		}
		return events, deliveries, attempts
	}
	at := time.Now().AddDate(0, 0, 60)
	_, left, _ := count()
	if left != 2*each {
		t.Fatalf("there are %d deliveries", left)
	}
	for more := true; more; {
		var err error
		if more, err = db.Prune(t.Context(), at, at.AddDate(0, 0, -30)); err != nil {
			t.Fatal(err)
		}
		_, deliveries, attempts := count()
		if left-deliveries > sweepRows || attempts != deliveries {
			t.Fatalf("%d deliveries were removed at once; %d have %d attempts", left-deliveries, deliveries, attempts)
		}
		left = deliveries
	}
	if events, deliveries, _ := count(); events != 1 || deliveries != 0 {
		t.Errorf("%d events and %d deliveries are left, want the one that is open", events, deliveries)
	}
}
