package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// These step over an index from one subscription to the next, so their cost is
// by the subscriptions that have open deliveries, not by the deliveries.
const (
	withPending = `WITH RECURSIVE waiting (id) AS (
			SELECT min(subscription_id) FROM deliveries INDEXED BY deliveries_pending WHERE state = 2 AND subscription_id > ?1
			UNION ALL
			SELECT (SELECT min(subscription_id) FROM deliveries INDEXED BY deliveries_pending WHERE state = 2 AND subscription_id > waiting.id)
			FROM waiting WHERE waiting.id IS NOT NULL)
		SELECT id FROM waiting WHERE id IS NOT NULL`

	withAnyRetries = `WITH RECURSIVE waiting (id) AS (
			SELECT min(subscription_id) FROM deliveries INDEXED BY deliveries_retrying WHERE state = 4 AND subscription_id > ?1
			UNION ALL
			SELECT (SELECT min(subscription_id) FROM deliveries INDEXED BY deliveries_retrying WHERE state = 4 AND subscription_id > waiting.id)
			FROM waiting WHERE waiting.id IS NOT NULL)
		SELECT id FROM waiting WHERE id IS NOT NULL`

	withRetries = withAnyRetries + ` AND (SELECT min(at) FROM deliveries INDEXED BY deliveries_retrying WHERE state = 4 AND subscription_id = waiting.id) <= ?2`
)

// DueSubscriptions are up to limit subscriptions, in the given slots and after
// the id after, that have an open delivery due at now; in the order of their ids.
func (db *DB) DueSubscriptions(ctx context.Context, slots []int, now time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error) {
	var wanted [feedmill.Slots]bool
	for _, slot := range slots {
		wanted[slot] = true
	}
	pending, err := db.subscriptionsWith(ctx, wanted, limit, withPending, after)
	if err != nil {
		return nil, err
	}
	retries, err := db.subscriptionsWith(ctx, wanted, limit, withRetries, after, toMillis(now))
	if err != nil {
		return nil, err
	}
	ids := append(pending, retries...)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids[:min(len(ids), limit)], nil
}

