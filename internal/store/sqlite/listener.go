package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Listener finds a listener that is not deleted.
func (db *DB) Listener(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error) {
	return scanSubscription(db.row(ctx, `SELECT `+subscriptionColumns+` FROM subscriptions
		WHERE id = ? AND workspace_id = ? AND deleted_at IS NULL AND listen_until IS NOT NULL`, id, workspace))
}

// ExtendListener moves the end of a listener, never to an earlier time.
func (db *DB) ExtendListener(ctx context.Context, id feedmill.ID, until time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`UPDATE subscriptions SET listen_until = max(listen_until, ?)
			WHERE id = ? AND deleted_at IS NULL AND listen_until IS NOT NULL`, toMillis(until), id)
		if err == nil && n == 0 {
			return feedmill.ErrNotFound
		}
		return err
	})
}

// DeleteListener deletes one as DeleteSubscription does.
func (db *DB) DeleteListener(ctx context.Context, workspace, id feedmill.ID, at time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`UPDATE subscriptions SET deleted_at = ? WHERE id = ? AND workspace_id = ? AND deleted_at IS NULL AND listen_until IS NOT NULL`,
			toMillis(at), id, workspace)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedmill.ErrNotFound
		}
		return tx.forgetSubscription(id, at)
	})
}

// ExpireListeners deletes up to limit listeners whose end has come and reports
// how many.
func (db *DB) ExpireListeners(ctx context.Context, now time.Time, limit int) (n int, err error) {
	var some bool
	err = db.row(ctx, `SELECT EXISTS (SELECT 1 FROM subscriptions INDEXED BY subscriptions_listening
		WHERE deleted_at IS NULL AND listen_until IS NOT NULL AND listen_until <= ?)`, toMillis(now)).Scan(&some)
	if err != nil || !some {
		return 0, translate(err) // the common case takes no turn of the writers
	}
	err = db.write(ctx, func(tx *tx) error {
		rows, err := tx.rows(`SELECT id FROM subscriptions INDEXED BY subscriptions_listening
			WHERE deleted_at IS NULL AND listen_until IS NOT NULL AND listen_until <= ? ORDER BY listen_until LIMIT ?`, toMillis(now), limit)
		ids, err := all(rows, err, func(row record.Row) (id feedmill.ID, err error) {
			err = row.Scan(&id)
			return id, err
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := tx.exec(`UPDATE subscriptions SET deleted_at = ? WHERE id = ?`, toMillis(now), id); err != nil {
				return err
			}
			if err := tx.forgetSubscription(id, now); err != nil {
				return err
			}
		}
		n = len(ids)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
