package postgres

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// Calls that create subscriptions at the same time share a transaction. Each has its own
// entry in the audit log, and one that is refused takes nobody with it.
func TestCreationsShareTransactions(t *testing.T) {
	db := open(t, pgtest.New(t))
	one, other := subscribed(t, db), subscribed(t, db)
	next := func(of feedmill.Subscription) feedmill.Subscription {
		of.ID = feedmill.NewID(feedmill.PrefixSubscription)
		return of
	}
	for _, round := range []struct {
		creations    []creation
		transactions int // that the new subscriptions of all rounds were created in
	}{
		{[]creation{{next(one), 100, nil}, {next(one), 0, nil}, {next(other), 2, nil}}, 1},
		{[]creation{{next(other), 2, new(feedmill.QuotaError)}, {one, 100, feedmill.ErrConflict}, {next(one), 4, nil}}, 2},
	} {
		createTogether(t, db, round.creations)
		var n int
		err := db.pool.QueryRow(t.Context(), `SELECT count(DISTINCT xmin::text) FROM subscriptions WHERE id NOT IN ($1, $2)`, one.ID, other.ID).Scan(&n)
		if err != nil || n != round.transactions {
			t.Errorf("subscriptions were created in %d transactions, want %d; %v", n, round.transactions, err)
		}
	}
	_, due, err := db.Accept(t.Context(), []feedmill.Event{newEvent(one), newEvent(other)}, nil)
	if err != nil || len(due) != 6 {
		t.Errorf("%d deliveries to 4 and 2 subscriptions, %v", len(due), err)
	}
}

// creation is the creation of a subscription, and the kind of error that comes of it.
type creation struct {
	sub  feedmill.Subscription
	most int
	want error
}

// createTogether creates subscriptions by calls that wait for each other.
func createTogether(t *testing.T, db *DB, creations []creation) {
	t.Helper()
	db.creations.first <- struct{}{} // as while a transaction is in flight
	errs := make([]error, len(creations))
	var wg sync.WaitGroup
	for i, c := range creations {
		ctx := feedmill.WithAudit(t.Context(), &feedmill.AuditEntry{
			Workspace: c.sub.Workspace, At: time.Now().UTC(), Action: "subscription.create", Actor: feedmill.Actor{Subject: string(c.sub.ID)},
		})
		wg.Go(func() { errs[i] = db.CreateSubscriptions(ctx, []feedmill.Subscription{c.sub}, c.most, nil) })
	}
	for waiting := 0; waiting < len(creations); runtime.Gosched() {
		db.creations.mu.Lock()
		waiting = len(db.creations.waiting)
		db.creations.mu.Unlock()
	}
	<-db.creations.first
	wg.Wait()
	for i, c := range creations {
		_, full := errors.AsType[*feedmill.QuotaError](errs[i])
		_, wantFull := errors.AsType[*feedmill.QuotaError](c.want)
		if full != wantFull || !full && !errors.Is(errs[i], c.want) {
			t.Errorf("creation %d: %v, want %v", i, errs[i], c.want)
		}
		if c.want != nil {
			continue
		}
		entries, err := db.Audit(t.Context(), c.sub.Workspace, feedmill.AuditQuery{Resource: string(c.sub.ID), Page: feedmill.Page{Limit: 10}})
		if err != nil || len(entries) != 1 || entries[0].Actor.Subject != string(c.sub.ID) {
			t.Errorf("creation %d is audited as %+v, %v", i, entries, err)
		}
	}
}
