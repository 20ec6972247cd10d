package sqlite

import (
	"context"
	"database/sql"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// deliveryColumns are of a delivery d and its event e.
const deliveryColumns = `d.seq, d.id, d.workspace_id, d.subscription_id, e.id, d.type, d.resource_id,
	d.state, d.reason, d.attempts, d.budget, d.at`

func scanDelivery(row record.Row) (feedmill.Delivery, error) {
	return scanDeliveryAnd(row)
}

// scanDeliveryAnd scans deliveryColumns and more columns behind them.
func scanDeliveryAnd(row record.Row, more ...any) (d feedmill.Delivery, err error) {
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

// insertDelivery writes a new delivery of the event with the given seq, and
// fills in its id, its Seq and the times that come with them. The id is made
// here, where one delivery is written after the other, so that ids and seqs have
// the same order.
func (t *tx) insertDelivery(d *feedmill.Delivery, event int64, ordered bool) (err error) {
	d.ID = feedmill.NewID(feedmill.PrefixDelivery)
	d.CreatedAt = d.ID.Time()
	at := d.DueAt
	if !d.State.Open() {
		d.EndedAt, at = d.CreatedAt, d.CreatedAt
	}
	d.Seq, err = t.insert(`INSERT INTO deliveries
		(id, workspace_id, subscription_id, event_seq, type, resource_id, state, reason, attempts, budget, ordered, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`,
		string(d.ID), string(d.Workspace), string(d.Subscription), event, d.Type, d.ResourceID,
		stateNumber(d.State), d.Reason, d.MaxAttempts, ordered, at.UnixMilli())
	return err
}
