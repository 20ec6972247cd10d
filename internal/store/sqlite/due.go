package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/feedmill/feedmill"
)

// DueSubscriptions are up to limit subscriptions, in the given slots and after
// the id after, that have an open delivery due at now; in the order of their ids.
//
// The query steps over the index from one subscription to the next, so its cost
// is by the subscriptions that have open deliveries, not by the deliveries.
func (db *DB) DueSubscriptions(ctx context.Context, slots []int, now time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error) {
	var wanted [feedmill.Slots]bool
	for _, slot := range slots {
		wanted[slot] = true
	}
	rows, err := db.rows(ctx, `WITH RECURSIVE waiting (id) AS (
			SELECT min(subscription_id) FROM deliveries INDEXED BY deliveries_due WHERE state <= 1 AND subscription_id > ?1
			UNION ALL
			SELECT (SELECT min(subscription_id) FROM deliveries INDEXED BY deliveries_due WHERE state <= 1 AND subscription_id > waiting.id)
			FROM waiting WHERE waiting.id IS NOT NULL)
		SELECT id FROM waiting WHERE id IS NOT NULL
		AND (SELECT min(due_at) FROM deliveries INDEXED BY deliveries_due WHERE state <= 1 AND subscription_id = waiting.id) <= ?2`,
		after, toMillis(now))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []feedmill.ID
	for len(ids) < limit && rows.Next() {
		var id feedmill.ID
		if err := rows.Scan(&id); err != nil {
			return nil, translate(err)
		}
		if wanted[feedmill.Slot(id)] {
			ids = append(ids, id)
		}
	}
	return ids, translate(rows.Err())
}

const dueByTime = `SELECT ` + deliveryColumns + `, e.payload FROM deliveries d INDEXED BY deliveries_due CROSS JOIN events e ON e.seq = d.event_seq
	WHERE d.subscription_id = ?1 AND d.state <= 1 AND d.due_at <= ?2 AND (d.due_at, d.seq) > (?4, ?5)
	ORDER BY d.due_at, d.seq LIMIT ?3`

// dueHeads steps over the index from one resource to the next and looks at the
// first delivery of each.
const dueHeads = `WITH RECURSIVE resource (id) AS (
		SELECT min(resource_id) FROM deliveries INDEXED BY deliveries_queue WHERE subscription_id = ?1 AND state <= 1
		UNION ALL
		SELECT (SELECT min(resource_id) FROM deliveries INDEXED BY deliveries_queue WHERE subscription_id = ?1 AND state <= 1 AND resource_id > resource.id)
		FROM resource WHERE resource.id IS NOT NULL),
	head (seq) AS (
		SELECT d.seq FROM resource CROSS JOIN deliveries d
		ON d.seq = (SELECT min(seq) FROM deliveries INDEXED BY deliveries_queue WHERE subscription_id = ?1 AND state <= 1 AND resource_id = resource.id)
		WHERE d.due_at <= ?2 ORDER BY d.seq LIMIT ?3)
	SELECT ` + deliveryColumns + `, e.payload FROM head CROSS JOIN deliveries d ON d.seq = head.seq
	CROSS JOIN events e ON e.seq = d.event_seq ORDER BY d.seq`

// Due lists open deliveries of a subscription that are due.
func (db *DB) Due(ctx context.Context, q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	query, args := dueByTime, []any{q.Subscription, toMillis(q.Now), q.Limit, max(q.AfterDue.UnixMilli(), 0), q.AfterSeq}
	if q.Heads {
		query, args = dueHeads, args[:3]
	}
	rows, err := db.rows(ctx, query, args...)
	return all(rows, err, scanDueDelivery)
}

// OpenWork counts open deliveries and finds the oldest due time among them. It
// reads all of the index of open deliveries, and nothing else.
func (db *DB) OpenWork(ctx context.Context, _ time.Time) (open int64, oldestDue time.Time, err error) {
	var oldest sql.NullInt64
	err = db.row(ctx, `SELECT count(*), min(due_at) FROM deliveries INDEXED BY deliveries_due WHERE state <= 1`).Scan(&open, &oldest)
	return open, fromMillis(oldest), translate(err)
}
