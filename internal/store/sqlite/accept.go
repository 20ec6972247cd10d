package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Accept writes events and their deliveries, and the answer to keep.
func (db *DB) Accept(ctx context.Context, events []feedmill.Event, maxAttempts int, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error) {
	a := &acceptance{events: events, maxAttempts: maxAttempts}
	c := &change{repeatable: true, done: make(chan error, 1), do: func(tx *tx) (err error) {
		a.accepted, a.due, err = tx.accept(events, maxAttempts)
		if err != nil || keep == nil {
			return err
		}
		return tx.keep(keep(a.accepted))
	}}
	if keep == nil {
		c.accepts = a
	}
	if err := db.enqueue(ctx, c); err != nil {
		return nil, nil, err
	}
	return a.accepted, a.due, nil
}

// acceptance is a change that accepts events and does nothing else.
type acceptance struct {
	events      []feedmill.Event
	maxAttempts int
	// What came of it.
	accepted []feedmill.Accepted
	due      []feedmill.DueDelivery
}

// maxMerged bounds how many events are accepted as one: each may have a great
// many deliveries, and those of all are in memory until all are accepted.
const maxMerged = 16

// joins reports whether an acceptance can be made as one with others.
func (a *acceptance) joins(all []*acceptance) bool {
	events := len(a.events)
	for _, other := range all {
		if other.maxAttempts != a.maxAttempts {
			return false
		}
		events += len(other.events)
	}
	return len(all) == 0 || events <= maxMerged
}

// acceptAll makes acceptances that join as one, which costs less than one by one.
func (t *tx) acceptAll(all []*acceptance) error {
	if len(all) == 0 {
		return nil
	}
	events := all[0].events
	if len(all) > 1 {
		events = nil
		for _, a := range all {
			events = append(events, a.events...)
		}
	}
	accepted, due, err := t.accept(events, all[0].maxAttempts)
	if err != nil {
		return err
	}
	t.fanOut = len(due) / max(len(events), 1)
	for _, a := range all {
		a.accepted, accepted = accepted[:len(a.events)], accepted[len(a.events):]
		n := 0
		for _, e := range a.events {
			for n < len(due) && due[n].Event == e.ID {
				n++
			}
		}
		a.due, due = due[:n:n], due[n:]
	}
	return nil
}

// insertEvents writes events, and insertDeliveries deliveries that are pending.
var (
	insertEvents = &rowsInsert{
		into: `INSERT INTO events (id, workspace_id, publisher_id, type, resource_id, source_id, happened_at, payload) VALUES `,
		row:  `(?, ?, ?, ?, ?, ?, ?, ?)`,
	}
	insertDeliveries = &rowsInsert{
		into: `INSERT INTO deliveries (id, workspace_id, subscription_id, event_seq, type, resource_id, ordered, budget, at, state, reason, attempts)
			VALUES `,
		row: `(?, ?, ?, ?, ?, ?, ?, ?, ?, 2, '', 0)`,
	}
)

// accept writes events and their deliveries.
func (t *tx) accept(events []feedmill.Event, maxAttempts int) ([]feedmill.Accepted, []feedmill.DueDelivery, error) {
	accepted := make([]feedmill.Accepted, 0, len(events))
	fresh := make([]feedmill.Event, 0, len(events))
	for _, e := range events {
		first, err := t.firstOf(e)
		if err != nil {
			return nil, nil, err
		}
		accepted = append(accepted, feedmill.Accepted{ID: first, PublisherID: e.PublisherID, Type: e.Type, Duplicate: first != e.ID})
		if first == e.ID {
			fresh = append(fresh, e)
		}
	}
	if len(fresh) == 0 {
		return accepted, nil, nil
	}
	r := t.rowsInto(insertEvents)
	for i := range fresh {
		e := &fresh[i]
		r.text(string(e.ID))
		r.text(string(e.Workspace))
		r.text(e.PublisherID)
		r.text(e.Type)
		r.text(e.ResourceID)
		r.text(string(e.Source))
		r.int(e.Timestamp.UnixMilli())
		r.blob(e.Payload)
		if err := r.end(); err != nil {
			return nil, nil, err
		}
	}
	if err := r.write(); err != nil {
		return nil, nil, err
	}
	due, err := t.deliver(fresh, r.last-int64(len(fresh)), maxAttempts)
	return accepted, due, err
}

// deliver writes the deliveries of events, of which the first has the seq after
// the one given.
func (t *tx) deliver(events []feedmill.Event, seq int64, maxAttempts int) (due []feedmill.DueDelivery, err error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	r := t.rowsInto(insertDeliveries)
	// written gives the deliveries that wait their numbers.
	numbered := 0
	written := func() {
		for ; numbered < len(due); numbered++ {
			due[numbered].Seq = r.last - int64(len(due)-1-numbered)
		}
	}
	for _, e := range events {
		seq++
		matches, err := t.match(e)
		if err != nil {
			return nil, err
		}
		if due == nil {
			due = make([]feedmill.DueDelivery, 0, len(matches)*len(events))
		}
		for _, m := range matches {
			d := feedmill.Delivery{
				Workspace: e.Workspace, Subscription: m.subscription, Event: e.ID, Type: e.Type, ResourceID: e.ResourceID,
				State: feedmill.DeliveryPending, MaxAttempts: maxAttempts, DueAt: now,
			}
			if m.disabled {
				d.State, d.Reason = feedmill.DeliveryDiscarded, becauseDisabled
				if err := r.write(); err != nil {
					return nil, err
				}
				written()
				if err := t.insertDelivery(&d, seq, m.ordered); err != nil {
					return nil, err
				}
				continue
			}
			d.ID = feedmill.NewID(feedmill.PrefixDelivery)
			d.CreatedAt = d.ID.Time()
			due = append(due, feedmill.DueDelivery{Delivery: d, Payload: e.Payload})
			r.text(string(d.ID))
			r.text(string(d.Workspace))
			r.text(string(d.Subscription))
			r.int(seq)
			r.text(d.Type)
			r.text(d.ResourceID)
			r.bool(m.ordered)
			r.int(int64(maxAttempts))
			r.int(now.UnixMilli())
			if err := r.end(); err != nil {
				return nil, err
			}
			if r.count == 0 {
				written()
			}
		}
	}
	if err := r.write(); err != nil {
		return nil, err
	}
	written()
	return due, nil
}

// firstOf answers the first event that had the dedupe key of e: e itself where
// the key is new or none.
func (t *tx) firstOf(e feedmill.Event) (first feedmill.ID, err error) {
	if e.DedupeKey == "" {
		return e.ID, nil
	}
	n, err := t.exec(`INSERT INTO publisher_ids (workspace_id, dedupe_key, event_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		string(e.Workspace), e.DedupeKey, string(e.ID))
	if err != nil || n == 1 {
		return e.ID, err
	}
	err = t.row(`SELECT event_id FROM publisher_ids WHERE workspace_id = ? AND dedupe_key = ?`, e.Workspace, e.DedupeKey).Scan(&first)
	return first, translate(err)
}
