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

// SumDeliveryCounts are the counts of subscriptions since a time, without the times that
// endpoints took: for each subscription one of all that was before fresh, which has no
// writer, and from then on those of every stretch and writer.
func (s Store) SumDeliveryCounts(ctx context.Context, subscriptions []feedmill.ID, since, fresh time.Time) (all []feedmill.DeliveryCount, err error) {
	places, args := placesOf(subscriptions, []any{s.time(since.UTC().Truncate(feedmill.CountStep)), s.time(fresh)})
	of := ` FROM delivery_counts WHERE subscription_id IN (` + places + `) AND from_at >= ?1 AND from_at `
	for _, query := range []string{
		`SELECT subscription_id, max(from_at), '', CAST(sum(delivered) AS bigint), CAST(sum(exhausted) AS bigint)` + of + `< ?2 GROUP BY subscription_id`,
		`SELECT subscription_id, from_at, writer, delivered, exhausted` + of + `>= ?2`,
	} {
		err := s.db.Each(ctx, func(row Row) error {
			var c feedmill.DeliveryCount
			err := row.Scan(&c.Subscription, s.d.Time(&c.From), &c.Writer, &c.Delivered, &c.Exhausted)
			all = append(all, c)
			return err
		}, query, args...)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
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
