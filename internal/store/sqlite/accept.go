package sqlite

import (
	"cmp"
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Accept writes events and a delivery of each to every subscription that
// matches, and the response that respond, where it is not nil, makes of them.
func (db *DB) Accept(ctx context.Context, events []feedmill.Event, maxAttempts int, respond func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error) {
	call := &acceptCall{events: events, maxAttempts: maxAttempts}
	c := &change{repeatable: true, done: make(chan error, 1), do: func(tx *tx) (err error) {
		call.accepted, call.due, err = tx.accept(events, maxAttempts)
		if err != nil || respond == nil {
			return err
		}
		return tx.keepResponse(respond(call.accepted))
	}}
	if respond == nil {
		c.accept = call
	}
	if err := db.enqueueChange(ctx, c); err != nil {
		return nil, nil, err
	}
	return call.accepted, call.due, nil
}

// acceptCall is a call of [DB.Accept] and what became of it.
type acceptCall struct {
	events      []feedmill.Event
	maxAttempts int

	accepted []feedmill.Accepted
	due      []feedmill.DueDelivery
}

// maxMerged bounds how many events are accepted as one: each may have a great
// many deliveries, and those of all are in memory until all are accepted.
const maxMerged = 16

// joins reports whether a call can be made as one with others.
func (c *acceptCall) joins(calls []*acceptCall) bool {
	events := len(c.events)
	for _, other := range calls {
		if other.maxAttempts != c.maxAttempts {
			return false
		}
		events += len(other.events)
	}
	return len(calls) == 0 || events <= maxMerged
}

// acceptCalls makes calls that join as one, which costs less than one by one.
func (t *tx) acceptCalls(calls []*acceptCall) error {
	if len(calls) == 0 {
		return nil
	}
	events := calls[0].events
	if len(calls) > 1 {
		events = nil
		for _, c := range calls {
			events = append(events, c.events...)
		}
	}
	accepted, due, err := t.accept(events, calls[0].maxAttempts)
	if err != nil {
		return err
	}
	t.fanout = len(due) / max(len(events), 1)
	for _, c := range calls {
		c.accepted, accepted = accepted[:len(c.events)], accepted[len(c.events):]
		n := 0
		for _, e := range c.events {
			for n < len(due) && due[n].Event == e.ID {
				n++
			}
		}
		c.due, due = due[:n:n], due[n:]
	}
	return nil
}

// eventRows are events, and pendingRows deliveries that are pending.
var (
	eventRows = &multiInsert{
		into: `INSERT INTO events (id, workspace_id, publisher_id, type, resource_id, source_id, happened_at, payload) VALUES `,
		row:  `(?, ?, ?, ?, ?, ?, ?, ?)`,
	}
	pendingRows = &multiInsert{
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
		holder, err := t.claimPublisherID(e)
		if err != nil {
			return nil, nil, err
		}
		accepted = append(accepted, feedmill.Accepted{ID: holder, PublisherID: e.PublisherID, Type: e.Type, Duplicate: holder != e.ID})
		if holder == e.ID {
			fresh = append(fresh, e)
		}
	}
	if len(fresh) == 0 {
		return accepted, nil, nil
	}
	r := t.insertInto(eventRows)
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
		if err := r.endRow(); err != nil {
			return nil, nil, err
		}
	}
	if err := r.flush(); err != nil {
		return nil, nil, err
	}
	due, err := t.insertDeliveries(fresh, r.last-int64(len(fresh)), maxAttempts)
	return accepted, due, err
}

// insertDeliveries writes the deliveries of events, of which the first has the seq after
// the one given.
func (t *tx) insertDeliveries(events []feedmill.Event, seq int64, maxAttempts int) (due []feedmill.DueDelivery, err error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	r := t.insertInto(pendingRows)
	// assignSeqs gives the deliveries that have been written their numbers.
	numbered := 0
	assignSeqs := func() {
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
				State: feedmill.DeliveryPending, MaxAttempts: cmp.Or(m.attempts, maxAttempts), DueAt: now,
			}
			if m.disabled {
				d.State, d.Reason = feedmill.DeliveryDiscarded, reasonDisabled
				if err := r.flush(); err != nil {
					return nil, err
				}
				assignSeqs()
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
			r.int(int64(d.MaxAttempts))
			r.int(now.UnixMilli())
			if err := r.endRow(); err != nil {
				return nil, err
			}
			if r.count == 0 {
				assignSeqs()
			}
		}
	}
	if err := r.flush(); err != nil {
		return nil, err
	}
	assignSeqs()
	return due, nil
}

// claimPublisherID claims the publisher's id of an event and returns the event
// that holds it: the event itself where the id was free or there is none.
func (t *tx) claimPublisherID(e feedmill.Event) (holder feedmill.ID, err error) {
	if e.DedupeKey == "" {
		return e.ID, nil
	}
	n, err := t.exec(`INSERT INTO publisher_ids (workspace_id, dedupe_key, event_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		string(e.Workspace), e.DedupeKey, string(e.ID))
	if err != nil || n == 1 {
		return e.ID, err
	}
	err = t.row(`SELECT event_id FROM publisher_ids WHERE workspace_id = ? AND dedupe_key = ?`, e.Workspace, e.DedupeKey).Scan(&holder)
	return holder, translate(err)
}
