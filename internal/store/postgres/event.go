package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanEvent = scanner(record.Event)

// insertEvents writes events that were accepted.
func insertEvents(b *pgx.Batch, events []acceptedEvent) {
	n := len(events)
	if n == 0 {
		return
	}
	texts := make([]string, 6*n)
	column := func(i int) []string { return texts[i*n : (i+1)*n : (i+1)*n] }
	ids, workspaces, publishers, types, resources, sources := column(0), column(1), column(2), column(3), column(4), column(5)
	first, last := make([]*string, n), make([]*string, n)
	times, payloads := make([]time.Time, n), make([][]byte, n)
	for i := range events {
		e := &events[i]
		ids[i], workspaces[i], publishers[i] = string(e.ID), string(e.Workspace), e.PublisherID
		types[i], resources[i], sources[i] = e.Type, e.ResourceID, string(e.Source)
		times[i], payloads[i] = e.Timestamp, notNilBytes(e.Payload)
		if e.first != "" {
			first[i], last[i] = (*string)(&e.first), (*string)(&e.last)
		}
	}
	b.Queue(insertEventRows, ids, workspaces, publishers, types, times, resources, sources, payloads, first, last)
}

var insertEventRows = `INSERT INTO events (` + record.EventColumns + `, first_delivery, last_delivery)
	SELECT * FROM ` + arrays("id text", "workspace_id text", "publisher_id text", "type text", "happened_at timestamptz",
	"resource_id text", "source_id text", "payload bytea", "first_delivery text", "last_delivery text") + ` e`

func notNilBytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Event finds an event of the workspace.
func (db *DB) Event(ctx context.Context, workspace, id feedmill.ID) (feedmill.Event, error) {
	return scanEvent(db.pool.QueryRow(ctx, `SELECT `+record.EventColumns+` FROM events WHERE workspace_id = $1 AND id = $2`, workspace, id))
}

// Events lists events, newest first unless the query has it otherwise, with their payloads. Where bytes are counted the
// server does so: it sends what it is asked for as a whole, and knows how long a payload
// is without reading it.
func (db *DB) Events(ctx context.Context, workspace feedmill.ID, q feedmill.EventQuery) ([]feedmill.Event, error) {
	var w where
	w.and("workspace_id = ?", workspace)
	switch len(q.Types) {
	case 0:
	case 1: // by an index, whose order one type alone has
		w.and("type = ?", q.Types[0])
	default:
		w.and("type = ANY(?::text[])", q.Types)
	}
	if q.ResourceID != "" {
		// The second half lets the index of resources be used.
		w.and("resource_id = ? AND resource_id <> ''", q.ResourceID)
	}
	w.page(q.Page, feedmill.PrefixEvent, q.Since)
	order := ` ORDER BY id DESC`
	if q.Oldest {
		w.and("id > ?", q.After)
		order = ` ORDER BY id`
	}
	query := `SELECT ` + record.EventColumns + ` FROM events` + w.clause() + order + ` LIMIT ` + w.value(q.Limit)
	if q.MaxBytes > 0 {
		// With the first that does not fit, which says that there are more.
		query = `SELECT ` + record.EventColumns + ` FROM (SELECT *, sum(octet_length(payload)) OVER (` + order + ` ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS sent
			FROM (` + query + `) found) counted WHERE sent IS NULL OR sent < ` + w.value(q.MaxBytes) + order
	}
	rows, err := db.rows(ctx, query, w.values...)
	return all(rows, err, scanEvent)
}

// EventRoutes are the first limit deliveries of each event, oldest first.
func (db *DB) EventRoutes(ctx context.Context, workspace feedmill.ID, events []feedmill.ID, limit int) (map[feedmill.ID][]feedmill.EventRoute, error) {
	since := make([]string, len(events))
	for i, e := range events {
		// No delivery is older than its event, but for the clocks of two replicas.
		since[i] = string(feedmill.FirstID(feedmill.PrefixDelivery, e.Time().Add(-aDay)))
	}
	var parts []string
	for _, table := range []string{"open_deliveries", "ended_deliveries"} {
		for _, found := range []string{
			// Only the index of an event's deliveries has this order. To sort them would be
			// to read all that an event has, which can be many thousands.
			`d.apart AND (d.event_id, d.id) >= (w.event, w.since) AND d.event_id <= w.event AND d.workspace_id = $1 ORDER BY d.event_id, d.id`,
			`NOT d.apart AND d.event_id = w.event AND d.workspace_id = $1 AND d.id BETWEEN e.first_delivery AND e.last_delivery ORDER BY d.id`,
		} {
			parts = append(parts, `(SELECT d.id, d.subscription_id, d.state FROM `+table+` d WHERE `+found+` LIMIT $4)`)
		}
	}
	rows, err := db.rows(ctx, `SELECT w.event, d.id, d.subscription_id, d.state FROM unnest($2::text[], $3::text[]) AS w (event, since)
		LEFT JOIN LATERAL (SELECT first_delivery, last_delivery FROM events WHERE workspace_id = $1 AND id = w.event) e ON true
		CROSS JOIN LATERAL (`+strings.Join(parts, ` UNION ALL `)+` ORDER BY id LIMIT $4) d ORDER BY d.id`, workspace, events, since, limit)
	routes := make(map[feedmill.ID][]feedmill.EventRoute)
	_, err = all(rows, err, func(row record.Row) (struct{}, error) {
		var event feedmill.ID
		var r feedmill.EventRoute
		err := row.Scan(&event, &r.Delivery, &r.Subscription, &r.State)
		routes[event] = append(routes[event], r)
		return struct{}{}, err
	})
	return routes, err
}
