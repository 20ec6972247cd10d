package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// DueSubscriptions are up to limit subscriptions, in the given slots and after
// the id after, that have an open delivery due at now; in the order of their ids.
func (db *DB) DueSubscriptions(ctx context.Context, slots []int, now time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error) {
	numbers := make([]int16, len(slots))
	for i, s := range slots {
		numbers[i] = int16(s)
	}
	// The recursion jumps through the index from one subscription to the
	// next, to the delivery of it that is due first, and stops with the
	// limit: its cost does not depend on how many deliveries are open.
	rows, err := db.rows(ctx, `WITH RECURSIVE first (subscription_id, due_at, slot) AS (
			(SELECT subscription_id, due_at, slot FROM open_deliveries WHERE subscription_id > $1
				ORDER BY subscription_id, due_at LIMIT 1)
			UNION ALL
			SELECT next.* FROM first CROSS JOIN LATERAL (
				SELECT o.subscription_id, o.due_at, o.slot FROM open_deliveries o WHERE o.subscription_id > first.subscription_id
				ORDER BY o.subscription_id, o.due_at LIMIT 1) next)
		SELECT subscription_id FROM first WHERE due_at <= $2 AND slot = ANY($3::smallint[]) LIMIT $4`,
		after, now, numbers, limit)
	return all(rows, err, func(row pgx.Row) (id feedmill.ID, err error) { return id, row.Scan(&id) })
}

// Due lists open deliveries of a subscription that are due, by due time and
// then Seq; with Heads, only those that are the first open delivery of their
// resource, by Seq.
func (db *DB) Due(ctx context.Context, q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	args := []any{q.Subscription, q.Now, q.Limit, q.AfterDue, q.AfterSeq}
	query := `SELECT ` + openColumns + ` FROM open_deliveries
		WHERE subscription_id = $1 AND due_at <= $2 AND (due_at, seq) > ($4, $5) ORDER BY due_at, seq LIMIT $3`
	if q.Heads {
		args = args[:3]
		// This recursion jumps from one resource to the next.
		query = `WITH RECURSIVE head AS (
				(SELECT * FROM open_deliveries WHERE subscription_id = $1 ORDER BY resource_id, seq LIMIT 1)
				UNION ALL
				SELECT next.* FROM head CROSS JOIN LATERAL (
					SELECT o.* FROM open_deliveries o WHERE o.subscription_id = $1 AND o.resource_id > head.resource_id
					ORDER BY o.resource_id, o.seq LIMIT 1) next)
			SELECT ` + openColumns + ` FROM head WHERE due_at <= $2 ORDER BY seq LIMIT $3`
	}
	rows, err := db.rows(ctx, query, args...)
	due, err := all(rows, err, scanDelivery)
	if err != nil {
		return nil, err
	}
	return payloads(ctx, db.pool, due)
}

// OpenWork counts open deliveries and finds the oldest due time among them;
// zero where there are none.
func (db *DB) OpenWork(ctx context.Context, _ time.Time) (open int64, oldestDue time.Time, err error) {
	var oldest *time.Time
	err = db.pool.QueryRow(ctx, `SELECT count(*), min(due_at) FROM open_deliveries`).Scan(&open, &oldest)
	return open, orZero(oldest), translate(err)
}
