package postgres

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Listener finds a listener that is not deleted.
func (db *DB) Listener(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error) {
	return scanSubscription(db.pool.QueryRow(ctx, `SELECT `+subscriptionColumns+` FROM subscriptions
		WHERE id = $1 AND workspace_id = $2 AND deleted_at IS NULL AND listen_until IS NOT NULL`, id, workspace))
}

// ExtendListener moves the end of a listener, never to an earlier time.
func (db *DB) ExtendListener(ctx context.Context, id feedmill.ID, until time.Time) error {
	return db.write(ctx, func(tx tx) error {
		n, err := tx.exec(ctx, `UPDATE subscriptions SET listen_until = greatest(listen_until, $1)
			WHERE id = $2 AND deleted_at IS NULL AND listen_until IS NOT NULL`, until, id)
		if err == nil && n == 0 {
			return feedmill.ErrNotFound
		}
		return err
	})
}

// DeleteListener deletes one as DeleteSubscription does.
func (db *DB) DeleteListener(ctx context.Context, workspace, id feedmill.ID, at time.Time) error {
	return db.write(ctx, func(tx tx) error {
		n, err := tx.exec(ctx, `UPDATE subscriptions SET deleted_at = $1
			WHERE id = $2 AND workspace_id = $3 AND deleted_at IS NULL AND listen_until IS NOT NULL`, at, id, workspace)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedmill.ErrNotFound
		}
		return tx.forgetSubscription(ctx, id, at)
	})
}

// ExpireListeners deletes up to limit listeners whose end has come and reports
// how many. It passes over those that another replica is at.
func (db *DB) ExpireListeners(ctx context.Context, now time.Time, limit int) (n int, err error) {
	err = db.write(ctx, func(tx tx) error {
		rows, err := tx.Query(ctx, `UPDATE subscriptions SET deleted_at = $1 WHERE id IN (
			SELECT id FROM subscriptions WHERE deleted_at IS NULL AND listen_until <= $1 ORDER BY listen_until LIMIT $2 FOR UPDATE SKIP LOCKED)
			RETURNING id`, now, limit)
		ids, err := all(rows, translate(err), func(row record.Row) (id feedmill.ID, err error) { return id, row.Scan(&id) })
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := tx.forgetSubscription(ctx, id, now); err != nil {
				return err
			}
		}
		n = len(ids)
		return nil
	})
	return n, err
}
