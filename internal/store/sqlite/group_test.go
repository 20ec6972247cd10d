package sqlite

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// TestSharedCommit puts changes into one transaction, some of which fail: each
// has its own fate, and only those run twice that said they may.
func TestSharedCommit(t *testing.T) {
	errRefused := errors.New("refused")
	type queued struct {
		repeatable bool
		err        error
		runs       int
	}
	for name, changes := range map[string][]*queued{
		"all go through":        {{repeatable: true, runs: 1}, {repeatable: true, runs: 1}, {runs: 1}},
		"one that runs once":    {{repeatable: true, runs: 1}, {err: errRefused, runs: 1}, {runs: 1}, {repeatable: true, runs: 1}},
		"one that may repeat":   {{repeatable: true, runs: 2}, {repeatable: true, err: errRefused, runs: 2}, {runs: 1}, {repeatable: true, runs: 1}},
		"the first that repeat": {{repeatable: true, err: errRefused, runs: 2}, {repeatable: true, err: errRefused, runs: 1}, {err: errRefused, runs: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			db, ctx := open(t, filepath.Join(t.TempDir(), "f.db")), t.Context()
			gate, results := make(chan struct{}), make([]chan error, len(changes))
			held := &change{do: func(*tx) error { <-gate; return nil }, done: make(chan error, 1)}
			db.queue <- held
			waitUntilTaken(held)
			ids, runs := make([]feedmill.ID, len(changes)), make([]int, len(changes))
			for i, q := range changes {
				ids[i] = feedmill.NewID(feedmill.PrefixWorkspace)
				results[i] = make(chan error, 1)
				db.queue <- &change{repeatable: q.repeatable, done: results[i], do: func(tx *tx) error {
					runs[i]++
					if _, err := tx.exec(`INSERT INTO workspaces (id, name, created_at) VALUES (?, ?, 0)`, ids[i], ids[i]); err != nil {
						return err
					}
					return q.err
				}}
			}
			close(gate)
			if err := <-held.done; err != nil {
				t.Fatal(err)
			}
			for i, q := range changes {
				if err := <-results[i]; !errors.Is(err, q.err) {
					t.Errorf("change %d: error is %v, want %v", i, err, q.err)
				}
				if runs[i] != q.runs {
					t.Errorf("change %d ran %d times, want %d", i, runs[i], q.runs)
				}
				_, err := db.WorkspaceByID(ctx, ids[i])
				if there := err == nil; there != (q.err == nil) {
					t.Errorf("change %d: its record is there: %v", i, there)
				}
			}
		})
	}
}

// TestUnavailableUndoesAll ends a transaction with a change that reports that
// the file cannot be written: nobody may be told that theirs is there.
func TestUnavailableUndoesAll(t *testing.T) {
	for _, repeatable := range []bool{false, true} {
		db, ctx := open(t, filepath.Join(t.TempDir(), "f.db")), t.Context()
		gate := make(chan struct{})
		held := &change{do: func(*tx) error { <-gate; return nil }, done: make(chan error, 1)}
		db.queue <- held
		waitUntilTaken(held)
		id := feedmill.NewID(feedmill.PrefixWorkspace)
		good := &change{done: make(chan error, 1), do: func(tx *tx) error {
			_, err := tx.exec(`INSERT INTO workspaces (id, name, created_at) VALUES (?, 'n', 0)`, id)
			return err
		}}
		full := &change{repeatable: repeatable, done: make(chan error, 1), do: func(*tx) error { return feedmill.ErrUnavailable }}
		db.queue <- good
		db.queue <- full
		close(gate)
		for _, c := range []*change{good, full} {
			if err := <-c.done; !errors.Is(err, feedmill.ErrUnavailable) {
				t.Errorf("error is %v, want unavailable", err)
			}
		}
		if _, err := db.WorkspaceByID(ctx, id); !errors.Is(err, feedmill.ErrNotFound) {
			t.Errorf("error is %v, want not found", err)
		}
		// The connection is fit for the next transaction.
		if err := db.CreateWorkspace(ctx, feedmill.Workspace{ID: id, Name: "n", CreatedAt: time.Now()}, nil); err != nil {
			t.Error(err)
		}
	}
}

