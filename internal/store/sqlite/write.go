package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill"
)

// change is a piece of work for the writing connection.
type change struct {
	do         func(*tx) error
	repeatable bool
	taken      atomic.Bool
	done       chan error
}

// write runs do in a transaction and returns once it is durable. Changes that
// arrive while a commit is under way share the next one, and so its fsync; a
// lone change does not wait for company. A change that fails is undone by
// itself and the others go through.
func (db *DB) write(ctx context.Context, do func(*tx) error) error {
	return db.enqueue(ctx, &change{do: do, done: make(chan error, 1)})
}

// writeRepeatable is write for a do that may run twice, of which the second
// time counts. Such changes are not prepared to be undone one by one, which
// would cost as much as half of the work: where one fails, all are undone and
// run again with care.
func (db *DB) writeRepeatable(ctx context.Context, do func(*tx) error) error {
	return db.enqueue(ctx, &change{do: do, repeatable: true, done: make(chan error, 1)})
}

func (db *DB) enqueue(ctx context.Context, c *change) error {
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
	t := &tx{conn: conn, stmts: make(map[string]*sql.Stmt), execs: make(map[string]*sqlite3.SQLiteStmt), matches: make(map[topic][]match)}
	conn.Raw(func(c any) error {
		t.raw = c.(*sqlite3.SQLiteConn)
		return nil
	})
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
	// raw is the driver's own connection below conn, and execs its
	// statements: those that run for every event do without database/sql in
	// between, which costs as much as a small INSERT itself.
	raw   *sqlite3.SQLiteConn
	execs map[string]*sqlite3.SQLiteStmt
	// args and values are those of the last statement, kept for their room.
	args   []any
	values []driver.NamedValue
	// pruned is the last event that Prune is done with.
	pruned int64
	// matches are who listens to what, as this transaction has found it.
	matches map[topic][]match
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
	clear(t.matches)
	if _, err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	for i, c := range batch {
		if !c.taken.CompareAndSwap(false, true) {
			results[i] = context.Canceled
		}
	}
	together, err := t.together(batch, results)
	if err != nil {
		return t.rollback(err)
	}
	for i, c := range batch {
		if results[i] != nil || c.repeatable && together {
			continue
		}
		if results[i], err = t.alone(c); err != nil {
			return t.rollback(err)
		}
	}
	if _, err := t.exec(`COMMIT`); err != nil {
		return t.rollback(err)
	}
	afterCommit()
	return nil
}

// together runs the repeatable changes at the beginning of a transaction. It
// reports whether all went through; otherwise the transaction has begun anew.
func (t *tx) together(batch []*change, results []error) (bool, error) {
	for i, c := range batch {
		if results[i] != nil || !c.repeatable {
			continue
		}
		err := c.do(t)
		if errors.Is(err, feedmill.ErrUnavailable) {
			return false, err
		}
		if err != nil {
			t.rollback(err)
			clear(t.matches)
			_, err := t.exec(`BEGIN IMMEDIATE`)
			return false, err
		}
	}
	return true, nil
}

// alone runs a change so that it can be undone by itself. The error that is not
// the change's result ends the transaction.
func (t *tx) alone(c *change) (result, err error) {
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
		clear(t.matches)
		if _, err := t.exec(`ROLLBACK TO one`); err != nil {
			return result, err
		}
	}
	_, err = t.exec(`RELEASE one`)
	return result, err
}

func (t *tx) rollback(cause error) error {
	if !t.raw.AutoCommit() {
		t.exec(`ROLLBACK`)
	}
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
	res, err := t.result(query, args)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return n, translate(err)
}

// insert inserts one row and answers the number that it got.
func (t *tx) insert(query string, args ...any) (int64, error) {
	res, err := t.result(query, args)
	if err != nil {
		return 0, err
	}
	n, err := res.LastInsertId()
	return n, translate(err)
}

func (t *tx) result(query string, args []any) (driver.Result, error) {
	s, values, err := t.bind(query, args)
	if err != nil {
		return nil, err
	}
	res, err := s.ExecContext(context.Background(), values)
	return res, translate(err)
}

// each gives every row of a query to scan, in values that are the driver's own
// until the next row.
func (t *tx) each(query string, args []any, scan func([]driver.Value)) error {
	s, values, err := t.bind(query, args)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), values)
	if err != nil {
		return translate(err)
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return translate(err)
		}
		scan(row)
	}
}

func (t *tx) bind(query string, args []any) (*sqlite3.SQLiteStmt, []driver.NamedValue, error) {
	s, ok := t.execs[query]
	if !ok {
		prepared, err := t.raw.Prepare(query)
		if err != nil {
			return nil, nil, translate(fmt.Errorf("prepare: %w", err))
		}
		s = prepared.(*sqlite3.SQLiteStmt)
		t.execs[query] = s
	}
	// The driver has used the values by the time that a statement is done.
	values := t.values[:0]
	for i, a := range args {
		v, err := driverValue(a)
		if err != nil {
			return nil, nil, err
		}
		values = append(values, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	t.values = values
	return s, values, nil
}

// driverValue is a value as the driver binds it.
func driverValue(a any) (driver.Value, error) {
	switch v := a.(type) {
	case string, []byte, int64, bool, nil:
		return v, nil
	case feedmill.ID:
		return string(v), nil
	case int:
		return int64(v), nil
	case sql.NullInt64:
		return v.Value()
	}
	return driver.DefaultParameterConverter.ConvertValue(a)
}

func (t *tx) row(query string, args ...any) *sql.Row {
	s, err := t.stmt(query)
	if err != nil {
		return t.conn.QueryRowContext(context.Background(), query, args...)
	}
	return s.QueryRowContext(context.Background(), args...)
}

func (t *tx) rows(query string, args ...any) (*sql.Rows, error) {
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(context.Background(), args...)
	return rows, translate(err)
}
