package lake

import (
	"context"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

// takeIdleFor is a worker that is idle and reads a file. The pool is locked.
func (p *Pool) takeIdleFor(file *databaseFile) *process {
	for i, w := range p.idleDatabases {
		if w.database.path != file.path || w.database.engine != file.engine {
			continue
		}
		p.idleDatabases = slices.Delete(p.idleDatabases, i, i+1)
		if w.alive() && w.database.covers(file) {
			return w
		}
		w.kill()
		return nil
	}
	return nil
}

// keepIdleFor keeps a worker that reads a file, and ends the one that was not used
// for the longest time where they are too many. The pool is locked.
func (p *Pool) keepIdleFor(w *process) {
	p.idleDatabases = append(p.idleDatabases, w)
	if len(p.idleDatabases) > p.config.Workers {
		p.idleDatabases[0].kill()
		p.idleDatabases = slices.Delete(p.idleDatabases, 0, 1)
	}
}

// Databases reads DuckDB files of users: each in a process of its
// own that the kernel keeps from every other file, and which has the file open for
// one statement at a time.
type Databases struct{ pool *Pool }

// NewDatabases makes databases whose processes are a pool's.
func NewDatabases(p *Pool) Databases { return Databases{p} }

// Select runs a statement on a file, and yields runs of a vector for each of its
// columns. An error of the database is a [*wire.Failure].
func (d Databases) Select(ctx context.Context, file string, s duckdb.Statement, columns []feedmill.Column) iter.Seq2[[]columnar.Vector, error] {
	request := wire.Request{SQL: s.SQL, Args: s.Args, Guard: s.Guard, GuardText: s.GuardText, Inside: s.Inside, Format: wire.FormatArrow}
	for i := range columns {
		request.Names = append(request.Names, "f"+strconv.Itoa(i))
	}
	run := func(out io.Writer) error {
		_, err := d.pool.run(ctx, d.pool.databases, duckdbFile(file), request, out)
		return err
	}
	return func(yield func([]columnar.Vector, error) bool) {
		for batch, err := range batches(run) {
			var block []columnar.Vector
			if err == nil {
				block, err = vectors(batch, columns, nil)
			}
			if !yield(block, err) || err != nil {
				return
			}
		}
	}
}
