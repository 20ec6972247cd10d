package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// DueSubscriptions are up to limit subscriptions, in the given slots and after
// the id after, that have an open delivery due at now; in the order of their ids.
func (db *DB) DueSubscriptions(ctx context.Context, slots []int, now time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error) {
	// The recursions jump through the indexes from one subscription to the
	// next and stop with the limit: their cost does not depend on how many
	// deliveries are open. Retries are looked for as far as what is pending
	// goes, and beyond it only where that is the end of it.
	rows, err := db.rows(ctx, `WITH RECURSIVE pending (subscription_id, slot) AS (
			(SELECT subscription_id, slot FROM open_deliveries WHERE state = 'pending' AND subscription_id > $1
				ORDER BY subscription_id, id LIMIT 1)
			UNION ALL
			SELECT next.* FROM pending CROSS JOIN LATERAL (
				SELECT o.subscription_id, o.slot FROM open_deliveries o WHERE o.state = 'pending' AND o.subscription_id > pending.subscription_id
				ORDER BY o.subscription_id, o.id LIMIT 1) next),
		retrying (subscription_id, due_at, slot) AS (
			(SELECT subscription_id, due_at, slot FROM open_deliveries WHERE state = 'retrying' AND subscription_id > $1
				ORDER BY subscription_id, due_at LIMIT 1)
			UNION ALL
			SELECT next.* FROM retrying CROSS JOIN LATERAL (
				SELECT o.subscription_id, o.due_at, o.slot FROM open_deliveries o WHERE o.state = 'retrying' AND o.subscription_id > retrying.subscription_id
				ORDER BY o.subscription_id, o.due_at LIMIT 1) next
			WHERE retrying.subscription_id <= (SELECT CASE WHEN count(*) = $4 THEN max(subscription_id) ELSE '~' END FROM first)),
		first AS MATERIALIZED (SELECT subscription_id FROM pending WHERE slot = ANY($3::smallint[]) LIMIT $4)
		SELECT subscription_id FROM first
		UNION (SELECT subscription_id FROM retrying WHERE due_at <= $2 AND slot = ANY($3::smallint[]) LIMIT $4)
		ORDER BY 1 LIMIT $4`,
		after, now, slotNumbers(slots), limit)
	return all(rows, err, func(row record.Row) (id feedmill.ID, err error) { return id, row.Scan(&id) })
}

func slotNumbers(slots []int) []int16 {
	numbers := make([]int16, len(slots))
	for i, s := range slots {
		numbers[i] = int16(s)
	}
	return numbers
}

const (
	dueRetries = `SELECT ` + openColumns + ` FROM open_deliveries
		WHERE subscription_id = $1 AND state = 'retrying' AND due_at <= $2 ORDER BY due_at, seq LIMIT $3`

	// The condition on the subscription is no equality, and the order names
	// it, so that the index of what is pending is the only one that can seem
	// to fit.
	duePending = `SELECT ` + openColumns + ` FROM open_deliveries
		WHERE state = 'pending' AND (subscription_id, id) >= ($1, $2) AND subscription_id <= $1 ORDER BY subscription_id, id LIMIT $3`

	// dueHeads jumps from one resource to the next until there are enough.
	dueHeads = `WITH RECURSIVE head AS (
			(SELECT * FROM open_deliveries WHERE ordered AND subscription_id = $1 AND resource_id %s $4 ORDER BY resource_id, seq LIMIT 1)
			UNION ALL
			SELECT next.* FROM head CROSS JOIN LATERAL (
				SELECT o.* FROM open_deliveries o WHERE o.ordered AND o.subscription_id = $1 AND o.resource_id > head.resource_id
				ORDER BY o.resource_id, o.seq LIMIT 1) next)
		SELECT ` + openColumns + ` FROM head WHERE state = 'pending' OR due_at <= $2 LIMIT $3`

	// dueHeadsOf lists what is behind a head only as far as all before it are due.
	dueHeadsOf = `SELECT ` + openColumns + ` FROM unnest($4::text[]) WITH ORDINALITY AS wanted (resource, place) CROSS JOIN LATERAL (
			SELECT first.*, row_number() OVER up_to AS n, bool_and(state = 'pending' OR due_at <= $2) OVER up_to AS due FROM (
				SELECT o.* FROM open_deliveries o WHERE o.ordered AND o.subscription_id = $1 AND o.resource_id = wanted.resource
				ORDER BY o.resource_id, o.seq LIMIT $5) first
			WINDOW up_to AS (ORDER BY seq)) open
		WHERE due ORDER BY n > 1, place, n LIMIT $3`

	dueHeadRetries = `SELECT ` + openColumns + ` FROM open_deliveries d
		WHERE subscription_id = $1 AND state = 'retrying' AND due_at <= $2
			AND seq = (SELECT o.seq FROM open_deliveries o WHERE o.ordered AND o.subscription_id = $1 AND o.resource_id = d.resource_id ORDER BY o.resource_id, o.seq LIMIT 1)
		ORDER BY due_at, seq LIMIT $3`
)

