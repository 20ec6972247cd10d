package sqlite

import (
	"context"
	"database/sql"

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
	for _, of := range []struct{ count, oldest string }{
		{openOf[0], `SELECT id FROM deliveries INDEXED BY deliveries_pending WHERE subscription_id = ? AND state = 2 ORDER BY seq LIMIT 1`},
		{openOf[1], `SELECT id FROM deliveries INDEXED BY deliveries_failed WHERE subscription_id = ? AND state >= 4 AND state = 4 ORDER BY seq LIMIT 1`},
	} {
		var n int
		if err := db.row(ctx, `SELECT count(*) FROM (`+of.count+` LIMIT ?)`, subscription, feedmill.MaxCountedBacklog+1-h.Backlog).Scan(&n); err != nil {
			return h, translate(err)
		}
		h.Backlog += n
		var oldest sql.NullString
		if err := db.row(ctx, `SELECT (`+of.oldest+`)`, subscription).Scan(&oldest); err != nil {
			return h, translate(err)
		}
		if at := feedmill.ID(oldest.String).Time(); oldest.Valid && (h.OldestOpen.IsZero() || at.Before(h.OldestOpen)) {
			h.OldestOpen = at
		}
	}
	if h.More = h.Backlog > feedmill.MaxCountedBacklog; h.More {
		h.Backlog = feedmill.MaxCountedBacklog
	}
	return h, nil
}
