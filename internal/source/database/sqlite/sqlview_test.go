package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

func TestSQLViewSuite(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le"} {
		writer, db := create(t, encoding)
		load(t, writer, "things")
		databasetest.RunSQL(t, db, "SELECT * FROM things; -- all of them")
	}
}

// Nothing that a SQL view does is left, and nothing outside of the file is read.
func TestHostileSQLViews(t *testing.T) {
	writer, _ := create(t, "UTF-8")
	exec(t, writer, "CREATE TABLE victims (n INTEGER)")
	exec(t, writer, "INSERT INTO victims VALUES (1), (2), (3)")
	path := pathOf(t, writer)
	db := open(t, connector(t), database.Config{Path: path, StatementTimeout: 2 * time.Second})
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	databasetest.Refused(t, db, databasetest.HostileSQL)
	databasetest.Refused(t, db, []string{
		"SELECT load_extension('x') AS a", "SELECT readfile('/etc/passwd') AS a", "SELECT writefile('" + other + "', 'x') AS a", "SELECT edit('x') AS a", "SELECT fts3_tokenizer('simple') AS a", "SELECT rows_handle() AS a", `SELECT "rows_handle"() AS a`,
		"SELECT [rows_handle]() AS a", "SELECT `rows_handle`() AS a", "SELECT feedmill_calendar('x') AS a", "SELECT * FROM pragma_database_list", "SELECT * FROM pragma_database_list()", "SELECT * FROM pragma_compile_options", "SELECT * FROM pragma_function_list",
		"SELECT * FROM pragma_writable_schema(1)", "SELECT * FROM pragma_journal_mode('DELETE')", "ATTACH '" + other + "' AS other", "ATTACH ':memory:' AS other", "VACUUM INTO '" + other + "'", "PRAGMA journal_mode = DELETE", "PRAGMA query_only = 0", "PRAGMA table_list",
		"REINDEX", "REPLACE INTO victims VALUES (9)", "SELECT ?1 AS a", "SELECT ? AS a", "SELECT :a AS a", "SELECT @a AS a", "SELECT $a AS a", "CREATE VIRTUAL TABLE made USING fts5(x)", "CREATE TRIGGER made AFTER INSERT ON victims BEGIN SELECT 1; END",
		"EXPLAIN QUERY PLAN SELECT 1", "RELEASE s", "END", "SELECT n AS a, n AS A FROM victims", "SELECT 1 AS a; DELETE FROM victims", "SELECT ';' AS a; DELETE FROM victims", "SELECT 1 AS [;]; DELETE FROM victims", "SELECT 1 AS a -- x\n; DELETE FROM victims", "SELECT [a",
	})
	databasetest.Bounded(t, db, []string{
		"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r) SELECT count(*) AS a FROM r", "SELECT randomblob(1000000000) AS a", "SELECT zeroblob(60000000) AS a",
		"SELECT printf('%.*c', 100000000, 'x') AS a", "SELECT group_concat(zeroblob(1000000)) AS a FROM victims a, victims b, victims c, victims d, victims e", "SELECT * FROM sqlite_schema", "SELECT * FROM json_each('[1,2]')", "SELECT * FROM generate_series(1, 10)",
	})
	after, err := os.ReadFile(path)
	if err != nil || string(before) != string(after) {
		t.Errorf("the file has changed: %v", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("another file was written")
	}
}

// SQL that does not fit is refused with the words of SQLite and the place.
func TestRefusalOfSQL(t *testing.T) {
	writer, db := create(t, "UTF-8")
	exec(t, writer, "CREATE TABLE victims (n INTEGER, day DATE)")
	for sql, want := range map[string]string{
		"SELECT n FORM victims":          `near "victims": syntax error (line 1, column 15)`,
		"SELECT 'ä',\n  m FROM victims":  `no such column: m (line 2, column 3)`,
		"SELECT * FROM missing":          "no such table: missing",
		"SELECT n, 2 AS N FROM victims":  `more than one column "N"`,
		"SELECT day\n, n FROM victims a": "",
	} {
		_, err := databasetest.DescribeSQL(t, db, sql)
		failure, ok := errors.AsType[*feedmill.SourceFailure](err)
		if want == "" && err == nil {
			continue
		}
		if !ok || failure.Type != database.ProblemSQL || !strings.Contains(failure.Detail, want) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	exec(t, writer, "INSERT INTO victims VALUES (1, '2026-03-30')")
	table, err := databasetest.DescribeSQL(t, db, "SELECT day, n * 1.5 AS half, count(*) AS times FROM victims GROUP BY 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range table.Fields() {
		got = append(got, f.Name+" "+string(f.Type))
	}
	if all := strings.Join(got, ", "); all != "day date, half number, times integer" {
		t.Error(all)
	}
	exec(t, writer, "ALTER TABLE victims RENAME COLUMN day TO date")
	if _, _, err := databasetest.Read(t.Context(), table, feedmill.Query{}); err == nil || !strings.Contains(err.Error(), "no such column: day") {
		t.Errorf("a column that is gone: %v", err)
	}
}
