// Package sqlite reads files of SQLite.
//
// A file is opened to be read only, and no statement can attach another one. A
// column has the type that it is declared with where all of its values are of that
// type, and else one that holds them all.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/source/database"
)

// Connector opens files of SQLite.
type Connector struct{}

// Open makes ready to read a file.
func (Connector) Open(_ context.Context, c database.Config) (database.Database, error) {
	c = c.WithDefaults()
	learnHandles()
	address := "file:" + (&url.URL{Path: c.Path}).EscapedPath() + "?mode=ro&_query_only=true&_busy_timeout=5000"
	pool := sql.OpenDB(opener{address: address, driver: &sqlite3.SQLiteDriver{ConnectHook: prepare}})
	pool.SetMaxOpenConns(c.MaxConns)
	pool.SetConnMaxIdleTime(time.Minute)
	return &file{pool: pool, path: c.Path, timeout: c.StatementTimeout}, nil
}

// opener opens connections.
type opener struct {
	address string
	driver  *sqlite3.SQLiteDriver
}

func (o opener) Connect(context.Context) (driver.Conn, error) { return o.driver.Open(o.address) }
func (o opener) Driver() driver.Driver                        { return o.driver }

// prepare makes a connection ready: nothing else can be opened by it, what a
// schema brings along is not trusted, the functions of the dialect are there, and no
// statement is compiled that does anything but read.
func prepare(conn *sqlite3.SQLiteConn) error {
	conn.SetLimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	if _, err := conn.Exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY", nil); err != nil {
		return err
	}
	if err := register(conn); err != nil {
		return err
	}
	conn.RegisterAuthorizer(func(op int, first, second, _ string) int { return authorize(op, first, second) })
	return nil
}

// authorize says whether SQLite may do what a statement asks for, while it compiles it.
var authorize = mayOnlyRead

// recursive is the code of a common table expression that refers to itself, as views
// have them.
const recursive = 33

// mayOnlyRead lets statements select, and ask what there is.
func mayOnlyRead(op int, first, _ string) int {
	switch op {
	case sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, recursive:
		return sqlite3.SQLITE_OK
	case sqlite3.SQLITE_PRAGMA:
		switch first {
		case "table_list", "table_info", "table_xinfo", "encoding", "data_version":
			return sqlite3.SQLITE_OK
		}
	}
	return sqlite3.SQLITE_DENY
}

// file is a database.
type file struct {
	pool    *sql.DB
	path    string
	timeout time.Duration
	known   known
}

// Close closes the file.
func (f *file) Close() error { return f.pool.Close() }

// read calls a function with a connection and with the time that it may take.
func (f *file) read(ctx context.Context, view string, fn func(context.Context, *sqlite3.SQLiteConn) error) error {
	bounded, cancel := context.WithTimeoutCause(ctx, f.timeout, errTimeout)
	defer cancel()
	conn, err := f.pool.Conn(bounded)
	if err != nil {
		return f.failure(ctx, bounded, err, view)
	}
	defer conn.Close()
	err = conn.Raw(func(raw any) error { return fn(bounded, raw.(*sqlite3.SQLiteConn)) })
	return f.failure(ctx, bounded, err, view)
}

// each runs a statement and calls a function for every row.
func each(ctx context.Context, conn *sqlite3.SQLiteConn, statement string, args []string, fn func([]driver.Value) error) error {
	values := make([]driver.NamedValue, len(args))
	for i, text := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: text}
	}
	rows, err := conn.QueryContext(ctx, statement, values)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case isEnd(err):
			return nil
		case err != nil:
			return err
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// Ping reads the beginning of the file.
func (f *file) Ping(ctx context.Context) error {
	return f.read(ctx, "", func(ctx context.Context, conn *sqlite3.SQLiteConn) error {
		return each(ctx, conn, "SELECT count(*) FROM sqlite_schema", nil, func([]driver.Value) error { return nil })
	})
}

const selectViews = `SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`

// Views lists the tables and views.
func (f *file) Views(ctx context.Context) ([]database.View, error) {
	var views []database.View
	err := f.read(ctx, "", func(ctx context.Context, conn *sqlite3.SQLiteConn) error {
		return each(ctx, conn, selectViews, nil, func(row []driver.Value) error {
			v := database.View{Name: database.ViewName("", text(row[0]), true), Kind: database.KindTable, RowEstimate: -1}
			if text(row[1]) == "view" {
				v.Kind = database.KindView
			}
			views = append(views, v)
			return nil
		})
	})
	return views, err
}

// Table describes a view, for which its values are looked at.
func (f *file) Table(ctx context.Context, view string) (database.Table, error) {
	schema, name, ok := database.ParseViewName(view)
	before, stamp := f.known.find(f, name)
	if before != nil && schema == "" {
		return before, nil
	}
	views, err := f.Views(ctx)
	if err != nil {
		return nil, err
	}
	listed := database.ViewName("", name, true)
	if !ok || schema != "" || !slices.ContainsFunc(views, func(v database.View) bool { return v.Name == listed }) {
		return nil, database.NoView(view, views)
	}
	t := &table{file: f, view: name}
	err = f.read(ctx, name, t.describe)
	if err == nil && stamp != "" {
		f.known.keep(t, stamp)
	}
	return t, err
}

// text is a value that is a text.
func text(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func join(parts []string) string { return strings.Join(parts, ", ") }
