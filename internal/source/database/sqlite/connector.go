// Package sqlite reads files of SQLite.
//
// SQLite does not run here: an [Engine] runs it in a process that can read the file
// and nothing else. A column has the type that it is declared with where all of its
// values are of that type, and else one that holds them all.
package sqlite

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
	"github.com/feedmill/feedmill/internal/source/database"
)

// Engine runs statements on files of SQLite, which it opens to be read only.
type Engine interface {
	// Select runs a statement and calls a function for every row. The cells are gone
	// when it returns. When ctx ends the statement does, too. An error of SQLite is a
	// [*dialect.Error].
	Select(ctx context.Context, file string, s dialect.Statement, row func([]dialect.Cell) error) error
}

// Connector opens files of SQLite.
type Connector struct{ Engine Engine }

// Open makes ready to read a file.
func (c Connector) Open(_ context.Context, config database.Config) (database.Database, error) {
	config = config.WithDefaults()
	return &file{engine: c.Engine, path: config.Path, timeout: config.StatementTimeout}, nil
}

// file is a database.
type file struct {
	engine  Engine
	path    string
	timeout time.Duration
	known   known
}

// Close does nothing: the file is open for one statement at a time.
func (*file) Close() error { return nil }

// read calls a function with the time that it may take.
func (f *file) read(ctx context.Context, view string, fn func(context.Context) error) error {
	bounded, cancel := context.WithTimeoutCause(ctx, f.timeout, errTimeout)
	defer cancel()
	return f.failure(ctx, bounded, fn(bounded), view)
}

// each runs a statement and calls a function for every row.
func (f *file) each(ctx context.Context, statement string, args []string, row func([]dialect.Cell) error) error {
	return f.engine.Select(ctx, f.path, dialect.Statement{SQL: statement, Args: args}, row)
}

// Ping reads the beginning of the file.
func (f *file) Ping(ctx context.Context) error {
	return f.read(ctx, "", func(ctx context.Context) error {
		return f.each(ctx, "SELECT count(*) FROM sqlite_schema", nil, func([]dialect.Cell) error { return nil })
	})
}

const selectViews = `SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`

// Views lists the tables and views.
func (f *file) Views(ctx context.Context) (views []database.View, err error) {
	err = f.read(ctx, "", func(ctx context.Context) error {
		var tables []counted
		if views, tables, err = f.list(ctx); err != nil {
			return err
		}
		return f.estimate(ctx, views, tables)
	})
	return views, err
}

// list lists the tables and views without their numbers of rows, and the tables whose rows can be counted.
func (f *file) list(ctx context.Context) (views []database.View, tables []counted, err error) {
	err = f.each(ctx, selectViews, nil, func(row []dialect.Cell) error {
		v := database.View{Name: database.ViewName("", string(row[0].Text), true), Kind: database.KindTable, RowEstimate: -1}
		if string(row[1].Text) == "view" {
			v.Kind = database.KindView
		}
		if string(row[1].Text) == "table" {
			tables = append(tables, counted{string(row[0].Text), len(views), !isTrue(row[2])})
		}
		views = append(views, v)
		return nil
	})
	return views, tables, err
}

// Table describes a view, for which its values are looked at.
func (f *file) Table(ctx context.Context, view string, rules feedmill.Rules) (database.Table, error) {
	schema, name, ok := database.ParseViewName(view)
	before, stamp := f.known.find(f, name)
	if before != nil && schema == "" {
		return before.under(rules), nil
	}
	var views []database.View
	err := f.read(ctx, "", func(ctx context.Context) (err error) {
		views, _, err = f.list(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	listed := database.ViewName("", name, true)
	if !ok || schema != "" || !slices.ContainsFunc(views, func(v database.View) bool { return v.Name == listed }) {
		return nil, database.NoView(view, views)
	}
	t := &table{file: f}
	t.View = name
	err = f.read(ctx, name, t.describe)
	if err == nil && stamp != "" {
		f.known.keep(t, t.View, stamp)
	}
	return t.under(rules), err
}

// under is the table as rules read it.
func (t *table) under(rules feedmill.Rules) *table {
	read := *t
	read.SQL.Uncast = rules < feedmill.RulesCurrent
	return &read
}

func join(parts []string) string { return strings.Join(parts, ", ") }
