package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// interrupted is a querier before whose second query something happens.
type interrupted struct {
	querier
	queries int
	happens func()
}

func (q *interrupted) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	if q.queries++; q.queries == 2 {
		q.happens()
	}
	return q.querier.Query(ctx, query, args...)
}

// A promise that is made while a replay looks for what is missing holds it up, as
// one from before does: else its event would be delivered twice.
func TestAPromiseDuringAReplayIsSeen(t *testing.T) {
	db := open(t, pgtest.New(t))
	sub := subscribed(t, db)
	var events []feedmill.Event
	for range 3 {
		e := newEvent(sub)
		e.Type = "tag.created" // which nobody hears of yet
		events = append(events, e)
	}
	if _, due, err := db.Accept(t.Context(), events, nil); err != nil || len(due) != 0 {
		t.Fatalf("%d deliveries, %v", len(due), err)
	}
	sub.Events = []string{"tag.*"}
	q := &interrupted{querier: db.pool, happens: func() {
		if _, err := db.pool.Exec(t.Context(), `INSERT INTO fanouts (workspace_id, event_id, resource_id, name, wildcard, filter, attempts)
			VALUES ($1, $2, 'm_1', 'tag.created', 'tag.*', '', 10)`, sub.Workspace, events[1].ID); err != nil {
			t.Fatal(err)
		}
	}}
	r := storedReplay{Replay: feedmill.Replay{
		Workspace: sub.Workspace, Subscription: sub.ID, Selection: feedmill.ReplayMissing, Bound: feedmill.FirstID(feedmill.PrefixEvent, time.Now().Add(time.Hour)),
	}}
	found, err := selected(t.Context(), q, r, sub, "", 100)
	if err != nil || len(found.events) != 1 || found.events[0].ID != events[0].ID || !found.Blocked || found.End || found.Reached != events[0].ID {
		t.Errorf("found %+v, %v", found, err)
	}
	// What is behind the promise waits, and goes on when it is kept.
	if _, err := db.pool.Exec(t.Context(), `DELETE FROM fanouts`); err != nil {
		t.Fatal(err)
	}
	found, err = selected(t.Context(), db.pool, r, sub, found.Reached, 100)
	if err != nil || len(found.events) != 2 || found.Blocked || !found.End {
		t.Errorf("then %+v, %v", found, err)
	}
}
