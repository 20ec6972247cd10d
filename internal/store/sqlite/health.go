package sqlite

import (
	"context"
	"encoding/json"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Backlogs counts what is open of subscriptions, as far as most of each state.
func (db *DB) Backlogs(ctx context.Context, subscriptions []feedmill.ID, most int) (map[feedmill.ID]feedmill.SubscriptionBacklog, error) {
	ids, err := json.Marshal(subscriptions)
	if err != nil {
		return nil, err
	}
	found := make(map[feedmill.ID]feedmill.SubscriptionBacklog, len(subscriptions))
	rows, err := db.rows(ctx, `SELECT json_each.value,
			(SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_pending WHERE subscription_id = json_each.value AND state = 2 LIMIT ?2)),
			(SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_retrying WHERE subscription_id = json_each.value AND state = 4 LIMIT ?2)),
			coalesce((SELECT id FROM deliveries INDEXED BY deliveries_pending WHERE subscription_id = json_each.value AND state = 2 ORDER BY seq LIMIT 1), ''),
			coalesce((SELECT id FROM deliveries INDEXED BY deliveries_failed WHERE subscription_id = json_each.value AND state >= 4 AND state = 4 ORDER BY seq LIMIT 1), '')
		FROM json_each(?1)`, string(ids), most)
	_, err = all(rows, err, func(row record.Row) (struct{}, error) {
		var id feedmill.ID
		var b feedmill.SubscriptionBacklog
		var oldest [2]feedmill.ID
		err := row.Scan(&id, &b.Pending, &b.Retrying, &oldest[0], &oldest[1])
		for _, delivery := range oldest {
			if at := delivery.Time(); delivery != "" && (b.Oldest.IsZero() || at.Before(b.Oldest)) {
				b.Oldest = at
			}
		}
		found[id] = b
		return struct{}{}, err
	})
	return found, err
}
