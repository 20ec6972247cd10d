package sqlite

import (
	"context"
	"database/sql"

	"github.com/feedmill/feedmill"
)

const eventColumns = `id, workspace_id, publisher_id, type, resource_id, source_id, happened_at, payload`

func scanEvent(row interface{ Scan(...any) error }) (e feedmill.Event, err error) {
	var happened sql.NullInt64
	err = row.Scan(&e.ID, &e.Workspace, &e.PublisherID, &e.Type, &e.ResourceID, &e.Source, &happened, &e.Payload)
	e.Timestamp = fromMillis(happened)
	return e, translate(err)
}

// Event finds an event of the workspace, with its payload.
func (db *DB) Event(ctx context.Context, workspace, id feedmill.ID) (feedmill.Event, error) {
	return scanEvent(db.row(ctx, `SELECT `+eventColumns+` FROM events WHERE workspace_id = ? AND id = ?`, workspace, id))
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
	query := `SELECT ` + eventColumns + ` FROM events INDEXED BY events_by_id WHERE workspace_id = ? AND id < ? AND id >= ?` + where
	rows, err := db.rows(ctx, query+` ORDER BY id DESC LIMIT ?`, append(args, q.Limit)...)
	return all(rows, err, scanEvent)
}

// EventRoutes are the first limit deliveries of an event, oldest first.
func (db *DB) EventRoutes(ctx context.Context, workspace, event feedmill.ID, limit int) ([]feedmill.EventRoute, error) {
	rows, err := db.rows(ctx, `SELECT id, subscription_id, state FROM deliveries
		WHERE event_seq = (SELECT seq FROM events WHERE workspace_id = ? AND id = ?) ORDER BY seq LIMIT ?`, workspace, event, limit)
	return all(rows, err, func(row interface{ Scan(...any) error }) (r feedmill.EventRoute, err error) {
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
