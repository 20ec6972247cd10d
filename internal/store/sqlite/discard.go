package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// DiscardOpen discards up to limit open deliveries of a subscription that is
// disabled or deleted, and reports how many. Who calls it may have read the
// subscription a while ago: one that is active again keeps what it has.
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

// openOf finds the open deliveries of a subscription, the third value.
var openOf = []string{
	`SELECT seq FROM deliveries INDEXED BY deliveries_pending WHERE subscription_id = ?3 AND state = 2`,
	`SELECT seq FROM deliveries INDEXED BY deliveries_retrying WHERE subscription_id = ?3 AND state = 4`,
}

// discardOpen discards up to limit open deliveries of a subscription.
func (t *tx) discardOpen(subscription feedmill.ID, reason string, at time.Time, limit int) (int64, error) {
	var n int64
	for _, open := range openOf {
		more, err := t.exec(`UPDATE deliveries SET state = 6, reason = ?1, at = ?2 WHERE seq IN (`+open+`
				AND NOT EXISTS (SELECT 1 FROM subscriptions WHERE id = ?3 AND state <> 'disabled' AND deleted_at IS NULL) LIMIT ?4 + 0)`,
			reason, toMillis(at), subscription, limit-int(n))
		if err != nil {
			return 0, err
		}
		n += more
	}
	return n, nil
}

// HoldOpen makes up to limit retrying deliveries of a subscription pending and
// reports how many.
func (db *DB) HoldOpen(ctx context.Context, subscription feedmill.ID, limit int) (int, error) {
	var n int64
	err := db.write(ctx, func(tx *tx) (err error) {
		n, err = tx.exec(`UPDATE deliveries SET state = 2 WHERE seq IN (
			SELECT seq FROM deliveries INDEXED BY deliveries_retrying WHERE subscription_id = ? AND state = 4 LIMIT ? + 0)`, subscription, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}
