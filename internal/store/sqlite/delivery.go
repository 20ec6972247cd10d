package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// deliveryColumns are of a delivery d and its event e.
const deliveryColumns = `d.seq, d.id, d.workspace_id, d.subscription_id, e.id, d.type, d.resource_id,
	d.state, d.reason, d.attempts, d.budget, d.due_at, d.ended_at`

func scanDelivery(row interface{ Scan(...any) error }) (feedmill.Delivery, error) {
	return scanDeliveryAnd(row)
}

func scanDueDelivery(row interface{ Scan(...any) error }) (d feedmill.DueDelivery, err error) {
	d.Delivery, err = scanDeliveryAnd(row, &d.Payload)
	return d, err
}

// scanDeliveryAnd scans deliveryColumns and more columns behind them.
func scanDeliveryAnd(row interface{ Scan(...any) error }, more ...any) (d feedmill.Delivery, err error) {
	var due, ended sql.NullInt64
	err = row.Scan(append([]any{
		&d.Seq, &d.ID, &d.Workspace, &d.Subscription, &d.Event, &d.Type, &d.ResourceID,
		(*storedState)(&d.State), &d.Reason, &d.Attempts, &d.Budget, &due, &ended,
	}, more...)...)
	d.CreatedAt, d.DueAt, d.EndedAt = d.ID.Time(), fromMillis(due), fromMillis(ended)
	return d, translate(err)
}

// Delivery finds a delivery of the workspace.
func (db *DB) Delivery(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error) {
	return scanDelivery(db.row(ctx, `SELECT `+deliveryColumns+` FROM deliveries d CROSS JOIN events e ON e.seq = d.event_seq
		WHERE d.id = ? AND d.workspace_id = ?`, id, workspace))
}

// Deliveries lists deliveries, newest first.
func (db *DB) Deliveries(ctx context.Context, workspace feedmill.ID, q feedmill.DeliveryQuery) ([]feedmill.Delivery, error) {
	index, where := undeliveredIndex, `workspace_id = ?1`
	if q.Subscription != "" {
		index, where = `deliveries_by_state`, `subscription_id = (SELECT id FROM subscriptions WHERE id = ?2 AND workspace_id = ?1)`
	}
	if q.Type != "" {
		where += ` AND type = ?5`
	}
	found := eachState(q.States, index, where+` AND id < ?3 AND id >= ?4`)
	if found == "" {
		return nil, nil
	}
	rows, err := db.rows(ctx, `SELECT `+deliveryColumns+` FROM (`+found+` ORDER BY id DESC LIMIT ?6) d
		CROSS JOIN events e ON e.seq = d.event_seq ORDER BY d.id DESC`,
		workspace, q.Subscription, before(q.Page, feedmill.PrefixDelivery), feedmill.FirstID(feedmill.PrefixDelivery, q.Since), q.Type, q.Limit)
	return all(rows, err, scanDelivery)
}

// undeliveredIndex holds the deliveries of a workspace that ended undelivered,
// and no others.
const undeliveredIndex = `deliveries_undelivered`

// eachState selects the deliveries in the states wanted, all where none is
// named, by one SELECT for each state. The indexes hold each state in the order
// of ids, and SQLite merges the parts as it reads them, so that a page costs the
// same however many deliveries there are in whichever states.
func eachState(wanted []feedmill.DeliveryState, index, where string) string {
	var parts []string
	for n, s := range stateNumbers {
		if len(wanted) > 0 && !slices.Contains(wanted, s) {
			continue
		}
		part := fmt.Sprintf(`SELECT * FROM deliveries INDEXED BY %s WHERE state = %d AND %s`, index, n, where)
		if index == undeliveredIndex {
			part = fmt.Sprintf(`SELECT * FROM deliveries WHERE state = %d AND %s`, n, where)
			if n >= firstUndelivered {
				part += fmt.Sprintf(` AND state >= %d`, firstUndelivered) // what makes the index fit
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ` UNION ALL `)
}

// discardOpen discards up to limit open deliveries of a subscription.
func (t *tx) discardOpen(subscription feedmill.ID, reason string, at time.Time, limit int) (int64, error) {
	return t.exec(`UPDATE deliveries SET state = 4, reason = ?, ended_at = ? WHERE seq IN
		(SELECT seq FROM deliveries WHERE subscription_id = ? AND state <= 1 LIMIT ?)`,
		reason, toMillis(at), subscription, limit)
}

// DiscardOpen discards up to limit open deliveries of a subscription and
// reports how many.
func (db *DB) DiscardOpen(ctx context.Context, subscription feedmill.ID, reason string, at time.Time, limit int) (int, error) {
	var n int64
	err := db.write(ctx, func(tx *tx) (err error) {
		n, err = tx.discardOpen(subscription, reason, at, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// HoldOpen makes up to limit retrying deliveries of a subscription pending and
// reports how many.
func (db *DB) HoldOpen(ctx context.Context, subscription feedmill.ID, limit int) (int, error) {
	var n int64
	err := db.write(ctx, func(tx *tx) (err error) {
		n, err = tx.exec(`UPDATE deliveries SET state = 0 WHERE seq IN (
			SELECT seq FROM deliveries INDEXED BY deliveries_by_state WHERE subscription_id = ? AND state = 1 LIMIT ?)`, subscription, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// RetryDelivery makes a delivery pending and due at now with add more attempts
// in its budget than it has made.
func (db *DB) RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, keep func(feedmill.Delivery) *feedmill.Once) (feedmill.DueDelivery, error) {
	var d feedmill.DueDelivery
	err := db.write(ctx, func(tx *tx) (err error) {
		var (
			state   feedmill.SubscriptionState
			deleted bool
		)
		d.Delivery, err = scanDeliveryAnd(tx.row(`SELECT `+deliveryColumns+`, e.payload, s.state, s.deleted_at IS NOT NULL
			FROM deliveries d CROSS JOIN events e ON e.seq = d.event_seq CROSS JOIN subscriptions s ON s.id = d.subscription_id
			WHERE d.id = ? AND d.workspace_id = ?`, id, workspace), &d.Payload, &state, &deleted)
		switch {
		case err != nil:
			return err
		case deleted:
			return &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "The delivery's subscription is deleted."}
		case state == feedmill.SubscriptionDisabled:
			return &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "The delivery's subscription is disabled; set its state to active first."}
		case d.State == feedmill.DeliveryPending:
			return &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "The delivery is pending already."}
		}
		d.State, d.Reason, d.Budget, d.DueAt, d.EndedAt = feedmill.DeliveryPending, "", d.Attempts+add, now, time.Time{}
		if _, err := tx.exec(`UPDATE deliveries SET state = 0, reason = '', budget = ?, due_at = ?, ended_at = NULL WHERE seq = ?`,
			d.Budget, toMillis(now), d.Seq); err != nil || keep == nil {
			return err
		}
		return tx.keep(keep(d.Delivery))
	})
	if err != nil {
		return feedmill.DueDelivery{}, err
	}
	return d, nil
}
