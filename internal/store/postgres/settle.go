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
// subscriptions, all or none; but those of deliveries that somebody has locked are
// left out, and named by a feedmill.LockedError. A delivery that is not open any
// more keeps its state, but its attempt is written; of one that is not there
// nothing is. To settle the same attempt again changes nothing. The deliveries of
// notices that are due are returned. Where a replica that is named may not have been the
// one to settle its deliveries any more, feedmill.ErrPassedOver says so.
func (db *DB) Settle(ctx context.Context, outcomes []feedmill.Outcome) ([]feedmill.DueDelivery, error) {
	if len(outcomes) == 0 {
		return nil, nil
	}
	if slices.ContainsFunc(outcomes, changesSubscription) {
		due, err := db.settleAlone(ctx, outcomes)
		if hasCode(err, lockNotAvailable) {
			return db.settleApart(ctx, outcomes)
		}
		return due, err
	}
	return nil, lockedAmong(outcomes, db.settles.do(ctx, outcomes))
}

// passedOver is the error for outcomes of which some were not found as they should be.
func passedOver(outcomes []feedmill.Outcome) error {
	if slices.ContainsFunc(outcomes, func(o feedmill.Outcome) bool { return o.By != "" }) {
		return feedmill.ErrPassedOver
	}
	return nil
}

// changesSubscription reports whether an outcome does more than end or move its
// delivery: such outcomes are rare and have a transaction of their own.
func changesSubscription(o feedmill.Outcome) bool {
	return o.Warn || o.Disable != "" || o.Notice != nil
}

// settleCalls settles the outcomes of all calls, or of none.
func (db *DB) settleCalls(ctx context.Context, calls [][]feedmill.Outcome) error {
	outcomes := slices.Concat(calls...)
	return db.withPartitions(ctx, deliveriesOf(outcomes), func() error {
		var noted map[feedmill.ID]time.Time
		steps, allFound := rounds(outcomes)
		first := steps[0]
		steps[0] = func(b *pgx.Batch) error {
			lock, countFailures := queueFailures(outcomes)
			lock(b)
			noted = db.successes.queue(b, outcomes)
			countFailures(b)
			return first(b)
		}
		err := db.pipeline(ctx, steps...)
		if hasCode(err, lockNotAvailable) {
			return db.settleFree(ctx, outcomes)
		}
		if err != nil {
			return err
		}
		db.successes.note(noted)
		if !allFound() {
			return passedOver(outcomes)
		}
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
func (db *DB) settleAlone(ctx context.Context, outcomes []feedmill.Outcome) (due []feedmill.DueDelivery, err error) {
	ids := deliveriesOf(outcomes)
	for _, o := range outcomes {
		if o.Notice != nil {
			ids = append(ids, o.Notice.ID, feedmill.FirstID(feedmill.PrefixDelivery, time.Now()))
		}
	}
	all := true
	err = db.withPartitions(ctx, ids, func() error {
		notices := db.newAcceptCall(nil, nil)
		err := db.write(ctx, func(tx tx) (err error) {
			all, err = tx.settle(ctx, outcomes, notices)
			return err
		})
		due = notices.due
		return err
	})
	if err != nil {
		return nil, err
	}
	if !all {
		return due, passedOver(outcomes)
	}
	return due, nil
}

// settle settles outcomes and accepts their notices. It reports whether all of them
// found their delivery as it should be.
func (t tx) settle(ctx context.Context, outcomes []feedmill.Outcome, notices *acceptCall) (all bool, err error) {
	if _, err := t.exec(ctx, `SET LOCAL lock_timeout = `+milliseconds(steadyLockPatience)); err != nil {
		return false, err
	}
	if err := t.lockSubscriptions(ctx, outcomes); err != nil {
		return false, err
	}
	owned, err := t.inOwnSlots(ctx, outcomes)
	if err != nil || len(owned) == 0 {
		return false, err
	}
	steps, allFound := rounds(owned)
	if err := t.send(ctx, steps...); err != nil {
		return false, err
	}
	for _, o := range owned {
		if err := t.settleSubscription(ctx, o, notices); err != nil {
			return false, err
		}
	}
	all = len(owned) == len(outcomes) && allFound()
	if len(notices.events) == 0 {
		return all, nil
	}
	return all, t.accept(ctx, notices)
}
