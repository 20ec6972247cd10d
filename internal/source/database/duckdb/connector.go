// Package duckdb reads files of DuckDB.
//
// DuckDB does not run here: an [Engine] runs it in a process that can read the
// file and nothing else. The process lives as long as one statement, so that
// whoever keeps the file can write it in between.
package duckdb

import (
	"context"
	"iter"
	"path/filepath"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	dialect "github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Engine runs statements on files of DuckDB, which it opens to be read only.
type Engine interface {
	// Select yields runs of a vector for each column of a statement. When ctx ends
	// the statement does, too. An error that has a method FailedAt is DuckDB's: it
	// returns "open" where the file could not be opened, and "guard" where the guard
	// of the statement did not hold.
	Select(ctx context.Context, file string, s dialect.Statement, columns []feedmill.Column) iter.Seq2[[]columnar.Vector, error]
}

// Connector opens files of DuckDB.
type Connector struct{ Engine Engine }

// Open makes ready to read a file.
func (c Connector) Open(_ context.Context, config database.Config) (database.Database, error) {
	config = config.WithDefaults()
	return &file{engine: c.Engine, path: config.Path, timeout: config.StatementTimeout, temp: config.Temp}, nil
}

// file is a database.
type file struct {
	engine  Engine
	path    string
	timeout time.Duration
	temp    string
}

func (f *file) name() string { return filepath.Base(f.path) }

// Close does nothing: no process is left.
func (*file) Close() error { return nil }

// each runs a statement and calls a function with the rows that come, within the
// time that there is.
func (f *file) each(ctx context.Context, view string, s dialect.Statement, columns []feedmill.Column, fn func([]columnar.Vector) error) error {
	bounded, cancel := context.WithTimeoutCause(ctx, f.timeout, errTimeout)
	defer cancel()
	for run, err := range f.engine.Select(bounded, f.path, s, columns) {
		if err != nil {
			return f.failure(ctx, bounded, err, view)
		}
		if err := fn(run); err != nil {
			return err
		}
	}
	return nil
}

// texts runs a statement whose columns are all texts, and returns its rows.
func (f *file) texts(ctx context.Context, view, sql string, columns int, args ...string) (rows [][]string, err error) {
	return f.textsOf(ctx, view, dialect.Statement{SQL: sql, Args: args}, columns)
}

func (f *file) textsOf(ctx context.Context, view string, s dialect.Statement, columns int) (rows [][]string, err error) {
	all := make([]feedmill.Column, columns)
	for i := range all {
		all[i] = feedmill.Column{Type: columnar.TypeText}
	}
	err = f.each(ctx, view, s, all, func(run []columnar.Vector) error {
		for i := range run[0].Len {
			row := make([]string, columns)
			for k := range row {
				row[k] = string(run[k].Text(i))
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// Ping opens the file.
func (f *file) Ping(ctx context.Context) error {
	_, err := f.texts(ctx, "", "SELECT 'yes'", 1)
	return err
}
