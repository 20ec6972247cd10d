package postgres

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// HastenRetries makes up to limit deliveries of a subscription that wait for their
// next attempt due at now, and reports how many. It passes over those whose
// outcome is being written.
func (db *DB) HastenRetries(ctx context.Context, subscription feedmill.ID, now time.Time, limit int) (hastened int, err error) {
	err = db.write(ctx, func(tx tx) error {
		n, err := tx.exec(ctx, `UPDATE open_deliveries SET due_at = $2 WHERE id IN (
			SELECT id FROM open_deliveries WHERE subscription_id = $1 AND state = 'retrying' AND due_at > $2
			ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)`, subscription, now, limit)
		hastened = int(n)
		if err != nil {
			return err
		}
		return (recordTx{reader{tx}, tx}).Send(ctx, record.AuditedAtHome(ctx, kinds{}, subscription)...)
	})
	return hastened, err
}

// RetryDelivery makes a delivery pending and due at now with add more attempts
// allowed than it has made. One that is pending, whose subscription is
// deleted or disabled, or whose event is past its retention, is
// feedmill.ErrConflict.
func (db *DB) RetryDelivery(ctx context.Context, workspace, id feedmill.ID, add int, now time.Time, respond func(feedmill.Delivery) *feedmill.IdempotentResponse) (due feedmill.DueDelivery, err error) {
	found, err := db.Delivery(ctx, workspace, id)
	if err != nil {
		return feedmill.DueDelivery{}, err
	}
	err = db.write(ctx, func(tx tx) error {
		// Whoever locks several locks subscriptions before events, and
		// events before deliveries.
		of, own, err := tx.lockSubscription(ctx, found.Subscription)
		if err != nil {
			return err
		}
		if due.Payload, err = tx.lockPayload(ctx, found); err != nil {
			return err
		}
		d, err := tx.takeOut(ctx, workspace, id)
		if err != nil {
			return err
		}
		if err := d.Retry(of.EndedReason(), cmp.Or(own, add), now); err != nil {
			return err
		}
		due.Delivery = d
		if respond != nil {
			if err := tx.keepResponse(ctx, respond(d)); err != nil {
				return err
			}
		}
		if err := (recordTx{reader{tx}, tx}).Send(ctx, record.Audited(ctx, kinds{}, workspace, id)...); err != nil {
			return err
		}
		// Whether it was made with its event is not known any more.
		_, err = tx.exec(ctx, `INSERT INTO open_deliveries (`+commonColumns+`, due_at, slot, apart)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, true)`,
			d.ID, d.Workspace, d.Subscription, d.Event, d.Seq, d.Type, d.ResourceID, d.State, d.Reason,
			d.Attempts, d.MaxAttempts, d.DueAt, feedmill.Slot(d.Subscription))
		return err
	})
	if err != nil {
		return feedmill.DueDelivery{}, err
	}
	return due, nil
}

// lockSubscription reads whether a subscription is disabled or deleted and keeps it
// from becoming so before the deliveries that are opened are there to be
// discarded. attempts is how many its deliveries get, zero for the service's.
func (t tx) lockSubscription(ctx context.Context, subscription feedmill.ID) (s feedmill.Subscription, attempts int, err error) {
	var deleted *time.Time
	err = t.QueryRow(ctx, `SELECT state, deleted_at, attempts FROM subscriptions WHERE id = $1 FOR SHARE`, subscription).Scan(&s.State, &deleted, &attempts)
	s.DeletedAt = orZero(deleted)
	return s, attempts, translate(err)
}

// takeOut takes a delivery out of the table that it is in.
func (t tx) takeOut(ctx context.Context, workspace, id feedmill.ID) (feedmill.Delivery, error) {
	d, err := scanDelivery(t.QueryRow(ctx, `DELETE FROM open_deliveries WHERE id = $1 AND workspace_id = $2 RETURNING `+openColumns, id, workspace))
	if !errors.Is(err, feedmill.ErrNotFound) {
		return d, err
	}
	var final finalAttempt
	d, err = scanDeliveryAnd(t.QueryRow(ctx, `DELETE FROM ended_deliveries WHERE id = $1 AND workspace_id = $2
		RETURNING `+endedColumns+`, `+finalColumns, id, workspace), final.columns()...)
	if err == nil && final.id != nil {
		err = t.insertAttempt(ctx, final.attempt(id))
	}
	return d, err
}

// lockPayload reads the text to send and keeps the event from being pruned
// before the delivery is open.
func (t tx) lockPayload(ctx context.Context, d feedmill.Delivery) (text []byte, err error) {
	err = translate(t.QueryRow(ctx, `SELECT payload FROM events WHERE workspace_id = $1 AND id = $2 FOR KEY SHARE`,
		d.Workspace, d.Event).Scan(&text))
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil, feedmill.NotRetryable("The event of this delivery was deleted after its retention period, so the delivery cannot be retried.")
	}
	return text, err
}