// subscriptionsWith are the first subscriptions in the slots wanted that a query finds.
func (db *DB) subscriptionsWith(ctx context.Context, wanted [feedmill.Slots]bool, limit int, query string, args ...any) ([]feedmill.ID, error) {
	rows, err := db.rows(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []feedmill.ID
	for len(ids) < limit && rows.Next() {
		var id feedmill.ID
		if err := rows.Scan(&id); err != nil {
			return nil, translate(err)
		}
		if wanted[feedmill.Slot(id)] {
			ids = append(ids, id)
		}
	}
	return ids, translate(rows.Err())
}

// A LIMIT that is a parameter by itself would have SQLite prepare the statement anew for
// every value, so these calculate it.
const (
	dueRetries = `SELECT ` + deliveryColumns + `, e.payload FROM deliveries d INDEXED BY deliveries_retrying CROSS JOIN events e ON e.seq = d.event_seq
		WHERE d.subscription_id = ?1 AND d.state = 4 AND d.at <= ?2 ORDER BY d.at, d.seq LIMIT ?3 + 0`

	duePending = `SELECT ` + deliveryColumns + `, e.payload FROM deliveries d INDEXED BY deliveries_pending CROSS JOIN events e ON e.seq = d.event_seq
		WHERE d.subscription_id = ?1 AND d.state = 2 AND d.seq >= ?2 ORDER BY d.seq LIMIT ?3 + 0`

	// inOrder are the open deliveries of an ordered subscription, and headOf is
	// the first of a resource.
	inOrder = `FROM deliveries INDEXED BY deliveries_ordered WHERE subscription_id = ?1 AND ordered = 1 AND (state = 2 OR state = 4)`
	headOf  = `(SELECT min(seq) ` + inOrder + ` AND resource_id = `

	// dueHeads steps over the index from one resource to the next and looks at
	// the first delivery of each, until there are enough.
	dueHeads = `WITH RECURSIVE resource (id) AS (
			SELECT min(resource_id) ` + inOrder + ` AND resource_id %s ?4
			UNION ALL
			SELECT (SELECT min(resource_id) ` + inOrder + ` AND resource_id > resource.id) FROM resource WHERE resource.id IS NOT NULL)
		SELECT ` + deliveryColumns + `, e.payload FROM resource CROSS JOIN deliveries d ON d.seq = ` + headOf + `resource.id)
		CROSS JOIN events e ON e.seq = d.event_seq WHERE d.state = 2 OR d.at <= ?2 LIMIT ?3 + 0`

	dueHeadsOf = `SELECT ` + deliveryColumns + `, e.payload FROM json_each(?4) CROSS JOIN deliveries d ON d.seq = ` + headOf + `json_each.value)
		CROSS JOIN events e ON e.seq = d.event_seq WHERE d.state = 2 OR d.at <= ?2 LIMIT ?3 + 0`

	// dueBehind is what is open of a resource behind a delivery.
	dueBehind = `SELECT ` + deliveryColumns + `, e.payload FROM deliveries d INDEXED BY deliveries_ordered CROSS JOIN events e ON e.seq = d.event_seq
		WHERE d.subscription_id = ?1 AND d.ordered = 1 AND (d.state = 2 OR d.state = 4) AND d.resource_id = ?2 AND d.seq > ?3 ORDER BY d.seq LIMIT ?4 + 0`

	dueHeadRetries = `SELECT ` + deliveryColumns + `, e.payload FROM deliveries d INDEXED BY deliveries_retrying CROSS JOIN events e ON e.seq = d.event_seq
		WHERE d.subscription_id = ?1 AND d.state = 4 AND d.at <= ?2 AND d.seq = ` + headOf + `d.resource_id) ORDER BY d.at, d.seq LIMIT ?3 + 0`
)

var dueFirstHeads, dueNextHeads = fmt.Sprintf(dueHeads, ">="), fmt.Sprintf(dueHeads, ">")

// Due lists open deliveries of a subscription that are due.
func (db *DB) Due(ctx context.Context, q feedmill.DueQuery) (due []feedmill.DueDelivery, err error) {
	select {
	case r := <-db.dueReaders:
		defer func() { db.dueReaders <- r }()
		return r.readDue(q)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readDue reads what Due returns.
func (d *direct) readDue(q feedmill.DueQuery) (due []feedmill.DueDelivery, err error) {
	if q.Heads {
		return d.readHeads(q)
	}
	from := int64(0)
	if q.From == "" {
		due, err = d.appendDue(nil, q.MaxBytes, dueRetries, q.Subscription, toMillis(q.Now), q.Limit)
		if err != nil || q.IsFull(due) {
			return due, err
		}
	} else if from, err = d.firstSeqFrom(q.From); err != nil {
		return nil, err
	}
	return d.appendDue(due, q.MaxBytes, duePending, q.Subscription, from, q.Limit-len(due))
}

// readHeads reads what Due returns of an ordered subscription.
func (d *direct) readHeads(q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	args := []any{q.Subscription, toMillis(q.Now), q.Limit}
	switch {
	case q.Retries:
		return d.appendDue(nil, q.MaxBytes, dueHeadRetries, args...)
	case len(q.Resources) > 0:
		resources, err := json.Marshal(q.Resources)
		if err != nil {
			return nil, err
		}
		heads, err := d.appendDue(nil, q.MaxBytes, dueHeadsOf, append(args, string(resources))...)
		if err != nil || q.Each <= 1 {
			return heads, err
		}
		return d.appendBehind(heads, q)
	case q.After != nil:
		return d.appendDue(nil, q.MaxBytes, dueNextHeads, append(args, *q.After)...)
	}
	return d.appendDue(nil, q.MaxBytes, dueFirstHeads, append(args, "")...)
}

// appendBehind appends what is behind heads, each resource as far as it is due.
func (d *direct) appendBehind(due []feedmill.DueDelivery, q feedmill.DueQuery) ([]feedmill.DueDelivery, error) {
	for _, head := range due[:len(due):len(due)] {
		if len(due) >= q.Limit || q.IsFull(due) {
			break
		}
		from := len(due)
		var err error
		due, err = d.appendDue(due, q.MaxBytes, dueBehind, q.Subscription, head.ResourceID, head.Seq, min(q.Each-1, q.Limit-from))
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(due[from:], func(next feedmill.DueDelivery) bool {
			return next.State == feedmill.DeliveryRetrying && next.DueAt.After(q.Now)
		}); i >= 0 {
			due = due[:from+i]
		}
	}
	return due, nil
}

// firstSeqFrom is the first delivery from an id on, whatever its state.
func (d *direct) firstSeqFrom(id feedmill.ID) (int64, error) {
	seq := int64(math.MaxInt64)
	err := d.each(firstSeqFrom, []any{id}, func(r *row) { seq = r.int() })
	return seq, err
}

// appendDue appends what a query finds, by deliveryColumns and the payload, until
// all payloads come to maxBytes where that is not zero.
func (d *direct) appendDue(due []feedmill.DueDelivery, maxBytes int, query string, args ...any) ([]feedmill.DueDelivery, error) {
	var damaged error
	bytes := 0
	for i := range due {
		bytes += len(due[i].Payload)
	}
	err := d.eachUntil(query, args, func(r *row) (enough bool) {
		// Most texts are those of the row before, and share its memory.
		var last, found feedmill.DueDelivery
		if len(due) > 0 {
			last = due[len(due)-1]
		}
		found.Seq = r.int()
		found.ID = feedmill.ID(r.text(""))
		found.Workspace = feedmill.ID(r.text(string(last.Workspace)))
		found.Subscription = feedmill.ID(r.text(string(last.Subscription)))
		found.Event = feedmill.ID(r.text(string(last.Event)))
		found.Type = r.text(last.Type)
		found.ResourceID = r.text(last.ResourceID)
		if err := (*storedState)(&found.State).Scan(r.int()); err != nil {
			damaged = err
		}
		found.Reason = r.text(last.Reason)
		found.Attempts, found.MaxAttempts = int(r.int()), int(r.int())
		found.DueAt = time.UnixMilli(r.int()).UTC()
		found.Payload = r.blob()
		found.CreatedAt = found.ID.Time()
		due = append(due, found)
		bytes += len(found.Payload)
		return maxBytes > 0 && bytes >= maxBytes
	})
	return due, errors.Join(err, damaged)
}

// OpenWork counts open deliveries, as far as feedmill.MaxCountedBacklog, and finds
// the oldest due time among those of subscriptions that are not paused, going from one
// subscription to the next.
func (db *DB) OpenWork(ctx context.Context, _ time.Time) (open int64, oldestDue time.Time, err error) {
	for _, counted := range []string{`deliveries_pending WHERE state = 2`, `deliveries_retrying WHERE state = 4`} {
		var n int64
		err := db.row(ctx, `SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY `+counted+` LIMIT ?)`, feedmill.MaxCountedBacklog-open).Scan(&n)
		if err != nil {
			return 0, time.Time{}, translate(err)
		}
		open += n
	}
	const sent = ` WHERE NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.id = w.id AND s.state = 'paused')`
	for _, oldest := range []string{
		`SELECT (SELECT at FROM deliveries WHERE seq = (
			SELECT min((SELECT min(seq) FROM deliveries INDEXED BY deliveries_pending WHERE state = 2 AND subscription_id = w.id)) FROM (` + withPending + `) w` + sent + `))`,
		`SELECT min((SELECT min(at) FROM deliveries INDEXED BY deliveries_retrying WHERE state = 4 AND subscription_id = w.id)) FROM (` + withAnyRetries + `) w` + sent,
	} {
		var at sql.NullInt64
		if err := db.row(ctx, oldest, "").Scan(&at); err != nil {
			return 0, time.Time{}, translate(err)
		}
		if due := fromMillis(at); at.Valid && (oldestDue.IsZero() || due.Before(oldestDue)) {
			oldestDue = due
		}
	}
	return open, oldestDue, nil
}
