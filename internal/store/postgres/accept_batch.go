package postgres

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// acceptBatch is a transaction that accepts the events of calls, in four steps:
// claimAndMatch, findHolders, makeDeliveries and write.
type acceptBatch struct {
	calls []*acceptCall
	// holders are the events that hold the publishers' ids, and unclaimed the
	// ids that were not free.
	holders   map[publisherID]feedmill.ID
	unclaimed map[publisherID]bool
	// topics numbers what the events are about, and matches has for each of
	// those numbers the subscriptions to it.
	topics  map[topic]int
	matches [][]match
	// limits is how many of each are listed, and many which have more than that:
	// some call would make more deliveries than may be made at once.
	limits []int
	many   []bool
	// promised are the resources of which deliveries are promised already.
	promised map[resource]bool

	// What is to be written.
	seqs            sequence
	events          []acceptedEvent
	open, discarded []feedmill.Delivery
	ordered         []bool // which of those that are open
	promises        []promise
	filtered        []filteredEvent
}

// acceptedEvent is an event that is new, and the first and the last of its
// deliveries that do not stand apart.
type acceptedEvent struct {
	feedmill.Event
	first, last feedmill.ID
}

// publisherID is what no two events of a workspace share.
type publisherID struct {
	workspace feedmill.ID
	key       string
}

func newAcceptBatch(calls []*acceptCall) *acceptBatch {
	a := &acceptBatch{
		calls: calls, holders: make(map[publisherID]feedmill.ID), unclaimed: make(map[publisherID]bool), topics: make(map[topic]int),
	}
	for _, c := range calls {
		c.accepted, c.due = nil, nil
		uses := make(map[int]int)
		for _, e := range c.events {
			id := publisherID{e.Workspace, e.DedupeKey}
			if _, ok := a.holders[id]; !ok && e.DedupeKey != "" {
				a.holders[id], a.unclaimed[id] = e.ID, true
			}
			for _, t := range topicsOf(e) {
				if _, ok := a.topics[t]; !ok {
					a.topics[t] = len(a.topics)
					a.limits = append(a.limits, 0)
				}
				uses[a.topics[t]]++
			}
		}
		for i, n := range uses {
			a.limits[i] = max(a.limits[i], feedmill.MaxMadeAtOnce/n, fewMatches)
		}
	}
	a.matches, a.many, a.promised = make([][]match, len(a.topics)), make([]bool, len(a.topics)), make(map[resource]bool)
	return a
}

// claimAndMatch claims the publishers' ids and finds who listens.
func (a *acceptBatch) claimAndMatch(b *pgx.Batch) error {
	if len(a.holders) > 0 {
		a.claimPublisherIDs(b)
	}
	b.Queue(lookAtOrder)
	a.match(b)
	a.findPromised(b)
	// Taken after that, the numbers are behind those of what was promised and is
	// made by now.
	a.seqs.reserve(b, 1)
	return nil
}

