package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// HastenRetries makes up to limit deliveries of a subscription that wait for their
// next attempt due at now, and reports how many.
func (db *DB) HastenRetries(ctx context.Context, subscription feedmill.ID, now time.Time, limit int) (int, error) {
	var n int64
	err := db.write(ctx, func(tx *tx) (err error) {
		n, err = tx.exec(`UPDATE deliveries SET at = ?2 WHERE seq IN (
			SELECT seq FROM deliveries INDEXED BY deliveries_retrying WHERE subscription_id = ?1 AND state = 4 AND at > ?2 LIMIT ?3 + 0)`,
			subscription, toMillis(now), limit)
		if err != nil {
			return err
		}
		return (recordTx{tx}).Send(ctx, record.AuditedAtHome(ctx, kinds{}, subscription)...)
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// RetryDelivery makes a delivery pending and due at now with add more attempts
// allowed than it has made.
func (db *DB) RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, respond func(feedmill.Delivery) *feedmill.IdempotentResponse) (feedmill.DueDelivery, error) {
	var d feedmill.DueDelivery
	err := db.write(ctx, func(tx *tx) (err error) {
		var of feedmill.Subscription
		d.Delivery, err = scanDeliveryAnd(tx.row(`SELECT `+deliveryColumns+`, e.payload, s.state, s.deleted_at, s.retries
			FROM deliveries d CROSS JOIN events e ON e.seq = d.event_seq CROSS JOIN subscriptions s ON s.id = d.subscription_id
			WHERE d.id = ? AND d.workspace_id = ?`, id, workspace), &d.Payload, &of.State, kinds{}.Time(&of.DeletedAt), record.Waits(&of.Delivery.Retries))
		if err != nil {
			return err
		}
		if err := d.Retry(of.EndedReason(), of.Delivery.Attempts(add), now); err != nil {
			return err
		}
		if _, err := tx.exec(`UPDATE deliveries SET state = 2, reason = '', budget = ?, at = ?,
			ordered = (SELECT s.ordered FROM subscriptions s WHERE s.id = subscription_id) WHERE seq = ?`, d.MaxAttempts, toMillis(now), d.Seq); err != nil {
			return err
		}
		if err := (recordTx{tx}).Send(ctx, record.Audited(ctx, kinds{}, workspace, id)...); err != nil || respond == nil {
			return err
		}
		return tx.keepResponse(respond(d.Delivery))
	})
	if err != nil {
		return feedmill.DueDelivery{}, err
	}
	return d, nil
}
