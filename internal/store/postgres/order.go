package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Deliveries of an ordered subscription stand in an index by resource. Those that
// were accepted before it became one are put there step by step, by whoever is about
// to send them.
//
// Whoever makes deliveries looks whether their subscriptions are ordered and writes that
// a moment later, when one of them may have become so. Such transactions share a lock
// of the database by which they are known. Nobody takes it alone: all who make
// deliveries would wait behind that one, for as long as the slowest of them takes.
const orderLock = 0x6665656d

var (
	// lookAtOrder comes before the statement that looks.
	lookAtOrder = fmt.Sprintf(`SELECT pg_advisory_xact_lock_shared(%d)`, orderLock)
	// whoLooked are the transactions that may have looked and not yet written.
	whoLooked = fmt.Sprintf(`SELECT virtualtransaction FROM pg_locks WHERE locktype = 'advisory' AND objid = %d AND objsubid = 1 AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, orderLock)
)

// looksPatience is how long to wait for those who have looked. It is short, because a
// frozen replica can be one of them; whoever reads the deliveries comes again.
const looksPatience = steadyLockPatience

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
			if err := db.awaitLooks(ctx, looksPatience); err != nil {
				return err
			}
		}
		err := db.write(ctx, func(tx tx) error { return tx.orderMore(ctx, subscription, *from, feedmill.DiscardStep) })
		if err != nil {
			return err
		}
	}
}

// awaitLooks waits until all who have looked so far are done. Those who look later see
// what is there by now.
func (db *DB) awaitLooks(ctx context.Context, patience time.Duration) error {
	before, err := db.whoLooked(ctx)
	began := time.Now()
	for pause := time.Millisecond; err == nil && len(before) > 0; pause = min(2*pause, 50*time.Millisecond) {
		if time.Since(began) > patience {
			return fmt.Errorf("%w: deliveries of a subscription that became ordered are still being made", feedmill.ErrUnavailable)
		}
		select {
		case <-ctx.Done():
			return translate(ctx.Err())
		case <-time.After(pause):
		}
		var now []string
		now, err = db.whoLooked(ctx)
		before = slices.DeleteFunc(before, func(id string) bool { return !slices.Contains(now, id) })
	}
	return err
}

func (db *DB) whoLooked(ctx context.Context) ([]string, error) {
	rows, err := db.rows(ctx, whoLooked)
	return all(rows, err, func(row record.Row) (id string, err error) { return id, row.Scan(&id) })
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
