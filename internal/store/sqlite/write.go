package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill"
)

// change is a piece of work for the writing connection.
type change struct {
	do    func(*tx) error
	taken atomic.Bool
	done  chan error
}

// write runs do in a transaction and returns once it is durable. Changes that
// arrive while a commit is under way share the next one, and so its fsync; a
// lone change does not wait for company. A change that fails is undone by
// itself and the others go through.
func (db *DB) write(ctx context.Context, do func(*tx) error) error {
	c := &change{do: do, done: make(chan error, 1)}
	select {
	case db.queue <- c:
	case <-db.stop:
		return closed()
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
		gaveUp = closed()
	}
	if c.taken.CompareAndSwap(false, true) {
		return gaveUp // it had not begun, and now never will
	}
	return <-c.done
}

func closed() error {
	return &feedmill.Error{Kind: feedmill.ErrUnavailable, Detail: "The store is shutting down; try again."}
}

// maxShared bounds how many changes share a commit, and with it how long the
// first of them waits for the last.
const maxShared = 512

func (db *DB) commitChanges(conn *sql.Conn) {
	defer close(db.stopped)
	defer conn.Close()
	t := &tx{conn: conn, stmts: make(map[string]*sql.Stmt)}
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
	fill:
		for len(batch) < maxShared {
			select {
			case c := <-db.queue:
				batch = append(batch, c)
			default:
				break fill
			}
		}
		t.commit(batch)
	}
}

// tx is the transaction that the writing connection has open. Its statements
// stay prepared from one transaction to the next.
type tx struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func (t *tx) commit(batch []*change) {
	results := make([]error, len(batch))
	err := t.run(batch, results)
	for i, c := range batch {
		if results[i] == nil {
			results[i] = err
		}
		c.done <- results[i]
	}
}

// run fills in what became of each change. An error of its own means that the
// whole transaction is undone.
func (t *tx) run(batch []*change, results []error) error {
	if _, err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	for i, c := range batch {
		if !c.taken.CompareAndSwap(false, true) {
			results[i] = context.Canceled
			continue
		}
		if _, err := t.exec(`SAVEPOINT one`); err != nil {
			return t.rollback(err)
		}
		results[i] = c.do(t)
		if results[i] == nil {
			if _, err := t.exec(`RELEASE one`); err != nil {
				return t.rollback(err)
			}
			continue
		}
		if errors.Is(results[i], feedmill.ErrUnavailable) {
			// A full disk or a failing one: SQLite may have undone
			// the whole transaction by itself.
			return t.rollback(results[i])
		}
		if _, err := t.exec(`ROLLBACK TO one`); err != nil {
			return t.rollback(err)
		}
	}
	if _, err := t.exec(`COMMIT`); err != nil {
		return t.rollback(err)
	}
	return nil
}

func (t *tx) rollback(cause error) error {
	t.conn.Raw(func(driver any) error {
		c, ok := driver.(*sqlite3.SQLiteConn)
		if !ok || c.AutoCommit() {
			return nil
		}
		_, err := c.Exec(`ROLLBACK`, nil)
		return err
	})
	return cause
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.stmts[query]; ok {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, translate(fmt.Errorf("prepare: %w", err))
	}
	t.stmts[query] = s
	return s, nil
}

// exec runs a statement and answers how many rows it changed. It takes no
// context: a statement on the writing connection is never interrupted, since
// other changes share its transaction.
func (t *tx) exec(query string, args ...any) (int64, error) {
	s, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	res, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, translate(err)
	}
	n, err := res.RowsAffected()
	return n, translate(err)
}

func (t *tx) row(query string, args ...any) *sql.Row {
	s, err := t.stmt(query)
	if err != nil {
		return t.conn.QueryRowContext(context.Background(), query, args...)
	}
	return s.QueryRowContext(context.Background(), args...)
}
