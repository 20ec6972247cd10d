package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// Somebody who locks a delivery or a subscription for long must not keep others
// from being settled with it. A transaction that has waited for a lock for too
// long is done again without what is locked.

// settleFree settles the outcomes of deliveries that nobody has locked. The others
// are named by a feedmill.LockedError. The last success of a subscription that
// is locked is written with a later one.
func (db *DB) settleFree(ctx context.Context, outcomes []feedmill.Outcome) error {
	locked := make(map[feedmill.ID]struct{})
	err := pgx.BeginFunc(ctx, db.steady, func(t pgx.Tx) error {
		var free []feedmill.Outcome
		subscriptions, err := freeOf(ctx, t, "subscriptions", outcomes, func(o *feedmill.Outcome) feedmill.ID { return o.Subscription })
		if err != nil {
			return err
		}
		deliveries, err := freeOf(ctx, t, "open_deliveries", outcomes, func(o *feedmill.Outcome) feedmill.ID { return o.Delivery })
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			if !deliveries(o.Delivery) {
				locked[o.Delivery] = struct{}{}
				continue
			}
			if !subscriptions(o.Subscription) {
				o.Succeeded, o.Failed = false, false
			}
			free = append(free, o)
		}
		if len(free) == 0 {
			return nil
		}
		steps, _ := rounds(free)
		return tx{t}.send(ctx, append([]func(*pgx.Batch) error{func(b *pgx.Batch) error {
			new(successes).queue(b, free)
			_, countFailures := queueFailures(free)
			countFailures(b)
			return nil
		}}, steps...)...)
	})
	if hasCode(err, lockNotAvailable) {
		for _, o := range outcomes {
			locked[o.Delivery] = struct{}{}
		}
		err = nil
	}
	if err == nil && len(locked) > 0 {
		err = &feedmill.LockedError{Deliveries: locked}
	}
	return translate(err)
}

// freeOf locks those rows that nobody has locked, and returns a function that
// reports whether one of them is among these, or is not there at all.
func freeOf(ctx context.Context, t pgx.Tx, table string, outcomes []feedmill.Outcome, id func(*feedmill.Outcome) feedmill.ID) (func(feedmill.ID) bool, error) {
	ids := make([]string, len(outcomes))
	for i := range outcomes {
		ids[i] = string(id(&outcomes[i]))
	}
	locked := make(map[feedmill.ID]bool)
	for _, query := range []struct {
		text   string
		locked bool
	}{
		{`SELECT id FROM ` + table + ` WHERE id = ANY($1::text[])`, true},
		{`SELECT id FROM ` + table + ` WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE SKIP LOCKED`, false},
	} {
		rows, err := t.Query(ctx, query.text, ids)
		found, err := all(rows, err, func(row record.Row) (id feedmill.ID, err error) { return id, row.Scan(&id) })
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			locked[id] = query.locked
		}
	}
	return func(id feedmill.ID) bool { return !locked[id] }, nil
}

// lockedAmong is an error of a shared transaction, as far as it is about these
// outcomes.
func lockedAmong(outcomes []feedmill.Outcome, err error) error {
	if errors.Is(err, feedmill.ErrPassedOver) {
		return passedOver(outcomes)
	}
	var e *feedmill.LockedError
	if !errors.As(err, &e) {
		return err
	}
	ours := make(map[feedmill.ID]struct{})
	for i := range outcomes {
		if _, ok := e.Deliveries[outcomes[i].Delivery]; ok {
			ours[outcomes[i].Delivery] = struct{}{}
		}
	}
	if len(ours) == 0 {
		return nil
	}
	return &feedmill.LockedError{Deliveries: ours}
}

// settleApart settles outcomes of which some change their subscription, each of
// those in a transaction of its own, and all others together.
func (db *DB) settleApart(ctx context.Context, outcomes []feedmill.Outcome) (due []feedmill.DueDelivery, err error) {
	locked := make(map[feedmill.ID]struct{})
	passed := false
	var others []feedmill.Outcome
	for _, o := range outcomes {
		if !changesSubscription(o) {
			others = append(others, o)
			continue
		}
		more, err := db.settleAlone(ctx, []feedmill.Outcome{o})
		if hasCode(err, lockNotAvailable) {
			locked[o.Delivery] = struct{}{}
			continue
		}
		if errors.Is(err, feedmill.ErrPassedOver) {
			passed, err = true, nil
		}
		if err != nil {
			return due, err
		}
		due = append(due, more...)
	}
	var e *feedmill.LockedError
	if _, err := db.Settle(ctx, others); errors.As(err, &e) {
		for id := range e.Deliveries {
			locked[id] = struct{}{}
		}
	} else if errors.Is(err, feedmill.ErrPassedOver) {
		passed = true
	} else if err != nil {
		return due, err
	}
	switch {
	case len(locked) > 0:
		return due, &feedmill.LockedError{Deliveries: locked}
	case passed:
		return due, feedmill.ErrPassedOver
	}
	return due, nil
}

// inOwnSlots are the outcomes that are the word of who has the slot, or that count
// whoever says so.
func (t tx) inOwnSlots(ctx context.Context, outcomes []feedmill.Outcome) (owned []feedmill.Outcome, err error) {
	type owner struct {
		slot    int
		replica string
	}
	rows, err := t.Query(ctx, `SELECT slot, owner FROM slots WHERE owner IS NOT NULL`)
	owners, err := all(rows, translate(err), func(row record.Row) (o owner, err error) { return o, row.Scan(&o.slot, &o.replica) })
	if err != nil {
		return nil, err
	}
	var of [feedmill.Slots]string
	for _, o := range owners {
		of[o.slot] = o.replica
	}
	for _, o := range outcomes {
		if o.By == "" || of[feedmill.Slot(o.Subscription)] == o.By {
			owned = append(owned, o)
		}
	}
	return owned, nil
}
