package postgres

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/feedmill/feedmill"
)

// rewindStep is how many deliveries Rewind looks at in one go.
const rewindStep = 500

// Rewind puts right what retries of a subscription wait for after the clock was
// set back to now: one whose last attempt lies in the future waits as long from
// now on as it was to wait from that attempt on.
func (db *DB) Rewind(ctx context.Context, subscription feedmill.ID, now time.Time) error {
	due, seq := now, int64(math.MaxInt64)
	for {
		err := db.write(ctx, func(tx tx) error {
			return translate(tx.QueryRow(ctx, `WITH page AS (
					SELECT id, due_at, seq FROM open_deliveries
					WHERE subscription_id = $1 AND state = 'retrying' AND (due_at, seq) > ($2, $3) ORDER BY due_at, seq LIMIT $5),
				early AS (
					SELECT page.id, page.due_at, tried.at FROM page CROSS JOIN LATERAL (
						SELECT max(at) AS at FROM attempts WHERE delivery_id = page.id) tried
					WHERE tried.at > $4),
				moved AS (
					UPDATE open_deliveries o SET due_at = $4 + greatest(early.due_at - early.at, interval '0')
					FROM early WHERE o.id = early.id AND o.due_at = early.due_at AND o.state = 'retrying')
				SELECT due_at, seq FROM page ORDER BY due_at DESC, seq DESC LIMIT 1`,
				subscription, due, seq, now, rewindStep).Scan(&due, &seq))
		})
		if errors.Is(err, feedmill.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
