package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// Whoever counts the subscriptions of a workspace keeps nobody from publishing
// in it.
func TestQuotaDoesNotHoldUpEvents(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	counting, err := db.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer counting.Rollback(ctx)
	if _, err := counting.Exec(ctx, numbered(dialect.LockWorkspace), sub.Workspace); err != nil {
		t.Fatal(err)
	}
	if _, due, err := db.Accept(ctx, []feedmill.Event{newEvent(sub)}, nil); err != nil || len(due) != 1 {
		t.Fatalf("%d deliveries, %v", len(due), err)
	}
}
