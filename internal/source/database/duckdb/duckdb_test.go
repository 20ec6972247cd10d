package duckdb_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/worker"
	dialect "github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
	"github.com/feedmill/feedmill/internal/source/database/duckdb"
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

// connector is one with a pool of the test's own.
func connector(t *testing.T) duckdb.Connector {
	t.Helper()
	pool := lake.NewPool(lake.PoolConfig{Temp: t.TempDir(), TempBytes: 1 << 30, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(pool.Close)
	return duckdb.Connector{Engine: lake.NewDatabases(pool)}
}

func open(t *testing.T, path string) database.Database {
	t.Helper()
	db, err := connector(t).Open(t.Context(), database.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "odd 'name?%20#.duckdb") }

var types = map[columnar.Type]string{
	columnar.TypeText: "VARCHAR COLLATE NOCASE", columnar.TypeInteger: "BIGINT", columnar.TypeDecimal: "DECIMAL(12,3)", columnar.TypeNumber: "DOUBLE",
	columnar.TypeBoolean: "BOOLEAN", columnar.TypeDate: "DATE", columnar.TypeTimestamp: "TIMESTAMPTZ", columnar.TypeJSON: "JSON",
}

// things are the statements that make the table of the suite, with other types for
// some of the columns.
func things(name string, others map[columnar.Type]string) []string {
	var columns []string
	for _, c := range databasetest.Columns {
		kind := types[c.Type]
		if other := others[c.Type]; other != "" {
			kind = other
		}
		if !c.Nullable {
			kind += " NOT NULL"
		}
		columns = append(columns, `"`+strings.ReplaceAll(c.Name, `"`, `""`)+`" `+kind)
	}
	var rows []string
	for _, row := range databasetest.Rows() {
		values := make([]string, len(row))
		for k, v := range row {
			switch v := v.(type) {
			case nil:
				values[k] = "NULL"
			case string:
				values[k] = "'" + strings.ReplaceAll(v, "'", "''") + "'"
			case *big.Rat:
				values[k] = v.FloatString(databasetest.Columns[k].Scale)
			case float64:
				values[k] = fmt.Sprintf("CAST('%v' AS DOUBLE)", v)
			case time.Time:
				values[k] = "'" + v.Format("2006-01-02 15:04:05.999999") + "'"
				if databasetest.Columns[k].Type == columnar.TypeTimestamp && others[columnar.TypeTimestamp] == "" {
					values[k] = fmt.Sprintf("make_timestamptz(%d)", v.UnixMicro())
				}
			default:
				values[k] = fmt.Sprint(v)
			}
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	return []string{"CREATE TABLE " + name + " (" + strings.Join(columns, ", ") + ")", "INSERT INTO " + name + " VALUES " + strings.Join(rows, ", ")}
}

func TestSuite(t *testing.T) {
	others := []map[columnar.Type]string{{columnar.TypeTimestamp: "TIMESTAMP"}}
	if os.Getenv("FEEDMILL_LONG") != "" {
		others = append(others, nil)
	}
	for _, types := range others {
		path := newPath(t)
		duckdbtest.Write(t, path, append(things("things", types), databasetest.OtherStatements...)...)()
		log := &logged{Engine: connector(t).Engine}
		db, err := duckdb.Connector{Engine: log}.Open(t.Context(), database.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		databasetest.Run(t, db, "things", databasetest.Others)
		for _, s := range log.statements {
			for _, sql := range []string{s.SQL, s.Guard} {
				sql = strings.ReplaceAll(sql, dialect.Attached+".", "")
				plain := strings.Join(strings.Fields(quotedName.ReplaceAllString(sql, "N")), " ")
				if sql != "" && !databasetest.IsSelection(sql, quotedName) && !catalogue.MatchString(plain) {
					t.Errorf("DuckDB ran: %s", sql)
				}
			}
		}
		if len(log.statements) < 500 {
			t.Errorf("DuckDB ran %d statements", len(log.statements))
		}
	}
}

var (
	quotedName = regexp.MustCompile(`"(?:[^"]|"")*"`)
	// What DuckDB is asked about what there is, with the names of views as parameters.
	catalogue = regexp.MustCompile(`^SELECT (?:schema_name, table_name, 'table', [^;]*|string_agg\([^;]*\) FROM \(DESCRIBE N(?:\.N)*(?: AS t)?\)|\(SELECT string_agg\([^;]*\) FROM \(DESCRIBE [^;]*\)|d\.column_name, [^;]* FROM \(DESCRIBE N(?:\.N)*(?: AS t)?\)\) d [^;]*)$`)
)

// logged is an engine, and what it was told to run.
type logged struct {
	duckdb.Engine
	statements []dialect.Statement
}

func (l *logged) Select(ctx context.Context, file string, s dialect.Statement, columns []feedmill.Column) iter.Seq2[[]columnar.Vector, error] {
	l.statements = append(l.statements, s)
	return l.Engine.Select(ctx, file, s, columns)
}
