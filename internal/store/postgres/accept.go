package postgres

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

const (
	// maxSharedBytes bounds what calls publish in one shared transaction.
	maxSharedBytes = 1 << 20
	// An event and a delivery count for so many bytes, however short the
	// payload is.
	eventBytes    = 1024
	deliveryBytes = 512
)

// publication is one call of [DB.Accept] and what became of it.
type publication struct {
	events      []feedmill.Event
	maxAttempts int
	keep        func([]feedmill.Accepted) *feedmill.IdempotentResponse

	accepted []feedmill.Accepted
	due      []feedmill.DueDelivery
	// opened counts the deliveries that are due of this call and of those
	// before it in the transaction.
	opened int
}

// weight is about how many bytes a transaction has to hold for a call.
func (db *DB) weight(p *publication) (bytes int) {
	for i := range p.events {
		bytes += len(p.events[i].Payload) + eventBytes
	}
	if len(p.events) > 0 {
		// All events of a call are of one workspace.
		bytes += len(p.events) * deliveryBytes * db.fanouts.of(p.events[0].Workspace)
	}
	return bytes
}

// Accept writes events and a delivery of each to every subscription that
// matches. An event whose DedupeKey is known is a duplicate and written
// nowhere. keep, where not nil, is asked for the answer to keep in the
// transaction; where other calls share that transaction it may be asked again.
// The deliveries that are due are answered in the order of their Seq.
func (db *DB) Accept(ctx context.Context, events []feedmill.Event, maxAttempts int, keep func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error) {
	p := &publication{events: events, maxAttempts: maxAttempts, keep: keep}
	if err := db.accepts.do(ctx, p); err != nil {
		return nil, nil, err
	}
	return p.accepted, p.due, nil
}

// acceptTogether accepts the events of all calls, or of none, in two trips to
// the server: one to find out what is new and who listens, one to write. One
// more is needed where there are duplicates, and one where an answer must be
// kept.
func (db *DB) acceptTogether(ctx context.Context, calls []*publication) error {
	ids := []feedmill.ID{feedmill.FirstID(feedmill.PrefixDelivery, time.Now())}
	kept := false
	for _, p := range calls {
		for _, e := range p.events {
			ids = append(ids, e.ID)
		}
		kept = kept || p.keep != nil
	}
	return db.withRoom(ctx, ids, func() error {
		a := newAcceptance(calls)
		steps := []func(*pgx.Batch) error{a.ask, a.findHolders, a.match, a.write}
		if kept {
			// Whether an answer is kept already must be known before
			// the commit.
			steps = append(steps, func(*pgx.Batch) error { return nil })
		}
		if err := db.pipeline(ctx, steps...); err != nil {
			return err
		}
		a.remember(&db.recent)
		for _, p := range calls {
			if len(p.events) > 0 {
				db.fanouts.note(p.events[0].Workspace, len(p.due), len(p.events))
			}
		}
		return nil
	})
}

// accept accepts events inside a transaction that does other things as well.
func (t tx) accept(ctx context.Context, p *publication) error {
	a := newAcceptance([]*publication{p})
	return t.send(ctx, a.ask, a.findHolders, a.match, a.write)
}

// acceptance is a transaction that accepts events.
type acceptance struct {
	calls []*publication
	// holders are the events that hold the publishers' ids, and unclaimed the
	// ids that were not free.
	holders   map[publisherID]feedmill.ID
	unclaimed map[publisherID]bool
	// topics are what the events match, and listeners those who match it.
	topics    map[topic]int
	listeners [][]listener

	// What is to be written.
	seqs            sequence
	events          []acceptedEvent
	open, discarded []feedmill.Delivery
}

// acceptedEvent is an event that is new, and the first and the last of its
// deliveries that do not stand apart.
type acceptedEvent struct {
	feedmill.Event
	first, last feedmill.ID
}

type publisherID struct {
	workspace feedmill.ID
	key       string
}

func newAcceptance(calls []*publication) *acceptance {
	a := &acceptance{
		calls: calls, holders: make(map[publisherID]feedmill.ID), unclaimed: make(map[publisherID]bool), topics: make(map[topic]int),
	}
	for _, p := range calls {
		p.accepted, p.due = nil, nil
		for _, e := range p.events {
			id := publisherID{e.Workspace, e.DedupeKey}
			if _, ok := a.holders[id]; !ok && e.DedupeKey != "" {
				a.holders[id], a.unclaimed[id] = e.ID, true
			}
			for _, t := range topicsOf(e) {
				if _, ok := a.topics[t]; !ok {
					a.topics[t] = len(a.topics)
				}
			}
		}
	}
	a.listeners = make([][]listener, len(a.topics))
	return a
}

// ask claims the publishers' ids and finds who listens.
func (a *acceptance) ask(b *pgx.Batch) error {
	if len(a.holders) > 0 {
		a.claim(b)
	}
	a.seqs.take(b, 1)
	var workspaces, names, resources []string
	var numbers []int32
	for t, i := range a.topics {
		workspaces, names, resources = append(workspaces, string(t.workspace)), append(names, t.name), append(resources, t.resource)
		numbers = append(numbers, int32(i))
	}
	each(b.Queue(`SELECT e.number, s.id, s.state = 'disabled'
		FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[]) AS e (workspace_id, topic, resource_id, number)
		JOIN subscription_topics t USING (workspace_id, topic, resource_id)
		JOIN subscriptions s ON s.id = t.subscription_id`, workspaces, names, resources, numbers),
		func(row record.Row) error {
			var i int
			var l listener
			if err := row.Scan(&i, &l.subscription, &l.disabled); err != nil {
				return err
			}
			a.listeners[i] = append(a.listeners[i], l)
			return nil
		})
	return nil
}

