package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// Rewind puts right what retries in the slots wait for after the clock was set
// back to now: one whose last attempt lies in the future waits as long from now
// on as it was to wait from that attempt on. It looks at up to limit retries
// behind after, and returns how far it came and whether there may be more.
func (db *DB) Rewind(ctx context.Context, slots []int, now time.Time, after feedmill.RetryPosition, limit int) (reached feedmill.RetryPosition, more bool, err error) {
	reached = after
	err = db.write(ctx, func(tx tx) error {
		var looked int
		// Deliveries are locked in the order of their ids, as everywhere.
		err := tx.QueryRow(ctx, `WITH page AS MATERIALIZED (
				SELECT id, slot, subscription_id, due_at, seq FROM open_deliveries
				WHERE state = 'retrying' AND (subscription_id, due_at, seq) > ($1, $2, $3)
				ORDER BY subscription_id, due_at, seq LIMIT $4),
			early AS MATERIALIZED (
				SELECT page.id, page.due_at, tried.at FROM page CROSS JOIN LATERAL (
					SELECT max(at) AS at FROM attempts WHERE delivery_id = page.id) tried
				WHERE page.due_at > $5 AND page.slot = ANY($6::smallint[]) AND tried.at > $5),
			mine AS MATERIALIZED (
				SELECT id FROM open_deliveries WHERE id IN (SELECT id FROM early) ORDER BY id FOR UPDATE),
			moved AS (
				UPDATE open_deliveries o SET due_at = $5 + greatest(early.due_at - early.at, interval '0')
				FROM early JOIN mine USING (id) WHERE o.id = early.id AND o.due_at = early.due_at AND o.state = 'retrying')
			SELECT subscription_id, due_at, seq, count(*) OVER () FROM page
			ORDER BY subscription_id DESC, due_at DESC, seq DESC LIMIT 1`,
			after.Subscription, after.DueAt, after.Seq, limit, now, slotNumbers(slots)).
			Scan(&reached.Subscription, &reached.DueAt, &reached.Seq, &looked)
		more = looked == limit
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return reached, more, err
}
