package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	driver "github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/worker"
	engine "github.com/feedmill/feedmill/internal/lake/worker/sqlite"
	dialect "github.com/feedmill/feedmill/internal/query/sqlite"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/sqlite"
)

// TestMain makes the test binary a worker, too, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "worker" {
		if err := worker.Main(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// create makes a file, and opens it as a connector does.
func create(t *testing.T, encoding string) (*sql.DB, database.Database) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "odd ?name%20#.db")
	address := "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23", " ", "%20").Replace(path)
	writer, err := sql.Open("sqlite3", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writer.Close() })
	writer.SetMaxOpenConns(1)
	exec(t, writer, "PRAGMA encoding = '"+encoding+"'")
	exec(t, writer, "CREATE TABLE dual (x)")
	return writer, open(t, connector(t), database.Config{Path: path})
}

// connector is one with a pool of the test's own.
func connector(t *testing.T) sqlite.Connector {
	t.Helper()
	pool := lake.NewPool(lake.PoolConfig{Temp: t.TempDir(), TempBytes: 1 << 30, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(pool.Close)
	return sqlite.Connector{Engine: lake.NewSQLite(pool)}
}

func open(t *testing.T, c sqlite.Connector, config database.Config) database.Database {
	t.Helper()
	db, err := c.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

var types = map[columnar.Type]string{
	columnar.TypeText: "TEXT COLLATE NOCASE", columnar.TypeInteger: "INTEGER", columnar.TypeDecimal: "DECIMAL(12,3)", columnar.TypeNumber: "REAL",
	columnar.TypeBoolean: "BOOLEAN", columnar.TypeDate: "DATE", columnar.TypeTimestamp: "TIMESTAMP", columnar.TypeJSON: "JSON",
}

// load makes the table of the suite.
func load(t *testing.T, db *sql.DB, name string) {
	t.Helper()
	var columns []string
	for _, c := range databasetest.Columns {
		null := ""
		if !c.Nullable {
			null = " NOT NULL"
		}
		columns = append(columns, `"`+strings.ReplaceAll(c.Name, `"`, `""`)+`" `+types[c.Type]+null)
	}
	exec(t, db, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+")")
	for i, row := range databasetest.Rows() {
		values := make([]any, len(row))
		for k, v := range row {
			values[k] = v
			switch v := v.(type) {
			case *big.Rat:
				values[k] = v.FloatString(3)
				if v.IsInt() {
					values[k] = v.Num().Int64()
				}
			case time.Time:
				values[k] = v.Format(time.DateOnly)
				if databasetest.Columns[k].Type == columnar.TypeTimestamp {
					layouts := []string{"2006-01-02 15:04:05.999999", "2006-01-02T15:04:05.999999Z", "2006-01-02 15:04:05.999999+00:00"}
					values[k] = v.Format(layouts[i%len(layouts)])
				}
			}
		}
		exec(t, db, "INSERT INTO "+name+" VALUES (?"+strings.Repeat(", ?", len(row)-1)+")", values...)
	}
}

// TestSuite also has SQLite say what the statements of the suite ask it to do: nothing but
// to read the table and to say what there is, whatever the queries say.
func TestSuite(t *testing.T) {
	for op, first := range map[int]string{driver.SQLITE_DELETE: "things", driver.SQLITE_ATTACH: "file", driver.SQLITE_PRAGMA: "writable_schema"} {
		if engine.MayOnlyRead(op, first) == driver.SQLITE_OK {
			t.Errorf("%d is let through", op)
		}
	}
	for _, encoding := range []string{"UTF-8", "UTF-16le"} {
		t.Run(encoding, func(t *testing.T) {
			writer, _ := create(t, encoding)
			load(t, writer, "things")
			for _, statement := range databasetest.OtherStatements {
				exec(t, writer, statement)
			}
			path := pathOf(t, writer)
			log := &logged{Engine: connector(t).Engine, statements: make(map[string]bool)}
			databasetest.Run(t, open(t, sqlite.Connector{Engine: log}, database.Config{Path: path}), "things", databasetest.Others)
			if reads := log.authorize(t, path); reads < 1000 {
				t.Errorf("%d reads are seen", reads)
			}
		})
	}
}

func pathOf(t *testing.T, db *sql.DB) (path string) {
	t.Helper()
	if err := db.QueryRow("SELECT file FROM pragma_database_list").Scan(&path); err != nil {
		t.Fatal(err)
	}
	return path
}

// logged is an engine, and the statements that it ran.
type logged struct {
	sqlite.Engine
	mu         sync.Mutex
	statements map[string]bool
}

func (l *logged) Select(ctx context.Context, file string, s dialect.Statement, row func([]dialect.Cell) error) error {
	l.mu.Lock()
	l.statements[s.SQL] = true
	l.mu.Unlock()
	return l.Engine.Select(ctx, file, s, row)
}

// authorize compiles the statements in this process, and counts how often they read the
// table.
func (l *logged) authorize(t *testing.T, path string) (reads int) {
	t.Helper()
	watched := &driver.SQLiteDriver{ConnectHook: func(conn *driver.SQLiteConn) error {
		if err := engine.Register(conn); err != nil {
			return err
		}
		conn.RegisterAuthorizer(func(op int, first, second, _ string) int {
			answer := engine.MayOnlyRead(op, first)
			if op == driver.SQLITE_READ && (first == "things" || first == databasetest.Others) {
				reads++
			} else if op == driver.SQLITE_READ && first == "dual" {
				return answer // whose rows the list of views counts
			} else if answer != driver.SQLITE_OK || op == driver.SQLITE_READ && !strings.HasPrefix(first, "pragma_") && first != "sqlite_master" {
				t.Errorf("SQLite is asked for %d %q %q", op, first, second)
			}
			return answer
		})
		return nil
	}}
	conn, err := watched.Open("file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for statement := range l.statements {
		compiled, err := conn.Prepare(statement)
		if err != nil {
			t.Errorf("%s: %v", statement, err)
			continue
		}
		compiled.Close()
	}
	return reads
}