// claim notes the publishers' ids that are free. The order is the same in every
// transaction, so that none waits for another that waits for it.
func (a *acceptance) claim(b *pgx.Batch) {
	var workspaces, keys, events []string
	for id, event := range a.holders {
		workspaces, keys, events = append(workspaces, string(id.workspace)), append(keys, id.key), append(events, string(event))
	}
	each(b.Queue(`INSERT INTO publisher_ids (workspace_id, dedupe_key, event_id)
		SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS e (workspace_id, dedupe_key, event_id)
		ORDER BY 1, 2 ON CONFLICT DO NOTHING RETURNING workspace_id, dedupe_key`, workspaces, keys, events),
		func(row record.Row) error {
			var id publisherID
			if err := row.Scan(&id.workspace, &id.key); err != nil {
				return err
			}
			delete(a.unclaimed, id)
			return nil
		})
}

// findHolders learns whose the publishers' ids are that were not free.
func (a *acceptance) findHolders(b *pgx.Batch) error {
	if len(a.unclaimed) == 0 {
		return nil
	}
	var workspaces, keys []string
	for id := range a.unclaimed {
		workspaces, keys = append(workspaces, string(id.workspace)), append(keys, id.key)
	}
	each(b.Queue(`SELECT workspace_id, dedupe_key, p.event_id
		FROM unnest($1::text[], $2::text[]) AS e (workspace_id, dedupe_key)
		JOIN publisher_ids p USING (workspace_id, dedupe_key)`, workspaces, keys),
		func(row record.Row) error {
			var id publisherID
			var holder feedmill.ID
			if err := row.Scan(&id.workspace, &id.key, &holder); err != nil {
				return err
			}
			a.holders[id] = holder
			return nil
		})
	return nil
}

// match makes the deliveries of the events that are new, and takes the numbers
// that they need beyond those that have been taken.
func (a *acceptance) match(b *pgx.Batch) error {
	now := clock()
	for _, p := range a.calls {
		p.accepted = make([]feedmill.Accepted, 0, len(p.events))
		for _, e := range p.events {
			got := feedmill.Accepted{ID: e.ID, PublisherID: e.PublisherID, Type: e.Type}
			if holder, ok := a.holders[publisherID{e.Workspace, e.DedupeKey}]; ok && holder != e.ID {
				got.ID, got.Duplicate = holder, true
			} else {
				a.deliver(e, p.maxAttempts, now)
			}
			p.accepted = append(p.accepted, got)
		}
		p.opened = len(a.open)
	}
	if more := blocksFor(len(a.open)+len(a.discarded)) - len(a.seqs); more > 0 {
		a.seqs.take(b, more)
	}
	return nil
}

// deliver makes the deliveries of an event.
func (a *acceptance) deliver(e feedmill.Event, maxAttempts int, now time.Time) {
	fresh := acceptedEvent{Event: e}
	listeners := a.listenersOf(e)
	a.open = slices.Grow(a.open, len(listeners))
	for _, l := range listeners {
		d := newDelivery(e, l.subscription, maxAttempts, now)
		if !apart(d) {
			if fresh.first == "" {
				fresh.first = d.ID
			}
			fresh.last = d.ID
		}
		if l.disabled {
			d.State, d.Reason, d.EndedAt = feedmill.DeliveryDiscarded, reasonDisabled, d.CreatedAt
			a.discarded = append(a.discarded, d)
			continue
		}
		a.open = append(a.open, d)
	}
	a.events = append(a.events, fresh)
}

// write queues the events that are new, their deliveries and the kept answers.
func (a *acceptance) write(b *pgx.Batch) error {
	a.number()
	queueEvents(b, a.events)
	queueOpen(b, a.open, false)
	queueDiscarded(b, a.discarded)
	return a.keepAnswers(b)
}

// number numbers the deliveries and hands those that are due to their calls.
func (a *acceptance) number() {
	for i := range a.open {
		a.open[i].Seq = a.seqs.number(i)
	}
	for i := range a.discarded {
		a.discarded[i].Seq = a.seqs.number(len(a.open) + i)
	}
	payloads := make(map[feedmill.ID][]byte, len(a.events))
	for _, e := range a.events {
		payloads[e.ID] = e.Payload
	}
	from := 0
	for _, p := range a.calls {
		p.due = make([]feedmill.DueDelivery, 0, p.opened-from)
		for _, d := range a.open[from:p.opened] {
			p.due = append(p.due, feedmill.DueDelivery{Delivery: d, Payload: payloads[d.Event]})
		}
		from = p.opened
	}
}

// remember remembers the payloads that will be asked for more than once, if any
// are.
func (a *acceptance) remember(r *recent) {
	for i := range a.events {
		if e := &a.events[i]; e.first != e.last {
			r.put(e.ID, e.Payload)
		}
	}
}

// keepAnswers asks for the answers to keep. Like the publishers' ids they are
// written in the same order in every transaction.
func (a *acceptance) keepAnswers(b *pgx.Batch) error {
	var answers []*feedmill.IdempotentResponse
	for _, p := range a.calls {
		if p.keep == nil {
			continue
		}
		if response := p.keep(p.accepted); response != nil {
			answers = append(answers, response)
		}
	}
	slices.SortFunc(answers, func(x, y *feedmill.IdempotentResponse) int {
		return strings.Compare(string(x.Workspace)+x.Key, string(y.Workspace)+y.Key)
	})
	for _, response := range answers {
		b.Queue(keepAnswer, keepValues(response)...).Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() == 0 {
				return feedmill.ErrIdempotencyKeyUsed
			}
			return nil
		})
	}
	return nil
}
