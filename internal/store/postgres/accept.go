package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

const (
	// maxSharedBytes bounds what calls publish in one shared transaction.
	maxSharedBytes = 1 << 20
	// An event and a delivery count for so many bytes, however short the
	// payload is.
	eventBytes    = 1024
	deliveryBytes = 512
)

// acceptCall is a call of [DB.Accept] and what became of it.
type acceptCall struct {
	events      []feedmill.Event
	maxAttempts int
	respond     func([]feedmill.Accepted) *feedmill.IdempotentResponse

	accepted []feedmill.Accepted
	due      []feedmill.DueDelivery
	// opened counts the deliveries that are due of this call and of those
	// before it in the transaction.
	opened int
}

func (db *DB) newAcceptCall(events []feedmill.Event, respond func([]feedmill.Accepted) *feedmill.IdempotentResponse) *acceptCall {
	return &acceptCall{events: events, maxAttempts: db.options.Attempts, respond: respond}
}

// weight is about how many bytes a transaction has to hold for a call.
func (db *DB) weight(c *acceptCall) (bytes int) {
	for i := range c.events {
		bytes += len(c.events[i].Payload) + eventBytes
	}
	if len(c.events) > 0 {
		// All events of a call are of one workspace.
		bytes += len(c.events) * deliveryBytes * db.fanouts.estimate(c.events[0].Workspace)
	}
	return bytes
}

// Accept writes events and a delivery of each to every subscription that
// matches, and the response that respond, where it is not nil, makes of them. An
// event whose DedupeKey is known is a duplicate and written nowhere. Where other
// calls share the transaction respond may be called again. The deliveries that
// are due are in the order of their Seq.
func (db *DB) Accept(ctx context.Context, events []feedmill.Event, respond func([]feedmill.Accepted) *feedmill.IdempotentResponse) ([]feedmill.Accepted, []feedmill.DueDelivery, error) {
	call := db.newAcceptCall(events, respond)
	if err := db.accepts.do(ctx, call); err != nil {
		return nil, nil, err
	}
	return call.accepted, call.due, nil
}

// acceptCalls accepts the events of all calls, or of none, in two trips to the
// server: one to find out what is new and who listens, one to write. One more is
// needed where there are duplicates, and one where a response must be kept.
func (db *DB) acceptCalls(ctx context.Context, calls []*acceptCall) error {
	ids := partitionIDs(nil)
	keeps := false
	for _, c := range calls {
		for i := range c.events {
			ids = append(ids, c.events[i].ID)
		}
		keeps = keeps || c.respond != nil
	}
	// A publisher's id can be locked by a replica that was frozen after it had
	// claimed it. That ends before this gives up.
	patient, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	try := func() error {
		batch := newAcceptBatch(calls)
		steps := []func(*pgx.Batch) error{batch.claimAndMatch, batch.findHolders, batch.makeDeliveries, batch.write}
		if keeps {
			// Whether a response is kept already must be known before the
			// commit.
			steps = append(steps, func(*pgx.Batch) error { return nil })
		}
		if err := db.pipeline(ctx, steps...); err != nil {
			return err
		}
		batch.cachePayloads(&db.payloads)
		for _, c := range calls {
			if len(c.events) > 0 {
				db.fanouts.note(c.events[0].Workspace, len(c.due), len(c.events))
			}
		}
		return nil
	}
	return db.withPartitions(ctx, ids, func() error {
		for {
			if err := try(); !hasCode(err, lockNotAvailable) || patient.Err() != nil {
				return err
			}
		}
	})
}

// accept accepts events inside a transaction that does other things as well.
func (t tx) accept(ctx context.Context, c *acceptCall) error {
	batch := newAcceptBatch([]*acceptCall{c})
	return t.send(ctx, batch.claimAndMatch, batch.findHolders, batch.makeDeliveries, batch.write)
}
