package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// decided reports whether the verdicts of an event are enough for some subscriptions.
func decided(verdicts feedmill.FilterVerdicts, to []match) bool {
	for i := range to {
		if _, known := verdicts.Of(to[i].subscription, to[i].filter); !known {
			return false
		}
	}
	return true
}

// discarded is a delivery that ends as it begins.
func discarded(d feedmill.Delivery, reason string) feedmill.Delivery {
	d.State, d.Reason, d.EndedAt = feedmill.DeliveryDiscarded, reason, d.CreatedAt
	return d
}

// discardReason is the reason of a delivery that is discarded because of a failed filter,
// or otherwise for another reason.
func discardReason(v feedmill.FilterVerdict, other string) string {
	if v.Error != "" {
		return v.Reason()
	}
	return other
}

// filteredEvent is an event that the filters of some subscriptions did not match.
type filteredEvent struct {
	workspace, event feedmill.ID
	subscriptions    []feedmill.ID
}

func appendFiltered(to []filteredEvent, e feedmill.Event, subscriptions []feedmill.ID) []filteredEvent {
	if len(subscriptions) == 0 {
		return to
	}
	return append(to, filteredEvent{e.Workspace, e.ID, subscriptions})
}

// insertFiltered records events that filters did not match.
func insertFiltered(b *pgx.Batch, events []filteredEvent) {
	for _, f := range events {
		named := f.subscriptions[:min(len(f.subscriptions), feedmill.MaxNamedFiltered)]
		b.Queue(`INSERT INTO filtered_events AS f (workspace_id, event_id, filtered, subscriptions) VALUES ($1, $2, $3, $4::text[])
			ON CONFLICT (workspace_id, event_id) DO UPDATE SET filtered = f.filtered + excluded.filtered,
				subscriptions = (f.subscriptions || excluded.subscriptions)[:$5]`, f.workspace, f.event, len(f.subscriptions), named, feedmill.MaxNamedFiltered)
	}
}

// EventFiltered returns which subscriptions did not get an event because of their filter.
func (db *DB) EventFiltered(ctx context.Context, workspace, event feedmill.ID) (f feedmill.Filtered, err error) {
	err = db.pool.QueryRow(ctx, `SELECT filtered, subscriptions FROM filtered_events WHERE workspace_id = $1 AND event_id = $2`, workspace, event).Scan(&f.Count, &f.Subscriptions)
	if errors.Is(err, pgx.ErrNoRows) {
		return feedmill.Filtered{}, nil
	}
	return f, translate(err)
}

// decided is how many of the next subscriptions, from the first, the verdicts are enough for.
func (s *fanoutStep) decided(f *fanout) int {
	var verdicts feedmill.FilterVerdicts
	if f.event.ID == s.event {
		verdicts = s.verdicts
	}
	for i, l := range f.listeners {
		if _, known := verdicts.Of(l.subscription, l.filter); !known {
			return i
		}
	}
	return len(f.listeners)
}

// evaluate evaluates the filters of a promise, as many as fit into a step.
func (db *DB) evaluate(f *fanout) (event feedmill.ID, verdicts feedmill.FilterVerdicts) {
	until, filter := time.Now().Add(feedmill.MaxFilterStep), db.options.Filter(f.event.Payload)
	verdicts = make(feedmill.FilterVerdicts)
	for _, l := range f.listeners {
		if l.filterText == "" {
			continue
		}
		verdicts[l.subscription] = filter(l.filterText)
		if time.Now().After(until) {
			break
		}
	}
	return f.event.ID, verdicts
}

// pruneFiltered removes what is recorded of old events that filters did not match.
func (db *DB) pruneFiltered(ctx context.Context, before time.Time) error {
	return db.write(ctx, func(tx tx) error {
		_, err := tx.exec(ctx, `DELETE FROM filtered_events WHERE ctid = ANY (ARRAY(SELECT ctid FROM filtered_events WHERE event_id < $1 ORDER BY event_id LIMIT $2))`,
			feedmill.FirstID(feedmill.PrefixEvent, before), sweepRows)
		return err
	})
}

// verdict evaluates the filter of a subscription for an event. An event that is gone does
// not match.
func verdict(ctx context.Context, q querier, sub feedmill.Subscription, event feedmill.ID, filter func([]byte) feedmill.EventFilter) (v feedmill.FilterVerdict, err error) {
	rows, err := q.Query(ctx, `SELECT payload FROM events WHERE workspace_id = $1 AND id = $2`, sub.Workspace, event)
	payloads, err := all(rows, translate(err), func(row record.Row) (payload []byte, err error) { return payload, row.Scan(&payload) })
	if err != nil || len(payloads) == 0 {
		return v, err
	}
	return filter(payloads[0])(sub.Filter), nil
}
