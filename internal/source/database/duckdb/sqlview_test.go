package duckdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
)

func TestSQLViewSuite(t *testing.T) {
	path := newPath(t)
	duckdbtest.Write(t, path, things("things", map[columnar.Type]string{columnar.TypeTimestamp: "TIMESTAMP"})...)()
	databasetest.RunSQL(t, open(t, path), "SELECT * FROM things; -- all of them")
}

// Nothing that a SQL view does is left, and nothing outside of the file is read.
func TestHostileSQLViews(t *testing.T) {
	path := newPath(t)
	duckdbtest.Write(t, path, "CREATE TABLE victims AS SELECT unnest([1, 2, 3]) AS n", "CREATE SEQUENCE counted")()
	db, err := connector(t).Open(t.Context(), database.Config{Path: path, StatementTimeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "secret.csv")
	if err := os.WriteFile(file, []byte("a,b\n1,2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(folder, "written")
	databasetest.Refused(t, db, databasetest.HostileSQL)
	databasetest.Refused(t, db, []string{
		"SELECT * FROM read_csv('" + file + "')", "SELECT * FROM read_csv_auto('" + file + "')", "SELECT * FROM read_text('" + file + "')", "SELECT * FROM read_blob('" + file + "')", "SELECT * FROM read_parquet('" + file + "')", "SELECT * FROM read_json('" + file + "')",
		"SELECT * FROM '" + file + "'", "FROM '" + file + "'", `SELECT * FROM "` + file + `"`, "SELECT * FROM glob('" + folder + "/*')", "SELECT * FROM sniff_csv('" + file + "')", "SELECT * FROM parquet_scan('" + file + "')", "SELECT * FROM sqlite_scan('" + file + "', 'x')",
		"SELECT * FROM 'https://localhost/x.parquet'", "SELECT * FROM 's3://x/y.parquet'", "SELECT getenv('HOME') AS a", "SELECT * FROM duckdb_settings()", "SELECT current_setting('temp_directory') AS a", "SELECT * FROM duckdb_databases()", "SELECT * FROM duckdb_secrets()",
		"COPY victims TO '" + written + "'", "COPY (SELECT 1) TO '" + written + "'", "EXPORT DATABASE '" + written + "'", "ATTACH '" + written + "'", "ATTACH ':memory:' AS x", "INSTALL httpfs", "LOAD httpfs", "PRAGMA database_list", "CALL pragma_version()", "SET threads = 9", "RESET threads",
		"SELECT nextval('counted') AS a", "SELECT * FROM query('SELECT 1')", "SELECT * FROM query_table('victims')", "SELECT * FROM pragma_table_info('victims')", "CHECKPOINT", "SELECT $1 AS a", "SELECT ? AS a", "SELECT $a AS a", "DESCRIBE victims", "SUMMARIZE victims", "SHOW TABLES",
		"PIVOT victims ON n", "SELECT n AS a, n AS A FROM victims", "SELECT 1 AS a; DELETE FROM victims", "SELECT $$;$$ AS a; DELETE FROM victims", "SELECT E'\\'' AS a; DELETE FROM victims", "SELECT 1 AS \";\"; DELETE FROM victims", "victims", "FROM missing", "CREATE SECRET x (TYPE s3)",
		"INSERT OR REPLACE INTO victims VALUES (9)", "SELECT * FROM which_secret('s3://x', 's3')", "SELECT * FROM json_execute_serialized_sql('x')", "SELECT * FROM duckdb_extensions()",
	})
	databasetest.Bounded(t, db, []string{
		"SELECT count(*) AS a FROM range(100000000000)", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r", "SELECT repeat('x', 900000000) AS a", "SELECT string_agg(repeat('x', 1000000), '') AS a FROM range(3000)",
		"SELECT a.range AS x FROM range(10000000) a, range(10000000) b ORDER BY random()", "SELECT list(range) AS a FROM range(1000000000)", "SELECT n, random() AS r, now() AS t FROM victims",
	})
	after, err := os.ReadFile(path)
	if err != nil || string(before) != string(after) {
		t.Errorf("the file has changed: %v", err)
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("a file was written")
	}
}

// SQL that does not fit is refused with the words of DuckDB and the place.
func TestRefusalOfSQL(t *testing.T) {
	path := newPath(t)
	duckdbtest.Write(t, path, "CREATE TABLE victims (n INTEGER, day DATE)", "INSERT INTO victims VALUES (1, DATE '2026-03-30')", "CREATE SCHEMA other", "CREATE TABLE other.things AS SELECT 7 AS n")()
	db := open(t, path)
	for sql, want := range map[string]string{
		"SELECT n,\n1 FORM victims":     `syntax error at or near "victims" (line 2)`,
		"SELECT m FROM victims":         `Referenced column "m" not found`,
		"SELECT n, 2 AS N FROM victims": `more than one column "N"`,
	} {
		_, err := databasetest.DescribeSQL(t, db, sql)
		if failure, ok := errors.AsType[*feedmill.SourceFailure](err); !ok || failure.Type != database.ProblemSQL || !strings.Contains(failure.Detail, want) || strings.Contains(failure.Detail, filepath.Dir(path)) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	table, err := databasetest.DescribeSQL(t, db, "SELECT v.day, v.n * 1.5 AS half, t.n AS other FROM victims v, other.things t")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range table.Fields() {
		got = append(got, f.Name+" "+string(f.Type))
	}
	if all := strings.Join(got, ", "); all != "day date, half decimal, other integer" {
		t.Error(all)
	}
	duckdbtest.Write(t, path, "ALTER TABLE victims RENAME COLUMN day TO date")()
	if _, _, err := databasetest.Read(t.Context(), table, feedmill.Query{}); err == nil || !strings.Contains(err.Error(), `column named "day"`) {
		t.Errorf("a column that is gone: %v", err)
	}
}
