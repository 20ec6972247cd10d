package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

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
			if err := (recordTx{tx}).ForgetSubscription(ctx, id, now); err != nil {
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
