package postgres

import (
	"context"

	"github.com/feedmill/feedmill"
)

// SubscriptionHealth looks at the newest deliveries of a subscription that were
// tried and counts what is open, as far as feedmill.MaxCountedBacklog.
func (db *DB) SubscriptionHealth(ctx context.Context, workspace, subscription feedmill.ID) (h feedmill.SubscriptionHealth, err error) {
	tried, err := db.Deliveries(ctx, workspace, feedmill.DeliveryQuery{
		Page: feedmill.Page{Limit: feedmill.HealthSample}, Subscription: subscription, States: feedmill.SampledStates,
	})
	if err != nil {
		return h, err
	}
	h.Sample(tried)
	var pending, retrying int
	var oldest feedmill.ID
	err = db.pool.QueryRow(ctx, `SELECT
			(SELECT count(*) FROM (SELECT FROM open_deliveries WHERE subscription_id = $1 AND state = 'pending' LIMIT $2) p),
			(SELECT count(*) FROM (SELECT FROM open_deliveries WHERE subscription_id = $1 AND state = 'retrying' LIMIT $2) r),
			coalesce(least(
				(SELECT id FROM open_deliveries WHERE subscription_id = $1 AND state = 'pending' ORDER BY id LIMIT 1),
				(SELECT id FROM open_deliveries WHERE subscription_id = $1 AND state = 'retrying' ORDER BY id LIMIT 1)), '')`,
		subscription, feedmill.MaxCountedBacklog+1).Scan(&pending, &retrying, &oldest)
	if err != nil {
		return h, translate(err)
	}
	h.Backlog = pending + retrying
	if oldest != "" {
		h.OldestOpen = oldest.Time()
	}
	if h.More = h.Backlog > feedmill.MaxCountedBacklog; h.More {
		h.Backlog = feedmill.MaxCountedBacklog
	}
	return h, nil
}