// claimPublisherIDs notes the publishers' ids that are free. The order is the same in every
// transaction, so that none waits for another that waits for it.
func (a *acceptBatch) claimPublisherIDs(b *pgx.Batch) {
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
func (a *acceptBatch) findHolders(b *pgx.Batch) error {
	if len(a.unclaimed) == 0 {
		return nil
	}
	var workspaces, keys []string
	for id := range a.unclaimed {
		workspaces, keys = append(workspaces, string(id.workspace)), append(keys, id.key)
	}
	each(b.Queue(`SELECT workspace_id, dedupe_key, p.event_id
		FROM unnest($1::text[], $2::text[]) AS e (workspace_id, dedupe_key)
		CROSS JOIN LATERAL (SELECT event_id FROM publisher_ids p
			WHERE p.workspace_id = e.workspace_id AND p.dedupe_key = e.dedupe_key OFFSET 0) p`, workspaces, keys),
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

// makeDeliveries makes the deliveries of the events that are new, and takes the
// numbers that they need beyond those that have been taken.
func (a *acceptBatch) makeDeliveries(b *pgx.Batch) error {
	now := clock()
	for _, c := range a.calls {
		c.accepted = make([]feedmill.Accepted, 0, len(c.events))
		room := feedmill.MaxMadeAtOnce
		for _, e := range c.events {
			got := feedmill.Accepted{ID: e.ID, PublisherID: e.PublisherID, Type: e.Type}
			if holder, ok := a.holders[publisherID{e.Workspace, e.DedupeKey}]; ok && holder != e.ID {
				got.ID, got.Duplicate = holder, true
			} else {
				got.Promised = a.makeDeliveriesOf(e, c.maxAttempts, now, &room)
			}
			c.accepted = append(c.accepted, got)
		}
		c.opened = len(a.open)
	}
	if more := blocksFor(len(a.open)+len(a.discarded)) - len(a.seqs); more > 0 {
		a.seqs.reserve(b, more)
	}
	return nil
}

// makeDeliveriesOf makes the deliveries of an event, or promises them where there
// is no room for them.
func (a *acceptBatch) makeDeliveriesOf(e feedmill.Event, maxAttempts int, now time.Time, room *int) (promised bool) {
	fresh := acceptedEvent{Event: e}
	matches, many := a.matchesOf(e)
	if many || len(matches) > *room || !decided(e.Verdicts, matches) || a.waitsForPromised(e, matches) {
		a.events = append(a.events, fresh)
		a.promise(e, maxAttempts)
		return true
	}
	*room -= len(matches)
	a.open = slices.Grow(a.open, len(matches))
	var filtered []feedmill.ID
	for _, m := range matches {
		verdict, _ := e.Verdicts.Of(m.subscription, m.filter)
		if !verdict.Matches && verdict.Error == "" {
			filtered = append(filtered, m.subscription)
			continue
		}
		d := newDelivery(e, m.subscription, cmp.Or(m.attempts, maxAttempts), now)
		if !apart(d) {
			if fresh.first == "" {
				fresh.first = d.ID
			}
			fresh.last = d.ID
		}
		if m.disabled || verdict.Error != "" {
			a.discarded = append(a.discarded, discarded(d, discardReason(verdict, feedmill.DiscardedDisabled)))
			continue
		}
		a.open, a.ordered = append(a.open, d), append(a.ordered, m.ordered)
	}
	a.events = append(a.events, fresh)
	a.filtered = appendFiltered(a.filtered, e, filtered)
	return false
}

// write queues the events that are new, their deliveries and the kept responses.
func (a *acceptBatch) write(b *pgx.Batch) error {
	a.assignSeqs()
	insertEvents(b, a.events)
	insertOpen(b, a.open, a.ordered, false)
	insertDiscarded(b, a.discarded, false)
	insertPromises(b, a.promises)
	insertFiltered(b, a.filtered)
	return a.keepResponses(b)
}

// assignSeqs numbers the deliveries and hands those that are due to their calls.
func (a *acceptBatch) assignSeqs() {
	for i := range a.open {
		a.open[i].Seq = a.seqs.seq(i)
	}
	for i := range a.discarded {
		a.discarded[i].Seq = a.seqs.seq(len(a.open) + i)
	}
	payloads := make(map[feedmill.ID][]byte, len(a.events))
	for _, e := range a.events {
		payloads[e.ID] = e.Payload
	}
	from := 0
	for _, c := range a.calls {
		c.due = make([]feedmill.DueDelivery, 0, c.opened-from)
		for _, d := range a.open[from:c.opened] {
			c.due = append(c.due, feedmill.DueDelivery{Delivery: d, Payload: payloads[d.Event]})
		}
		from = c.opened
	}
}

// keepResponses makes the responses to keep. Like the publishers' ids they are
// written in the same order in every transaction.
func (a *acceptBatch) keepResponses(b *pgx.Batch) error {
	var responses []*feedmill.IdempotentResponse
	for _, c := range a.calls {
		if c.respond == nil {
			continue
		}
		if response := c.respond(c.accepted); response != nil {
			responses = append(responses, response)
		}
	}
	slices.SortFunc(responses, func(x, y *feedmill.IdempotentResponse) int {
		return strings.Compare(string(x.Workspace)+x.Key, string(y.Workspace)+y.Key)
	})
	for _, response := range responses {
		b.Queue(upsertResponse, responseValues(response)...).Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() == 0 {
				return feedmill.ErrIdempotencyKeyUsed
			}
			return nil
		})
	}
	return nil
}

// cachePayloads caches the payloads that will be read more than once, if any are.
func (a *acceptBatch) cachePayloads(cache *payloadCache) {
	for i := range a.events {
		if e := &a.events[i]; e.first != e.last {
			cache.put(e.ID, e.Payload)
		}
	}
}
