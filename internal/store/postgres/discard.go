package postgres

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// DiscardOpen discards up to limit open deliveries of a subscription that is
// disabled or deleted, the oldest first, and reports how many. It passes over
// those whose outcome is being written at this moment. Who calls it may have read
// the subscription a while ago: one that is active again keeps what it has.
func (db *DB) DiscardOpen(ctx context.Context, subscription feedmill.ID, reason string, at time.Time, limit int) (n int, err error) {
	err = db.write(ctx, func(tx tx) (err error) {
		n, err = tx.discardOpen(ctx, subscription, reason, at, limit)
		return err
	})
	return n, err
}

func (t tx) discardOpen(ctx context.Context, subscription feedmill.ID, reason string, at time.Time, limit int) (int, error) {
	// One statement sees the subscription and its deliveries as of one moment: none
	// that was accepted after it was made active again.
	const ended = `NOT EXISTS (SELECT FROM subscriptions WHERE id = $1 AND state <> 'disabled' AND deleted_at IS NULL)`
	n, err := t.exec(ctx, `WITH pending AS MATERIALIZED (
			SELECT id FROM open_deliveries WHERE subscription_id = $1 AND state = 'pending' AND `+ended+` ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED),
		retrying AS MATERIALIZED (
			SELECT id FROM open_deliveries WHERE subscription_id = $1 AND state = 'retrying' AND `+ended+` ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED),
		gone AS (
			DELETE FROM open_deliveries WHERE id = ANY (ARRAY (SELECT id FROM pending UNION ALL SELECT id FROM retrying ORDER BY id LIMIT $2))
			RETURNING `+endingColumns+`, 'discarded', $3::text, attempts, $4::timestamptz)
		INSERT INTO ended_deliveries (`+endingColumns+`, state, reason, attempts, ended_at) SELECT * FROM gone`, subscription, limit, reason, at)
	return int(n), err
}

// HoldOpen makes up to limit retrying deliveries of a subscription pending and
// reports how many. It passes over those whose outcome is being written.
func (db *DB) HoldOpen(ctx context.Context, subscription feedmill.ID, limit int) (held int, err error) {
	err = db.write(ctx, func(tx tx) error {
		n, err := tx.exec(ctx, `UPDATE open_deliveries SET state = 'pending' WHERE id IN (
			SELECT id FROM open_deliveries WHERE subscription_id = $1 AND state = 'retrying' LIMIT $2 FOR UPDATE SKIP LOCKED)`, subscription, limit)
		held = int(n)
		return err
	})
	return held, err
}
