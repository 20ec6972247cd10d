package postgres

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
)

// rounds are the steps that write outcomes. In each round a delivery occurs
// once, so that the second of two outcomes finds what the first has made of it.
// When they are done, allFound reports whether all deliveries were as they should be.
func rounds(outcomes []feedmill.Outcome) (steps []func(*pgx.Batch) error, allFound func() bool) {
	var all []*round
	for len(outcomes) > 0 {
		r := &round{}
		var rest []feedmill.Outcome
		seen := make(map[feedmill.ID]struct{}, len(outcomes))
		for i := range outcomes {
			o := &outcomes[i]
			if _, ok := seen[o.Delivery]; ok {
				rest = append(rest, *o)
				continue
			}
			seen[o.Delivery] = struct{}{}
			switch {
			case arrivedAtOnce(o):
				r.arrived = append(r.arrived, o)
			case o.State.Open():
				r.moved = append(r.moved, o)
			default:
				r.ended = append(r.ended, o)
			}
		}
		all, steps = append(all, r), append(steps, r.writeOpen, r.writeRest)
		outcomes = rest
	}
	return steps, func() bool { return !slices.ContainsFunc(all, (*round).missed) }
}

// missed reports whether a delivery was not open, not in the slot of who settles it, or
// had been tried more often than was thought.
func (r *round) missed() bool {
	return r.foundArrived < len(r.arrived) || r.found < len(r.ended)+len(r.moved)
}

// arrivedAtOnce reports whether the first attempt of a delivery succeeded, as
// nearly every one does.
func arrivedAtOnce(o *feedmill.Outcome) bool {
	return o.State == feedmill.DeliveryDelivered && o.Reason == "" && o.Attempt != nil && o.Attempt.Number == 1 && len(o.Attempt.Body) == 0
}

// round writes outcomes of different deliveries.
type round struct {
	arrived, ended, moved []*feedmill.Outcome
	// found and foundArrived count the outcomes that found their delivery as
	// they should, of all and of those in arrived.
	found, foundArrived int
}

// writeOpen writes the outcomes of deliveries that are open, as nearly all are.
func (r *round) writeOpen(b *pgx.Batch) error {
	r.queue(b, endArrived, arrivedArrays, r.arrived, &r.foundArrived)
	r.queue(b, endOpen, endedArrays, r.ended, &r.found)
	r.queue(b, moveOpen, attemptArrays, r.moved, &r.found)
	return nil
}

// writeRest writes what is left, and then the bodies of responses. What has been
// written already it passes over.
func (r *round) writeRest(b *pgx.Batch) error {
	rest := slices.Concat(r.ended, r.moved)
	var found int
	if r.foundArrived < len(r.arrived) {
		// Some had been tried before, or had ended.
		r.queue(b, endOpen, endedArrays, r.arrived, &found)
		rest = append(rest, r.arrived...)
	}
	tried := slices.DeleteFunc(rest, func(o *feedmill.Outcome) bool { return o.Attempt == nil })
	if r.found < len(tried) {
		r.queue(b, countEnded, attemptArrays, tried, &found)
	}
	insertBodies(b, tried)
	return nil
}

// queue runs one of the statements of settle_statements.go and counts the rows that it writes. The
// order is the one in which every transaction locks deliveries.
func (r *round) queue(b *pgx.Batch, statement string, values func([]*feedmill.Outcome) []any, outcomes []*feedmill.Outcome, count *int) {
	if len(outcomes) == 0 {
		return
	}
	slices.SortFunc(outcomes, func(x, y *feedmill.Outcome) int { return strings.Compare(string(x.Delivery), string(y.Delivery)) })
	b.Queue(statement, values(outcomes)...).Exec(func(tag pgconn.CommandTag) error {
		*count += int(tag.RowsAffected())
		return nil
	})
}