// waitUntilTaken returns when the writer has begun with a change, so that what
// is queued from then on shares the next transaction.
func waitUntilTaken(c *change) {
	for !c.taken.Load() {
		runtime.Gosched()
	}
}

// TestAcceptedTogether accepts events of several callers in one transaction:
// each is told of its own, and ids and seqs have the same order.
func TestAcceptedTogether(t *testing.T) {
	db, ctx := open(t, filepath.Join(t.TempDir(), "f.db")), t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	w := feedmill.Workspace{ID: feedmill.NewID(feedmill.PrefixWorkspace), Name: "w", CreatedAt: now}
	must(db.CreateWorkspace(ctx, w, nil))
	for _, state := range []feedmill.SubscriptionState{feedmill.SubscriptionActive, feedmill.SubscriptionDisabled, feedmill.SubscriptionActive} {
		must(db.CreateSubscriptions(ctx, []feedmill.Subscription{{
			ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: w.ID, Events: []string{"metric.created"}, Destination: feedmill.Destination{Method: "POST"},
			State: state, CreatedAt: now, UpdatedAt: now,
		}}, 0, nil))
	}
	gate := make(chan struct{})
	held := &change{do: func(*tx) error { <-gate; return nil }, done: make(chan error, 1)}
	db.queue <- held
	waitUntilTaken(held)

	type call struct {
		events   []feedmill.Event
		accepted []feedmill.Accepted
		due      []feedmill.DueDelivery
		err      error
	}
	event := func(key string) feedmill.Event {
		return feedmill.Event{
			ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: w.ID, Type: "metric.created", Timestamp: now, DedupeKey: key, Payload: []byte("{}"),
		}
	}
	calls := []*call{{events: []feedmill.Event{event(""), event("")}}, {events: []feedmill.Event{event("k")}}, {events: []feedmill.Event{event(""), event("k")}}}
	for range 100 {
		calls = append(calls, &call{events: []feedmill.Event{event("")}})
	}
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() { c.accepted, c.due, c.err = db.Accept(ctx, c.events, nil) })
		for len(db.queue) <= i { // so that they have an order
			runtime.Gosched()
		}
	}
	close(gate)
	must(<-held.done)
	wg.Wait()

	var all []feedmill.DueDelivery
	for i, c := range calls {
		must(c.err)
		fresh := make(map[feedmill.ID]int)
		for k, a := range c.accepted {
			if a.Duplicate != (i == 2 && k == 1) || !a.Duplicate && a.ID != c.events[k].ID {
				t.Errorf("call %d: event %d is accepted as %+v", i, k, a)
			}
			if !a.Duplicate {
				fresh[a.ID] = 2
			}
		}
		for _, d := range c.due {
			fresh[d.Event]--
			all = append(all, d)
		}
		for id, left := range fresh {
			if left != 0 {
				t.Errorf("call %d: %d deliveries too few of %s", i, left, id)
			}
		}
	}
	if duplicate := calls[2].accepted[1].ID; duplicate != calls[1].events[0].ID {
		t.Errorf("the duplicate is one of %s", duplicate)
	}
	for i, d := range all {
		var seq int64
		must(db.row(ctx, `SELECT seq FROM deliveries WHERE id = ?`, d.ID).Scan(&seq))
		if seq != d.Seq {
			t.Errorf("delivery %d has the seq %d and not %d", i, seq, d.Seq)
		}
	}
	var misplaced int
	must(db.row(ctx, `SELECT count(*) FROM deliveries a JOIN deliveries b ON b.seq = a.seq + 1 WHERE b.id <= a.id`).Scan(&misplaced))
	if misplaced != 0 {
		t.Errorf("%d deliveries have an id that is not behind the one before", misplaced)
	}
}
