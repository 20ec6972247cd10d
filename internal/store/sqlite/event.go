package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanEvent = scanner(record.Event)

// Event finds an event of the workspace, with its payload.
func (db *DB) Event(ctx context.Context, workspace, id feedmill.ID) (feedmill.Event, error) {
	return scanEvent(db.row(ctx, `SELECT `+record.EventColumns+` FROM events WHERE workspace_id = ? AND id = ?`, workspace, id))
}

// Events lists events, newest first unless the query has it otherwise, with their payloads.
func (db *DB) Events(ctx context.Context, workspace feedmill.ID, q feedmill.EventQuery) ([]feedmill.Event, error) {
	where := ``
	args := []any{workspace, before(q.Page, feedmill.PrefixEvent), feedmill.FirstID(feedmill.PrefixEvent, q.Since)}
	if len(q.Types) > 0 {
		where += ` AND type IN (?` + strings.Repeat(`, ?`, len(q.Types)-1) + `)`
		for _, name := range q.Types {
			args = append(args, name)
		}
	}
	if q.ResourceID != "" {
		where += ` AND resource_id = ?`
		args = append(args, q.ResourceID)
	}
	order := ` ORDER BY id DESC`
	if q.Oldest {
		where += ` AND id > ?`
		args = append(args, q.After)
		order = ` ORDER BY id`
	}
	query := `SELECT ` + record.EventColumns + ` FROM events INDEXED BY events_by_id WHERE workspace_id = ? AND id < ? AND id >= ?` + where
	rows, err := db.rows(ctx, query+order+` LIMIT ?`, append(args, q.Limit)...)
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

// EventRoutes are the first limit deliveries of each event, oldest first.
func (db *DB) EventRoutes(ctx context.Context, workspace feedmill.ID, events []feedmill.ID, limit int) (map[feedmill.ID][]feedmill.EventRoute, error) {
	ids, err := json.Marshal(events)
	if err != nil {
		return nil, err
	}
	routes := make(map[feedmill.ID][]feedmill.EventRoute)
	rows, err := db.rows(ctx, `SELECT json_each.value, d.id, d.subscription_id, d.state FROM json_each(?1)
		CROSS JOIN events e ON e.workspace_id = ?2 AND e.id = json_each.value
		CROSS JOIN deliveries d ON d.seq IN (SELECT seq FROM deliveries WHERE event_seq = e.seq ORDER BY seq LIMIT ?3)`, string(ids), workspace, limit)
	_, err = all(rows, err, func(row record.Row) (struct{}, error) {
		var event feedmill.ID
		var r feedmill.EventRoute
		err := row.Scan(&event, &r.Delivery, &r.Subscription, (*storedState)(&r.State))
		routes[event] = append(routes[event], r)
		return struct{}{}, err
	})
	for _, of := range routes {
		slices.SortFunc(of, func(a, b feedmill.EventRoute) int { return strings.Compare(string(a.Delivery), string(b.Delivery)) })
	}
	return routes, err
}

// before is the id that a page ends before; past all ids where it is the first
// page.
func before(p feedmill.Page, prefix string) feedmill.ID {
	if p.Before == "" {
		return feedmill.ID(prefix + "_~")
	}
	return p.Before
}
