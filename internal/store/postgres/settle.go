package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// maxSharedOutcomes bounds how many outcomes share a transaction.
const maxSharedOutcomes = 1000

// Settle writes outcomes, each with its attempt, and what they mean for their
// subscriptions, all or none. A delivery that is not open any more keeps its
// state, but its attempt is written; of one that is not there nothing is. To
// settle the same attempt again changes nothing. The deliveries of notices are
// answered.
func (db *DB) Settle(ctx context.Context, outcomes []feedmill.Outcome, maxAttempts int) ([]feedmill.DueDelivery, error) {
	if len(outcomes) == 0 {
		return nil, nil
	}
	if slices.ContainsFunc(outcomes, changesSubscription) {
		return db.settleAlone(ctx, outcomes, maxAttempts)
	}
	return nil, db.settles.do(ctx, outcomes)
}

// changesSubscription reports whether an outcome does more than end or move its
// delivery: such outcomes are rare and have a transaction of their own.
func changesSubscription(o feedmill.Outcome) bool {
	return o.Warn || o.Disable != "" || o.Notice != nil
}

// settleTogether settles the outcomes of all calls, or of none.
func (db *DB) settleTogether(ctx context.Context, calls [][]feedmill.Outcome) error {
	outcomes := slices.Concat(calls...)
	return db.withRoom(ctx, deliveriesOf(outcomes), func() error {
		var noted map[feedmill.ID]time.Time
		steps := rounds(outcomes)
		first := steps[0]
		steps[0] = func(b *pgx.Batch) error {
			noted = db.successes.queue(b, outcomes)
			return first(b)
		}
		if err := db.pipeline(ctx, steps...); err != nil {
			return err
		}
		db.successes.note(noted)
		return nil
	})
}

func deliveriesOf(outcomes []feedmill.Outcome) []feedmill.ID {
	ids := make([]feedmill.ID, len(outcomes))
	for i, o := range outcomes {
		ids[i] = o.Delivery
	}
	return ids
}

// settleAlone settles outcomes of which some warn, disable or tell something.
func (db *DB) settleAlone(ctx context.Context, outcomes []feedmill.Outcome, maxAttempts int) (due []feedmill.DueDelivery, err error) {
	ids := deliveriesOf(outcomes)
	for _, o := range outcomes {
		if o.Notice != nil {
			ids = append(ids, o.Notice.ID, feedmill.FirstID(feedmill.PrefixDelivery, time.Now()))
		}
	}
	err = db.withRoom(ctx, ids, func() error {
		p := &publication{maxAttempts: maxAttempts}
		err := db.write(ctx, func(tx tx) error { return tx.settle(ctx, outcomes, p) })
		due = p.due
		return err
	})
	if err != nil {
		return nil, err
	}
	return due, nil
}

// settle settles outcomes and publishes their notices as p.
func (t tx) settle(ctx context.Context, outcomes []feedmill.Outcome, p *publication) error {
	if err := t.lockSubscriptions(ctx, outcomes); err != nil {
		return err
	}
	if err := t.send(ctx, rounds(outcomes)...); err != nil {
		return err
	}
	for _, o := range outcomes {
		if err := t.changeFor(ctx, o, p); err != nil {
			return err
		}
	}
	if len(p.events) == 0 {
		return nil
	}
	return t.accept(ctx, p)
}
