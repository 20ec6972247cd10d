package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

const countColumns = `subscription_id, from_at, writer, delivered, first_attempt, failed, exhausted, times`

func deliveryCount(c *feedmill.DeliveryCount, k Kinds) []any {
	return []any{&c.Subscription, k.Time(&c.From), &c.Writer, &c.Delivered, &c.First, &c.Failed, &c.Exhausted, JSON(&c.Times)}
}

// WriteDeliveryCounts writes counts of deliveries, in place of what their writers
// wrote of the same before.
func (s Store) WriteDeliveryCounts(ctx context.Context, all []feedmill.DeliveryCount) error {
	statements := make([]Statement, len(all))
	for i := range all {
		put := insert("delivery_counts", countColumns, deliveryCount(&all[i], s.d)...)
		put.SQL += ` ON CONFLICT (subscription_id, from_at, writer) DO UPDATE SET delivered = excluded.delivered, first_attempt = excluded.first_attempt,
			failed = excluded.failed, exhausted = excluded.exhausted, times = excluded.times`
		statements[i] = put
	}
	return s.db.Write(ctx, func(tx Tx) error { return tx.Send(ctx, statements...) })
}

// DeliveryCounts are the counts of a subscription from the stretch of time on that
// a time is in.
func (s Store) DeliveryCounts(ctx context.Context, subscription feedmill.ID, since time.Time) ([]feedmill.DeliveryCount, error) {
	return list(ctx, s.db, s, deliveryCount, `SELECT `+countColumns+` FROM delivery_counts WHERE subscription_id = ?1 AND from_at >= ?2 ORDER BY from_at, writer`,
		subscription, s.time(since.UTC().Truncate(feedmill.CountStep)))
}

// ForgetDeliveryCounts removes up to limit counts from before a time, and reports
// how many.
func (s Store) ForgetDeliveryCounts(ctx context.Context, before time.Time, limit int) (n int64, err error) {
	err = s.db.Write(ctx, func(tx Tx) (err error) {
		n, err = tx.Run(ctx, `DELETE FROM delivery_counts WHERE (subscription_id, from_at, writer) IN
			(SELECT subscription_id, from_at, writer FROM delivery_counts WHERE from_at < ?1 ORDER BY from_at LIMIT ?2`+s.d.SkipLocked+`)`, s.time(before), limit)
		return err
	})
	return n, err
}
