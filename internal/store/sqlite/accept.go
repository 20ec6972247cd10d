package sqlite

import (
	"context"

	"github.com/feedmill/feedmill"
)

// Accept writes events and a delivery of each to every subscription that
// matches, and the response that respond, where it is not nil, makes of them.
func (db *DB) Accept(ctx context.Context, events []feedmill.Event, respond func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error) {
	call := &acceptCall{events: events}
	c := &change{repeatable: true, done: make(chan error, 1), do: func(tx *tx) (err error) {
		call.accepted, call.due, err = tx.accept(events)
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
	events []feedmill.Event

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
		events += len(other.events)
	}
	return len(calls) == 0 || events <= maxMerged
}

// acceptCalls makes calls that join as one, which costs less than one by one.
func (t *tx) acceptCalls(calls []*acceptCall) error {
	if len(calls) == 0 {
		return nil
	}
	events, each := calls[0].events, make([]int, len(calls))
	if len(calls) > 1 {
		events = make([]feedmill.Event, 0, maxMerged)
	}
	for i, c := range calls {
		if each[i] = len(c.events); len(calls) > 1 {
			events = append(events, c.events...)
		}
	}
	accepted, due, err := t.acceptTogether(events, each)
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

// accept writes events and their deliveries, or the promise of them.
func (t *tx) accept(events []feedmill.Event) ([]feedmill.Accepted, []feedmill.DueDelivery, error) {
	return t.acceptTogether(events, []int{len(events)})
}

// freshEvent is an event that is no duplicate, of one of the calls.
type freshEvent struct {
	feedmill.Event
	place, call int
}

// acceptTogether accepts the events of several calls, which have so many each.
func (t *tx) acceptTogether(events []feedmill.Event, each []int) ([]feedmill.Accepted, []feedmill.DueDelivery, error) {
	accepted := make([]feedmill.Accepted, 0, len(events))
	fresh := make([]freshEvent, 0, len(events))
	call, left := 0, each[0]
	for i, e := range events {
		for ; left == 0; left = each[call] {
			call++
		}
		left--
		holder, err := t.claimPublisherID(e)
		if err != nil {
			return nil, nil, err
		}
		accepted = append(accepted, feedmill.Accepted{ID: holder, PublisherID: e.PublisherID, Type: e.Type, Duplicate: holder != e.ID})
		if holder == e.ID {
			fresh = append(fresh, freshEvent{e, i, call})
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
	due, err := t.makeDeliveries(fresh, r.last-int64(len(fresh)), accepted)
	return accepted, due, err
}

// makeDeliveries writes the deliveries of events, of which the first has the seq
// after the one given. Past as many as a call may make at once, those of an event
// are promised.
func (t *tx) makeDeliveries(events []freshEvent, seq int64, accepted []feedmill.Accepted) ([]feedmill.DueDelivery, error) {
	w := t.writeDeliveries(t.attempts)
	call, room := -1, 0
	alike := countAlike(events)
	for _, e := range events {
		if seq++; e.call != call {
			call, room = e.call, feedmill.MaxMadeAtOnce
		}
		n := 1
		if alike != nil {
			n = alike[e.alike()]
		}
		found, err := t.match(e.Event, n)
		if err != nil {
			return nil, err
		}
		promised := found.more || len(found.to) > room || found.filtered && !decided(e.Verdicts, found.to)
		if !promised && found.anyOrdered() {
			if promised, err = t.isPromised(e.Workspace, e.ResourceID); err != nil {
				return nil, err
			}
		}
		if promised {
			accepted[e.place].Promised = true
			err = t.promise(e.Event, seq)
		} else {
			to := found.to
			if found.filtered {
				if to, err = w.filter(&e.Event, seq, to, e.Verdicts); err != nil {
					return nil, err
				}
			}
			room -= len(to)
			if w.due == nil {
				w.due = make([]feedmill.DueDelivery, 0, min(len(to)*len(events), feedmill.MaxMadeAtOnce))
			}
			err = w.add(&e.Event, seq, to)
		}
		if err != nil {
			return nil, err
		}
	}
	return w.end()
}

// alikeEvents are those of a call that are for the same subscriptions.
type alikeEvents struct {
	topic
	call int
}

func (e freshEvent) alike() alikeEvents {
	name, _, resource := e.Match()
	return alikeEvents{topic{e.Workspace, name, resource}, e.call}
}

// countAlike counts the events that are alike, where they can be so many that it
// matters.
func countAlike(events []freshEvent) map[alikeEvents]int {
	if len(events)*(fewMatches+1) <= feedmill.MaxMadeAtOnce {
		return nil
	}
	alike := make(map[alikeEvents]int)
	for _, e := range events {
		alike[e.alike()]++
	}
	return alike
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
