package postgres

import (
	"context"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Backlogs counts what is open of subscriptions, as far as most of each state.
func (db *DB) Backlogs(ctx context.Context, subscriptions []feedmill.ID, most int) (map[feedmill.ID]feedmill.SubscriptionBacklog, error) {
	found := make(map[feedmill.ID]feedmill.SubscriptionBacklog, len(subscriptions))
	rows, err := db.pool.Query(ctx, `SELECT s.id,
			(SELECT count(*) FROM (SELECT FROM open_deliveries WHERE subscription_id = s.id AND state = 'pending' LIMIT $2) p),
			(SELECT count(*) FROM (SELECT FROM open_deliveries WHERE subscription_id = s.id AND state = 'retrying' LIMIT $2) r),
			coalesce(least(
				(SELECT id FROM open_deliveries WHERE subscription_id = s.id AND state = 'pending' ORDER BY id LIMIT 1),
				(SELECT id FROM open_deliveries WHERE subscription_id = s.id AND state = 'retrying' ORDER BY id LIMIT 1)), '')
		FROM unnest($1::text[]) AS s (id)`, subscriptions, most)
	_, err = all(rows, translate(err), func(row record.Row) (struct{}, error) {
		var id, oldest feedmill.ID
		var b feedmill.SubscriptionBacklog
		err := row.Scan(&id, &b.Pending, &b.Retrying, &oldest)
		if oldest != "" {
			b.Oldest = oldest.Time()
		}
		found[id] = b
		return struct{}{}, err
	})
	return found, err
}
