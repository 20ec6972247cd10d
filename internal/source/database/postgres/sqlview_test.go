package postgres_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// asReader is a database with the table of the suite and a table of victims, as a user that may
// only read sees it, and as its superuser does.
func asReader(t *testing.T) (database.Config, func(sql string, args ...any), func(sql string) string) {
	t.Helper()
	address := pgtest.New(t)
	conn := connect(t, address)
	run := func(sql string, args ...any) { t.Helper(); exec(t, conn, sql, args...) }
	run("DO $$ BEGIN CREATE ROLE sql_reader LOGIN PASSWORD 'sql-reader-password'; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
	run("CREATE TABLE victims AS SELECT n FROM generate_series(1, 3) n")
	run("CREATE SEQUENCE counted")
	run("CREATE FUNCTION grow() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO victims VALUES (9); RETURN 1; END'")
	run("CREATE FUNCTION hold() RETURNS int LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_lock(77); RETURN 1; END'")
	run("GRANT ALL ON victims, counted TO sql_reader")
	c := config(t, address)
	c.User, c.Password = "sql_reader", "sql-reader-password"
	one := func(sql string) (text string) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), sql).Scan(&text); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return text
	}
	return c, run, one
}

func TestSQLViewSuite(t *testing.T) {
	c, run, _ := asReader(t)
	load(t, connect(t, adminOf(t, c)), "things")
	run("GRANT SELECT ON things TO sql_reader")
	databasetest.RunSQL(t, open(t, c), "SELECT * FROM things -- all of them")
}