var dueFirstHeads, dueNextHeads = fmt.Sprintf(dueHeads, ">="), fmt.Sprintf(dueHeads, ">")

// queueHeads queues the query for what Due returns of an ordered subscription.
func queueHeads(b *pgx.Batch, q feedmill.DueQuery) *pgx.QueuedQuery {
	switch {
	case q.Retries:
		return b.Queue(dueHeadRetries, q.Subscription, q.Now, q.Limit)
	case len(q.Resources) > 0:
		return b.Queue(dueHeadsOf, q.Subscription, q.Now, q.Limit, q.Resources, max(q.Each, 1))
	case q.After != nil:
		return b.Queue(dueNextHeads, q.Subscription, q.Now, q.Limit, *q.After)
	}
	return b.Queue(dueFirstHeads, q.Subscription, q.Now, q.Limit, "")
}

// Due lists open deliveries of a subscription that are due: retries by their
// time, and then what is pending, in the order of ids; with Heads, only those
// that are the first open delivery of their resource, and with Each what is behind them.
func (db *DB) Due(ctx context.Context, q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	var due []feedmill.Delivery
	var unordered *string
	take := func(row record.Row) error {
		d, err := scanDelivery(row)
		due = append(due, d)
		return err
	}
	var b pgx.Batch
	if q.Heads {
		b.Queue(orderFrom, q.Subscription).QueryRow(func(row pgx.Row) error { return row.Scan(&unordered) })
		each(queueHeads(&b, q), take)
	} else {
		if q.From == "" {
			each(b.Queue(dueRetries, q.Subscription, q.Now, q.Limit), take)
		}
		each(b.Queue(duePending, q.Subscription, q.From, q.Limit), take)
	}
	if err := translate(db.steady.SendBatch(ctx, &b).Close()); err != nil {
		return nil, err
	}
	if unordered != nil {
		if err := db.orderOpen(ctx, q.Subscription); err != nil {
			return nil, err
		}
		return db.Due(ctx, q)
	}
	return db.withPayloads(ctx, due[:min(len(due), q.Limit)], q)
}

// OpenWork counts open deliveries, as far as feedmill.MaxCountedBacklog, and finds the
// oldest due time among those of subscriptions that are not paused, going from one
// subscription to the next; zero where there are none.
func (db *DB) OpenWork(ctx context.Context, _ time.Time) (open int64, oldestDue time.Time, err error) {
	var oldest *time.Time
	err = db.pool.QueryRow(ctx, `WITH RECURSIVE pending (subscription_id, due_at) AS (
			(SELECT subscription_id, due_at FROM open_deliveries WHERE state = 'pending' ORDER BY subscription_id, id LIMIT 1)
			UNION ALL
			SELECT next.* FROM pending CROSS JOIN LATERAL (
				SELECT o.subscription_id, o.due_at FROM open_deliveries o WHERE o.state = 'pending' AND o.subscription_id > pending.subscription_id
				ORDER BY o.subscription_id, o.id LIMIT 1) next),
		retrying (subscription_id, due_at) AS (
			(SELECT subscription_id, due_at FROM open_deliveries WHERE state = 'retrying' ORDER BY subscription_id, due_at LIMIT 1)
			UNION ALL
			SELECT next.* FROM retrying CROSS JOIN LATERAL (
				SELECT o.subscription_id, o.due_at FROM open_deliveries o WHERE o.state = 'retrying' AND o.subscription_id > retrying.subscription_id
				ORDER BY o.subscription_id, o.due_at LIMIT 1) next)
		SELECT (SELECT count(*) FROM (SELECT FROM open_deliveries LIMIT $1) counted),
			(SELECT min(due_at) FROM (SELECT * FROM pending UNION ALL SELECT * FROM retrying) first
				WHERE NOT EXISTS (SELECT FROM subscriptions s WHERE s.id = first.subscription_id AND s.state = 'paused'))`,
		feedmill.MaxCountedBacklog).Scan(&open, &oldest)
	return open, orZero(oldest), translate(err)
}
