package sqlite_test

import (
	"database/sql"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	driver "github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/sqlite"
)

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
	db, err := sqlite.Connector{}.Open(t.Context(), database.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return writer, db
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

// TestSuite also reads what SQLite itself says that it was asked to do: nothing but to
// read the table and to say what there is, whatever the queries say.
func TestSuite(t *testing.T) {
	reads := 0
	stop := sqlite.Watch(func(op int, first, second string, answer int) {
		if op == driver.SQLITE_READ && first == "things" {
			reads++
		} else if answer != driver.SQLITE_OK || op == driver.SQLITE_READ && !strings.HasPrefix(first, "pragma_") && first != "sqlite_master" {
			t.Errorf("SQLite is asked for %d %q %q", op, first, second)
		}
	})
	defer func() {
		stop()
		if reads < 1000 {
			t.Errorf("%d reads are seen", reads)
		}
	}()
	for op, first := range map[int]string{driver.SQLITE_DELETE: "things", driver.SQLITE_ATTACH: "file", driver.SQLITE_PRAGMA: "writable_schema"} {
		if sqlite.MayOnlyRead(op, first, "") == driver.SQLITE_OK {
			t.Errorf("%d is let through", op)
		}
	}
	for _, encoding := range []string{"UTF-8", "UTF-16le"} {
		t.Run(encoding, func(t *testing.T) {
			writer, db := create(t, encoding)
			load(t, writer, "things")
			databasetest.Run(t, db, "things")
		})
	}
}
