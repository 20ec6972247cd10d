package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// seqRange is the deliveries with the numbers [from, to).
type seqRange struct{ from, to int64 }

// queryFunc runs a query on one of the connections.
type queryFunc func(query string, args ...any) (*sql.Rows, error)

func (db *DB) queryFunc(ctx context.Context) queryFunc {
	return func(query string, args ...any) (*sql.Rows, error) { return db.rows(ctx, query, args...) }
}

// seq returns the seq that a query finds, otherwise where it finds none.
func (query queryFunc) seq(otherwise int64, text string, args ...any) (int64, error) {
	rows, err := query(text, args...)
	found, err := all(rows, err, scanNumber)
	if err != nil || len(found) == 0 {
		return otherwise, err
	}
	return found[0], nil
}

func scanNumber(row record.Row) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}

// firstSeqFrom finds the first delivery whose id is the one given or a later one.
// Ids and seqs have the same order.
const firstSeqFrom = `SELECT seq FROM deliveries WHERE id >= ? ORDER BY id LIMIT 1`

// seqRange is the deliveries with the ids [from, to).
func (query queryFunc) seqRange(from, to feedmill.ID) (r seqRange, err error) {
	if r.from, err = query.seq(math.MaxInt64, firstSeqFrom, from); err != nil {
		return r, err
	}
	r.to, err = query.seq(math.MaxInt64, firstSeqFrom, to)
	return r, err
}

// Deliveries lists deliveries, newest first unless they are those behind one.
func (db *DB) Deliveries(ctx context.Context, workspace feedmill.ID, q feedmill.DeliveryQuery) ([]feedmill.Delivery, error) {
	query := db.queryFunc(ctx)
	l := deliveryList{of: workspace, states: q.States, eventType: q.Type, limit: q.Limit, newestFirst: q.After == ""}
	if q.Subscription != "" {
		var ours bool
		err := db.row(ctx, `SELECT EXISTS (SELECT 1 FROM subscriptions WHERE id = ? AND workspace_id = ?)`, q.Subscription, workspace).Scan(&ours)
		if err != nil || !ours {
			return nil, translate(err)
		}
		l.of, l.subscription = q.Subscription, true
		if made := q.Subscription.Time(); q.Since.Before(made) {
			q.Since = made // none is older than its subscription
		}
	}
	var err error
	from := feedmill.FirstID(feedmill.PrefixDelivery, q.Since)
	if q.After != "" {
		from = max(from, q.After+"~") // past it, and before every later one
	}
	l.within, err = query.seqRange(from, before(q.Page, feedmill.PrefixDelivery))
	if err != nil {
		return nil, err
	}
	return l.read(query)
}

// deliveryList is a list of deliveries, of a subscription or of a workspace.
type deliveryList struct {
	of           feedmill.ID
	subscription bool
	states       []feedmill.DeliveryState // none means all
	eventType    string                   // where not empty
	within       seqRange
	limit        int
	newestFirst  bool
}

// read reads the list state by state, each from the index that has it in its
// order, so that a page costs the same however many deliveries there are in
// whichever states.
func (l deliveryList) read(query queryFunc) ([]feedmill.Delivery, error) {
	var found []feedmill.Delivery
	for n := statePending; n <= stateDiscarded; n++ {
		if len(l.states) > 0 && !slices.Contains(l.states, stateNumbers[n]) {
			continue
		}
		var some []feedmill.Delivery
		var err error
		switch {
		case !l.subscription:
			some, err = l.part(query, `deliveries_undelivered`, `d.workspace_id = ?1 AND d.state >= 5`, n, l.within, l.limit)
		case n == statePending:
			some, err = l.part(query, `deliveries_pending`, `d.subscription_id = ?1`, n, l.within, l.limit)
		case n == stateDelivered:
			some, err = l.delivered(query)
		default:
			some, err = l.part(query, `deliveries_failed`, `d.subscription_id = ?1 AND d.state >= 4`, n, l.within, l.limit)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	slices.SortFunc(found, func(a, b feedmill.Delivery) int {
		if l.newestFirst {
			a, b = b, a
		}
		return cmp.Compare(a.Seq, b.Seq)
	})
	return found[:min(len(found), l.limit)], nil
}

// partBits is how many deliveries a part of the index of what was delivered has,
// as a power of two; the index itself says the same.
const partBits = 13

// delivered reads what was delivered, part by part of the index.
func (l deliveryList) delivered(query queryFunc) (found []feedmill.Delivery, err error) {
	parts, err := l.parts(query)
	if err != nil {
		return nil, err
	}
	for _, n := range parts {
		some, err := l.part(query, `deliveries_delivered`, `d.seq >> 13 = ?6 AND d.subscription_id = ?1`, stateDelivered, l.within, l.limit-len(found), n)
		if err != nil {
			return nil, err
		}
		if found = append(found, some...); len(found) == l.limit {
			break
		}
	}
	return found, nil
}

// parts are the parts that have some of what is listed, as many as can matter.
// There may be thousands of others, which are passed over in one query.
func (l deliveryList) parts(query queryFunc) ([]int64, error) {
	newest, err := query.seq(0, `SELECT seq FROM deliveries ORDER BY seq DESC LIMIT 1`)
	if err != nil {
		return nil, err
	}
	first, last, step := l.within.from>>partBits, min(l.within.to-1, newest)>>partBits, 1
	if first > last {
		return nil, nil
	}
	if l.newestFirst {
		first, last, step = last, first, -1
	}
	rows, err := query(`WITH RECURSIVE part (n) AS (SELECT ?2 UNION ALL SELECT n + ?4 FROM part WHERE n <> ?3)
		SELECT n FROM part WHERE EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_delivered
			WHERE seq >> 13 = part.n AND subscription_id = ?1 AND state = 3 AND seq >= ?6 AND seq < ?7 AND (?5 = '' OR type = ?5)) LIMIT ?8`,
		l.of, first, last, step, l.eventType, l.within.from, l.within.to, l.limit)
	return all(rows, err, scanNumber)
}

// part reads the deliveries in one state from an index.
func (l deliveryList) part(query queryFunc, index, where string, state int, within seqRange, limit int, more ...any) ([]feedmill.Delivery, error) {
	order := ``
	if l.newestFirst {
		order = ` DESC`
	}
	// The state is a constant: only so does SQLite see that the index fits.
	text := `SELECT ` + deliveryColumns + ` FROM deliveries d INDEXED BY ` + index + ` CROSS JOIN events e ON e.seq = d.event_seq
		WHERE ` + where + ` AND d.state = ` + string(rune('0'+state)) + ` AND d.seq >= ?2 AND d.seq < ?3 AND (?4 = '' OR d.type = ?4)
		ORDER BY d.seq` + order + ` LIMIT ?5`
	rows, err := query(text, append([]any{l.of, within.from, within.to, l.eventType, limit}, more...)...)
	return all(rows, err, scanDelivery)
}
