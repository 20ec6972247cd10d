package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// Deliveries of an ordered subscription stand in an index by resource. Those that
// were accepted before it became one are put there step by step, by whoever is about
// to send them.
//
// Whoever makes deliveries looks whether their subscriptions are ordered and writes that
// a moment later, when one of them may have become so. Such transactions share a lock
// of the database, which nobody else takes but to wait for them to end.
const orderLock = 0x6665656d

var (
	// lookAtOrder comes before the statement that looks.
	lookAtOrder = fmt.Sprintf(`SELECT pg_advisory_xact_lock_shared(%d)`, orderLock)
	// awaitLooks waits for all who have looked.
	awaitLooks = fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, orderLock)
)

const (
	// orderFrom is NULL where all that is open of a subscription is in order, as
	// nearly always. Else it is the last delivery that is, and before the first
	// one notYet and the number of the transaction that made the subscription ordered.
	orderFrom = `SELECT order_from FROM subscriptions WHERE id = $1`
	notYet    = "?"
)

// orderFrom notes that the open deliveries of a subscription are to be ordered.
func (t tx) orderFrom(ctx context.Context, subscription feedmill.ID) error {
	_, err := t.exec(ctx, `UPDATE subscriptions SET order_from = $1 || txid_current()::text WHERE id = $2`, notYet, subscription)
	return err
}

// OrderOpen has nothing to do: Due with Heads puts in order what it needs, since
// it learns in the same trip whether it must.
func (db *DB) OrderOpen(context.Context, feedmill.ID, int) (more bool, err error) { return false, nil }

// orderOpen puts the open deliveries of a subscription in order.
func (db *DB) orderOpen(ctx context.Context, subscription feedmill.ID) error {
	for {
		var from *string
		if err := db.steady.QueryRow(ctx, orderFrom, subscription).Scan(&from); err != nil || from == nil {
			return translate(err)
		}
		if strings.HasPrefix(*from, notYet) {
			// In a transaction of its own: whoever is about to look waits for it.
			err := pgx.BeginFunc(ctx, db.steady, func(t pgx.Tx) error {
				_, err := t.Exec(ctx, awaitLooks)
				return err
			})
			if err != nil {
				return translate(err)
			}
		}
		err := db.write(ctx, func(tx tx) error { return tx.orderMore(ctx, subscription, *from, feedmill.DiscardStep) })
		if err != nil {
			return err
		}
	}
}

// orderMore puts up to limit open deliveries in order, unless it was noted meanwhile
// that others are to be.
func (t tx) orderMore(ctx context.Context, subscription feedmill.ID, from string, limit int) error {
	var now *string
	if err := t.QueryRow(ctx, orderFrom+` FOR UPDATE`, subscription).Scan(&now); err != nil || now == nil || *now != from {
		return translate(err)
	}
	var n int
	var last string
	err := t.QueryRow(ctx, `WITH found AS MATERIALIZED (
			SELECT id FROM (
				(SELECT id FROM open_deliveries WHERE subscription_id = $1 AND state = 'pending' AND id > $2 ORDER BY id LIMIT $3)
				UNION ALL
				(SELECT id FROM open_deliveries WHERE subscription_id = $1 AND state = 'retrying' AND id > $2 ORDER BY id LIMIT $3)
			) open ORDER BY id LIMIT $3),
		mine AS MATERIALIZED (
			SELECT id FROM open_deliveries WHERE id = ANY (ARRAY (SELECT id FROM found)) AND NOT ordered ORDER BY id FOR UPDATE),
		done AS (
			UPDATE open_deliveries SET ordered = true WHERE id = ANY (ARRAY (SELECT id FROM mine)))
		SELECT count(*), coalesce(max(id), '') FROM found`, subscription, from, limit).Scan(&n, &last)
	if err != nil {
		return translate(err)
	}
	var next *string
	if n == limit {
		next = &last
	}
	_, err = t.exec(ctx, `UPDATE subscriptions SET order_from = $1 WHERE id = $2`, next, subscription)
	return err
}
