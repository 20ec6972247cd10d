package postgres

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

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
		// In the order of workspaces, so that none waits for another that waits for it.
		if _, err := tx.exec(ctx, `SELECT FROM workspaces WHERE id IN (SELECT workspace_id FROM subscriptions WHERE id = ANY($1::text[]))
			ORDER BY id FOR NO KEY UPDATE`, ids); err != nil {
			return err
		}
		for _, id := range ids {
			if err := (recordTx{reader{tx}, tx}).ForgetSubscription(ctx, id, now); err != nil {
				return err
			}
		}
		n = len(ids)
		return nil
	})
	return n, err
}
