package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"

	"github.com/feedmill/feedmill"
)

// change is a piece of work for the writing connection.
type change struct {
	do         func(*tx) error
	repeatable bool
	// accept, where it is not nil, is all that do does.
	accept *acceptCall
	taken  atomic.Bool
	done   chan error
}

// write runs do in a transaction and returns once it is durable. Changes that
// arrive while a commit is under way share the next one, and so its fsync; a
// lone change does not wait for company. A change that fails is undone by
// itself and the others go through.
func (db *DB) write(ctx context.Context, do func(*tx) error) error {
	return db.enqueueChange(ctx, &change{do: do, done: make(chan error, 1)})
}

// writeRepeatable is write for a do that may run twice, of which the second
// time counts. Such changes are not prepared to be undone one by one, which
// would cost as much as half of the work: where one fails, all are undone and
// run again with care.
func (db *DB) writeRepeatable(ctx context.Context, do func(*tx) error) error {
	return db.enqueueChange(ctx, &change{do: do, repeatable: true, done: make(chan error, 1)})
}

// enqueueChange returns once a change is made and durable, or failed and undone.
func (db *DB) enqueueChange(ctx context.Context, c *change) error {
	select {
	case db.queue <- c:
	case <-db.stop:
		return errClosing()
	case <-ctx.Done():
		return ctx.Err()
	}
	var gaveUp error
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		gaveUp = ctx.Err()
	case <-db.stopped:
		gaveUp = errClosing()
	}
	if c.taken.CompareAndSwap(false, true) {
		return gaveUp // it had not begun, and now never will
	}
	return <-c.done
}

func errClosing() error {
	return &feedmill.Error{Kind: feedmill.ErrUnavailable, Detail: "The store is shutting down. Retry the request."}
}

// maxShared bounds how many changes share a commit, and with it how long the
// first of them waits for the last; maxDeliveries about how many deliveries they
// make, which are in memory until then.
const (
	maxShared     = 512
	maxDeliveries = 16_000
)

// runWriter commits the changes that are queued, until the store is closed.
func (db *DB) runWriter(d *direct, checkpoints *checkpointer) {
	defer close(db.stopped)
	defer d.close()
	defer checkpoints.close()
	t := &tx{direct: d, attempts: db.options.Attempts, stmts: make(map[string]*sql.Stmt), matches: make(map[topic]matched)}
	batch := make([]*change, 0, maxShared)
	for {
		batch = batch[:0]
		select {
		case c := <-db.queue:
			batch = append(batch, c)
		case <-db.stop:
			// What had been queued by now still has a waiting caller.
			select {
			case c := <-db.queue:
				batch = append(batch, c)
			default:
				return
			}
		}
		deliveries := t.weight(batch[0])
	fill:
		for len(batch) < maxShared && deliveries < maxDeliveries {
			select {
			case c := <-db.queue:
				batch = append(batch, c)
				deliveries += t.weight(c)
			default:
				break fill
			}
		}
		t.commit(batch)
		checkpoints.committed(d)
	}
}

// weight is about how many deliveries a change makes.
func (t *tx) weight(c *change) int {
	if c.accept == nil {
		return 0
	}
	return len(c.accept.events) * t.fanout
}

// commit makes changes in one transaction and tells their callers.
func (t *tx) commit(batch []*change) {
	results := make([]error, len(batch))
	err := t.transact(batch, results)
	for i, c := range batch {
		if results[i] == nil {
			results[i] = err
		}
		c.done <- results[i]
	}
}

// transact fills in what became of each change. An error of its own means that the
// whole transaction is undone.
func (t *tx) transact(batch []*change, results []error) error {
	t.forgetMatches()
	if _, err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	for i, c := range batch {
		if !c.taken.CompareAndSwap(false, true) {
			results[i] = context.Canceled
		}
	}
	together, err := t.runTogether(batch, results)
	if err != nil {
		return t.rollback(err)
	}
	for i, c := range batch {
		if results[i] != nil || c.repeatable && together {
			continue
		}
		if results[i], err = t.runAlone(c); err != nil {
			return t.rollback(err)
		}
	}
	if _, err := t.exec(`COMMIT`); err != nil {
		return t.rollback(err)
	}
	afterCommit()
	return nil
}

// runTogether runs the repeatable changes at the beginning of a transaction. It
// reports whether all went through; otherwise the transaction has begun anew.
func (t *tx) runTogether(batch []*change, results []error) (bool, error) {
	err := t.runRepeatable(batch, results)
	if err == nil || errors.Is(err, feedmill.ErrUnavailable) {
		return err == nil, err
	}
	t.rollback(err)
	t.forgetMatches()
	_, err = t.exec(`BEGIN IMMEDIATE`)
	return false, err
}

// runRepeatable runs the repeatable changes up to the first that fails.
func (t *tx) runRepeatable(batch []*change, results []error) error {
	defer func() {
		clear(t.calls[:cap(t.calls)]) // what it refers to is others'
		t.calls = t.calls[:0]
	}()
	for i, c := range batch {
		switch {
		case results[i] != nil || !c.repeatable:
		case c.accept != nil:
			if !c.accept.joins(t.calls) {
				if err := t.acceptCalls(t.calls); err != nil {
					return err
				}
				t.calls = t.calls[:0]
			}
			t.calls = append(t.calls, c.accept)
		default:
			if err := c.do(t); err != nil {
				return err
			}
		}
	}
	return t.acceptCalls(t.calls)
}

// runAlone runs a change so that it can be undone by itself. The error that is not
// the change's result ends the transaction.
func (t *tx) runAlone(c *change) (result, err error) {
	if _, err := t.exec(`SAVEPOINT one`); err != nil {
		return nil, err
	}
	result = c.do(t)
	if errors.Is(result, feedmill.ErrUnavailable) {
		// A full disk or a failing one: SQLite may have undone the whole
		// transaction by itself.
		return result, result
	}
	if result != nil {
		t.forgetMatches()
		if _, err := t.exec(`ROLLBACK TO one`); err != nil {
			return result, err
		}
	}
	_, err = t.exec(`RELEASE one`)
	return result, err
}
