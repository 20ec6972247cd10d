package sqlite

import (
	"context"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanEvent = scanner(record.Event)

// Event finds an event of the workspace, with its payload.
func (db *DB) Event(ctx context.Context, workspace, id feedmill.ID) (feedmill.Event, error) {
	return scanEvent(db.row(ctx, `SELECT `+record.EventColumns+` FROM events WHERE workspace_id = ? AND id = ?`, workspace, id))
}

// Events lists events, newest first, with their payloads.
func (db *DB) Events(ctx context.Context, workspace feedmill.ID, q feedmill.EventQuery) ([]feedmill.Event, error) {
	where := ``
	args := []any{workspace, before(q.Page, feedmill.PrefixEvent), feedmill.FirstID(feedmill.PrefixEvent, q.Since)}
	if q.Type != "" {
		where += ` AND type = ?`
		args = append(args, q.Type)
	}
	if q.ResourceID != "" {
		where += ` AND resource_id = ?`
		args = append(args, q.ResourceID)
	}
	query := `SELECT ` + record.EventColumns + ` FROM events INDEXED BY events_by_id WHERE workspace_id = ? AND id < ? AND id >= ?` + where
	rows, err := db.rows(ctx, query+` ORDER BY id DESC LIMIT ?`, append(args, q.Limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var events []feedmill.Event
	for q.Fit(events) == len(events) && rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return nil, translate(err)
		}
		events = append(events, e)
	}
	return events, translate(rows.Err())
}

// EventRoutes are the first limit deliveries of an event, oldest first.
func (db *DB) EventRoutes(ctx context.Context, workspace, event feedmill.ID, limit int) ([]feedmill.EventRoute, error) {
	rows, err := db.rows(ctx, `SELECT id, subscription_id, state FROM deliveries
		WHERE event_seq = (SELECT seq FROM events WHERE workspace_id = ? AND id = ?) ORDER BY seq LIMIT ?`, workspace, event, limit)
	return all(rows, err, func(row record.Row) (r feedmill.EventRoute, err error) {
		err = row.Scan(&r.Delivery, &r.Subscription, (*storedState)(&r.State))
		return r, err
	})
}

// before is the id that a page ends before; past all ids where it is the first
// page.
func before(p feedmill.Page, prefix string) feedmill.ID {
	if p.Before == "" {
		return feedmill.ID(prefix + "_~")
	}
	return p.Before
}
