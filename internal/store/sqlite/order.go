package sqlite

import (
	"context"
	"database/sql"

	"github.com/feedmill/feedmill"
)

// Deliveries of an ordered subscription stand in an index by resource. Those
// that were accepted before it became one are put there step by step, by
// whoever is about to send them.

// orderFrom notes that the open deliveries of a subscription are to be ordered.
func (t *tx) orderFrom(subscription feedmill.ID) error {
	_, err := t.exec(`UPDATE subscriptions SET order_from = 0 WHERE id = ?`, subscription)
	return err
}

// OrderOpen makes Due with Heads see up to limit open deliveries that were
// accepted before their subscription became ordered. It reports whether there
// may be more.
func (db *DB) OrderOpen(ctx context.Context, subscription feedmill.ID, limit int) (more bool, err error) {
	from, err := orderedFrom(db.row(ctx, orderFrom, subscription))
	if err != nil || !from.Valid {
		return false, err
	}
	err = db.write(ctx, func(tx *tx) (err error) {
		more, err = tx.orderOpen(subscription, limit)
		return err
	})
	return more && err == nil, err
}

const orderFrom = `SELECT order_from FROM subscriptions WHERE id = ?`

func orderedFrom(row *sql.Row) (from sql.NullInt64, err error) {
	err = row.Scan(&from)
	return from, translate(err)
}

func (t *tx) orderOpen(subscription feedmill.ID, limit int) (more bool, err error) {
	from, err := orderedFrom(t.row(orderFrom, subscription))
	if err != nil || !from.Valid {
		return false, err
	}
	rows, err := t.rows(`SELECT seq FROM deliveries INDEXED BY deliveries_pending WHERE subscription_id = ?1 AND state = 2 AND seq >= ?2
		UNION ALL SELECT seq FROM deliveries INDEXED BY deliveries_failed WHERE subscription_id = ?1 AND state >= 4 AND state = 4 AND seq >= ?2
		ORDER BY seq LIMIT ?3 + 0`, subscription, from, limit)
	seqs, err := all(rows, err, scanNumber)
	if err != nil {
		return false, err
	}
	for _, seq := range seqs {
		if _, err := t.exec(`UPDATE deliveries SET ordered = 1 WHERE seq = ?`, seq); err != nil {
			return false, err
		}
	}
	next := sql.NullInt64{}
	if more = len(seqs) == limit; more {
		next = sql.NullInt64{Int64: seqs[limit-1] + 1, Valid: true}
	}
	_, err = t.exec(`UPDATE subscriptions SET order_from = ? WHERE id = ?`, next, subscription)
	return more, err
}
