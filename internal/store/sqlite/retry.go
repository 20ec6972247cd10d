package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// RetryDelivery makes a delivery pending and due at now with add more attempts
// allowed than it has made.
func (db *DB) RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, respond func(feedmill.Delivery) *feedmill.IdempotentResponse) (feedmill.DueDelivery, error) {
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
