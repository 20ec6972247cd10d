package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/feedmill/feedmill/internal/store/record"
)

// tx is the transaction that the writing connection has open. Its statements
// stay prepared from one transaction to the next.
type tx struct {
	*direct
	// attempts is how many a delivery may make whose subscription does not say.
	attempts int
	stmts    map[string]*sql.Stmt
	// inserting are the rows that are being inserted, settling the values of
	// outcomes; both are kept for their memory.
	inserting rowBuffer
	settling  values
	// calls are those that are accepted as one, kept for their memory.
	calls []*acceptCall
	// fanout is how many deliveries each of the events had that were accepted
	// last.
	fanout int
	// matches are who listens to what, as this transaction has found it.
	matches    map[topic]matched
	matchCount int
}

func (t *tx) rollback(cause error) error {
	if t.inTransaction() {
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

// all reads every row with scan and closes the rows.
func all[T any](rows *sql.Rows, err error, scan func(record.Row) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, translate(err)
		}
		out = append(out, v)
	}
	return out, translate(rows.Err())
}

// row and rows read with a statement that is prepared once for each connection.
// A read is short, so it runs to its end even when nobody waits for it any more:
// making it stoppable costs two goroutines, which is more than most reads do.
func (db *DB) row(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	stmt, err := db.prepared(ctx, query)
	if err != nil {
		return db.reads.QueryRowContext(ctx, query, args...)
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (db *DB) rows(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	stmt, err := db.prepared(ctx, query)
	if err != nil {
		return nil, translate(err)
	}
	rows, err := stmt.QueryContext(ctx, args...)
	return rows, translate(err)
}

func (db *DB) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := db.stmts.Load(query); ok {
		return s.(*sql.Stmt), nil
	}
	s, err := db.reads.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if kept, loaded := db.stmts.LoadOrStore(query, s); loaded {
		s.Close()
		return kept.(*sql.Stmt), nil
	}
	return s, nil
}
