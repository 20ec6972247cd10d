package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/feedmill/feedmill"
)

// deliveryColumns are of a delivery d and its event e.
const deliveryColumns = `d.seq, d.id, d.workspace_id, d.subscription_id, e.id, d.type, d.resource_id,
	d.state, d.reason, d.attempts, d.budget, d.at`

func scanDelivery(row interface{ Scan(...any) error }) (feedmill.Delivery, error) {
	return scanDeliveryAnd(row)
}

// scanDeliveryAnd scans deliveryColumns and more columns behind them.
func scanDeliveryAnd(row interface{ Scan(...any) error }, more ...any) (d feedmill.Delivery, err error) {
	var at sql.NullInt64
	err = row.Scan(append([]any{
		&d.Seq, &d.ID, &d.Workspace, &d.Subscription, &d.Event, &d.Type, &d.ResourceID,
		(*storedState)(&d.State), &d.Reason, &d.Attempts, &d.MaxAttempts, &at,
	}, more...)...)
	d.CreatedAt = d.ID.Time()
	if d.State.Open() {
		d.DueAt = fromMillis(at)
	} else {
		d.EndedAt = fromMillis(at)
	}
	return d, translate(err)
}

// Delivery finds a delivery of the workspace.
func (db *DB) Delivery(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error) {
	return scanDelivery(db.row(ctx, `SELECT `+deliveryColumns+` FROM deliveries d CROSS JOIN events e ON e.seq = d.event_seq
		WHERE d.id = ? AND d.workspace_id = ?`, id, workspace))
}

// openOf finds the open deliveries of a subscription.
var openOf = []string{
	`SELECT seq FROM deliveries INDEXED BY deliveries_pending WHERE subscription_id = ? AND state = 2`,
	`SELECT seq FROM deliveries INDEXED BY deliveries_retrying WHERE subscription_id = ? AND state = 4`,
}

// discardOpen discards up to limit open deliveries of a subscription.
func (t *tx) discardOpen(subscription feedmill.ID, reason string, at time.Time, limit int) (int64, error) {
	var n int64
	for _, open := range openOf {
		more, err := t.exec(`UPDATE deliveries SET state = 6, reason = ?, at = ? WHERE seq IN (`+open+` LIMIT ?)`,
			reason, toMillis(at), subscription, limit-int(n))
		if err != nil {
			return 0, err
		}
		n += more
	}
	return n, nil
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
		n, err = tx.exec(`UPDATE deliveries SET state = 2 WHERE seq IN (
			SELECT seq FROM deliveries INDEXED BY deliveries_retrying WHERE subscription_id = ? AND state = 4 LIMIT ?)`, subscription, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// RetryDelivery makes a delivery pending and due at now with add more attempts
// in its budget than it has made.
func (db *DB) RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, keep func(feedmill.Delivery) *feedmill.IdempotentResponse) (feedmill.DueDelivery, error) {
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
		d.State, d.Reason, d.MaxAttempts, d.DueAt, d.EndedAt = feedmill.DeliveryPending, "", d.Attempts+add, now, time.Time{}
		if _, err := tx.exec(`UPDATE deliveries SET state = 2, reason = '', budget = ?, at = ?,
			ordered = (SELECT s.ordered FROM subscriptions s WHERE s.id = subscription_id) WHERE seq = ?`, d.MaxAttempts, toMillis(now), d.Seq); err != nil || keep == nil {
			return err
		}
		return tx.keep(keep(d.Delivery))
	})
	if err != nil {
		return feedmill.DueDelivery{}, err
	}
	return d, nil
}