// adminOf is the address of a database for the superuser of the tests.
func adminOf(t *testing.T, c database.Config) string {
	t.Helper()
	u, err := url.Parse(pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + c.Database
	return u.String()
}

// Nothing that a SQL view does is left, and nothing outside of the database is read.
func TestHostileSQLViews(t *testing.T) {
	c, _, one := asReader(t)
	c.StatementTimeout = 2 * time.Second
	db := open(t, c)
	state := func() string {
		return one(`SELECT (SELECT string_agg(n::text, ',' ORDER BY n) FROM victims) || ' ' || (SELECT is_called::text || last_value FROM counted) || ' ' ||
			(SELECT count(*) FROM pg_class WHERE relname = 'made') || ' ' || (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) || ' ' ||
			(SELECT count(*) FROM pg_largeobject_metadata WHERE lomowner = 'sql_reader'::regrole)`)
	}
	before := state()
	file := filepath.Join(t.TempDir(), "stolen")
	databasetest.Refused(t, db, databasetest.HostileSQL)
	databasetest.Refused(t, db, []string{
		"SELECT pg_read_file('/etc/passwd') AS a", "SELECT pg_catalog.pg_read_file('/etc/passwd') AS a", `SELECT "pg_read_file"('/etc/passwd') AS a`, "SELECT pg_read_file /* x */ ('/etc/passwd') AS a",
		"SELECT pg_read_binary_file('/etc/passwd') AS a", "SELECT * FROM pg_ls_dir('/') AS a", "SELECT * FROM pg_stat_file('/etc/passwd')", "SELECT lo_import('/etc/passwd') AS a", "SELECT lo_export(1, '" + file + "') AS a",
		"SELECT lo_create(0) AS a", "SELECT lo_from_bytea(0, 'x') AS a", "SELECT lo_unlink(1) AS a", "SELECT dblink('host=localhost', 'SELECT 1') AS a", "SELECT * FROM dblink_exec('host=localhost', 'DROP TABLE victims') AS a",
		"SELECT set_config('transaction_read_only', 'off', true) AS a", "SELECT set_config('statement_timeout', '0', false) AS a", "SELECT set_config('role', 'postgres', true) AS a", "SELECT PG_CATALOG.SET_CONFIG('a.b', 'c', false) AS a",
		"SELECT nextval('counted') AS a", "SELECT setval('counted', 99) AS a", "SELECT pg_notify('a', 'b') AS a", "SELECT pg_advisory_lock(1) AS a", "SELECT pg_try_advisory_lock(1) AS a", "SELECT pg_advisory_xact_lock(1) AS a",
		"SELECT pg_terminate_backend(pid) AS a FROM pg_stat_activity", "SELECT pg_cancel_backend(1) AS a", "SELECT pg_reload_conf() AS a", "SELECT pg_logical_emit_message(false, 'a', 'b') AS a", "SELECT pg_sleep(100) AS a", "SELECT pg_sleep_for('1 day') AS a",
		"SELECT pg_create_physical_replication_slot('a') AS a", "SELECT * FROM query_to_xml('DELETE FROM victims', true, true, '') AS a", "SELECT query_to_xml('SELECT pg_advisory_lock(1)', true, true, '') AS a",
		"SELECT * FROM ts_stat('SELECT to_tsvector(pg_sleep(100)::text)')", "DO $$ BEGIN DELETE FROM victims; END $$", "COPY (SELECT 1) TO '" + file + "'", "COPY (SELECT 1) TO PROGRAM 'touch " + file + "'",
		"SELECT $1 AS a", "SELECT $1::int AS a", `SELECT U&"pg_read\005ffile"('/etc/passwd') AS a`, "SELECT $x$ AS a", "SELECT E'\\' AS a", "LISTEN a", "NOTIFY a", "DECLARE c CURSOR FOR SELECT 1", "FETCH ALL FROM c", "RESET ALL", "SHOW ALL",
		"SET ROLE postgres", "SET SESSION AUTHORIZATION postgres", "REINDEX TABLE victims", "CLUSTER victims", "CHECKPOINT", "CREATE EXTENSION dblink", "SECURITY LABEL ON TABLE victims IS 'x'", "MERGE INTO victims USING victims v ON true WHEN MATCHED THEN DELETE",
		"SELECT * FROM victims FOR NO KEY UPDATE", "SELECT * FROM victims FOR KEY SHARE", "SELECT * FROM pg_authid", "SELECT * FROM pg_catalog.pg_shadow", "SELECT", "SELECT FROM victims", "TABLE missing",
		"WITH x AS MATERIALIZED (DELETE FROM victims RETURNING *) TABLE x", "WITH x AS (MERGE INTO victims USING victims v ON true WHEN MATCHED THEN DELETE RETURNING 1) SELECT * FROM x",
		"/* /* */ SELECT 1 AS a", "SELECT 1 AS a -- \n; DELETE FROM victims", "SELECT ';' AS a; DELETE FROM victims", "SELECT $$;$$ AS a; DELETE FROM victims", "SELECT $a$;$$;$a$ AS a; DELETE FROM victims", `SELECT 1 AS ";"; DELETE FROM victims`,
	})
	databasetest.Bounded(t, db, []string{
		"SELECT grow() AS a", "SELECT hold() AS a", "SELECT count(*) AS a FROM generate_series(1, 100000000000) x", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
		"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r) SELECT count(*) AS a FROM r", "SELECT repeat('x', 900000000) AS a", "SELECT string_agg(repeat('x', 1000000), '') AS a FROM generate_series(1, 200)",
		"SELECT a.n FROM victims a, generate_series(1, 1000000) b, generate_series(1, 1000000) c ORDER BY 1", "SELECT n, pg_backend_pid() AS pid, random() AS r, clock_timestamp() AS at FROM victims",
	})
	if after := state(); after != before {
		t.Errorf("the state was %q and is %q", before, after)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
}

// A user that may read files, run programs or become a superuser runs no SQL of others.
func TestUnsafeUsers(t *testing.T) {
	c, run, _ := asReader(t)
	refused := func(db database.Database) string {
		t.Helper()
		_, err := databasetest.DescribeSQL(t, db, "SELECT 1 AS a")
		failure, ok := errors.AsType[*feedmill.SourceFailure](err)
		if !ok || failure.Type != database.ProblemUser {
			return ""
		}
		return failure.Detail
	}
	if why := refused(open(t, config(t, adminOf(t, c)))); !strings.Contains(why, "superuser") {
		t.Errorf("a superuser: %q", why)
	}
	db := open(t, c)
	if why := refused(db); why != "" {
		t.Fatalf("a reader: %s", why)
	}
	for _, change := range [][2]string{
		{"GRANT pg_read_server_files TO sql_reader", "REVOKE pg_read_server_files FROM sql_reader"},
		{"GRANT pg_execute_server_program TO sql_reader", "REVOKE pg_execute_server_program FROM sql_reader"},
		{"GRANT pg_write_server_files TO sql_reader", "REVOKE pg_write_server_files FROM sql_reader"},
		{"CREATE ROLE sql_between ROLE sql_reader; GRANT pg_read_server_files TO sql_between", "DROP ROLE sql_between"},
		{"CREATE ROLE sql_super SUPERUSER; GRANT sql_super TO sql_reader", "DROP ROLE sql_super"},
		{"ALTER ROLE sql_reader REPLICATION", "ALTER ROLE sql_reader NOREPLICATION"},
		{"GRANT EXECUTE ON FUNCTION pg_read_file(text) TO sql_reader", "REVOKE EXECUTE ON FUNCTION pg_read_file(text) FROM sql_reader"},
		{"GRANT EXECUTE ON FUNCTION lo_export(oid, text) TO sql_reader", "REVOKE EXECUTE ON FUNCTION lo_export(oid, text) FROM sql_reader"},
		{"CREATE FUNCTION http_get(text) RETURNS text LANGUAGE sql AS 'SELECT 1::text'", "DROP FUNCTION http_get(text)"},
		{"CREATE FUNCTION pg_background_launch(text) RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION pg_background_launch(text)"},
		{"CREATE FUNCTION dblink(text, text) RETURNS SETOF record LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION dblink(text, text)"},
	} {
		for part := range strings.SplitSeq(change[0], "; ") {
			run(part)
		}
		if refused(db) == "" {
			t.Errorf("%s: the user is not refused", change[0])
		}
		run(change[1])
	}
	if why := refused(db); why != "" {
		t.Errorf("a reader again: %s", why)
	}
}

// SQL that does not fit is refused with the words of the server and the place.
func TestRefusalOfSQL(t *testing.T) {
	c, run, _ := asReader(t)
	run("CREATE DOMAIN positive AS numeric(8,2) CHECK (VALUE > 0)")
	run("CREATE TYPE mood AS ENUM ('sad', 'ok')")
	db := open(t, c)
	for sql, want := range map[string]string{
		"SELECT n FORM victims":           `syntax error at or near "victims" (line 1, column 15)`,
		"SELECT n,\n  ä FROM victims":     `column "ä" does not exist (line 2, column 3)`,
		"SELECT * FROM missing":           `relation "missing" does not exist (line 1, column 15)`,
		"SELECT n, 2 AS n FROM victims":   `more than one column "n"`,
		"DELETE FROM victims RETURNING n": "Begin it with SELECT, WITH, VALUES or TABLE.",
	} {
		_, err := databasetest.DescribeSQL(t, db, sql)
		if failure, ok := errors.AsType[*feedmill.SourceFailure](err); !ok || failure.Type != database.ProblemSQL || !strings.Contains(failure.Detail, want) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	table, err := databasetest.DescribeSQL(t, db, "SELECT 1.5::positive AS p, 'ok'::mood AS m, array[1] AS a, now() AS z, now()::timestamp AS l, 'x'::bytea AS b, 1::int2 AS i, NULL AS nothing, 1.5 AS open;  -- end")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range table.Fields() {
		got = append(got, f.Name+" "+string(f.Type)+" "+f.Native)
	}
	want := "p decimal numeric(8,2), m text mood, a json integer[], z timestamp timestamp with time zone, l timestamp timestamp without time zone, b text bytea, i integer smallint, nothing text text, open decimal numeric"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s", strings.Join(got, ", "))
	}
	rows, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"p","filters":[{"op":"eq","values":["1.5"]}]},{"field":"m","filters":[{"op":"eq","values":["ok"]}]},{"field":"a"}]}`))
	if err != nil || len(rows.Rows) != 1 {
		t.Errorf("%v: %v", rows, err)
	}
}
