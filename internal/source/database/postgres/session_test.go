package postgres_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// The settings of a database do not change what values are read as.
func TestSettingsOfTheDatabase(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, `CREATE TABLE shown AS SELECT tstzrange('2026-03-30 12:00Z', NULL) AS r, daterange('2026-03-04', NULL) AS d, interval '1 day 2 hours' AS i, ARRAY[timestamptz '2026-03-30 12:00Z'] AS a`)
	for _, setting := range []string{"timezone = 'Asia/Tokyo'", "datestyle = 'German'", "intervalstyle = 'postgres_verbose'"} {
		exec(t, conn, "ALTER DATABASE "+url.PathEscape(config(t, address).Database)+" SET "+setting)
	}
	got, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, open(t, config(t, address)), "shown"), feedmill.Query{})
	want := [][]string{{`["2026-03-30 12:00:00+00",)`, `[2026-03-04,)`, "P1DT2H", `["2026-03-30T12:00:00+00:00"]`}}
	if err != nil || !cmp.Equal(want, got.Rows) {
		t.Errorf("%v: %s", err, cmp.Diff(want, got.Rows))
	}
}

// A database that is not UTF-8 has no text with characters that it lacks.
func TestDatabaseOfLatin1(t *testing.T) {
	address := pgtest.New(t)
	admin := connect(t, address)
	t.Cleanup(func() { _, _ = admin.Exec(context.Background(), "DROP DATABASE western WITH (FORCE)") })
	exec(t, admin, "DROP DATABASE IF EXISTS western")
	exec(t, admin, "CREATE DATABASE western ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	u, _ := url.Parse(address)
	u.Path = "/western"
	conn := connect(t, u.String())
	exec(t, conn, "SET client_encoding = 'UTF8'")
	exec(t, conn, "CREATE TABLE words (v text)")
	exec(t, conn, "INSERT INTO words VALUES ('plain'), ('säd'), (NULL)")
	table := databasetest.Describe(t, open(t, config(t, u.String())), "words")
	for filter, want := range map[string][][]string{
		`"op":"eq","values":["日本"]`:                              nil,
		`"op":"eq","values":["日本","plain"]`:                      {{"plain"}},
		`"op":"eq","values":["säd"]`:                             {{"säd"}},
		`"op":"eq","values":["日本"],"inverted":true`:              {{"plain"}, {"säd"}, {"<null>"}},
		`"op":"contains","values":["日"],"caseSensitive":true`:    nil,
		`"op":"contains","values":["Ä"]`:                         {{"säd"}},
		`"op":"startsWith","values":["sä"],"caseSensitive":true`: {{"säd"}},
		`"op":"lt","values":["日"]`:                               {{"plain"}, {"säd"}},
	} {
		got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"v","filters":[{`+filter+`}]}],"sort":[{"field":"v"}]}`))
		if err != nil || !cmp.Equal(want, got.Rows) {
			t.Errorf("%s: %v, want %v: %v", filter, got, want, err)
		}
	}
}

// A value beyond the limit is refused with its position, and one at the limit is read.
func TestValuesAreBounded(t *testing.T) {
	address := pgtest.New(t)
	exec(t, connect(t, address), `CREATE VIEW large AS SELECT n, repeat('x', 16777215 + n) AS x FROM generate_series(1, 2) n`)
	db := open(t, config(t, address))
	table := databasetest.Describe(t, db, "large")
	_, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"n"},{"field":"x"}],"sort":[{"field":"n"}]}`))
	wantProblem(t, err, database.ProblemStatement, `The value of "x" in row 2 has 16777217 bytes; the maximum is 16 MiB.`)
	got, _, err := databasetest.Read(t.Context(), table, databasetest.Parse(t, `{"fields":[{"field":"n","filters":[{"op":"eq","values":["1"]}]},{"field":"x"}]}`))
	if err != nil || len(got.Rows) != 1 || len(got.Rows[0][1]) != 16<<20 {
		t.Errorf("%v", err)
	}
}

// What ended a query is told.
func TestWhatEndedAQuery(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, `CREATE VIEW slow AS SELECT pg_sleep(600)::text AS x; CREATE VIEW large AS SELECT repeat('x', 70000000) AS x`)
	db := open(t, config(t, address))
	_, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, db, "large"), feedmill.Query{})
	wantProblem(t, err, database.ProblemStatement, "larger than 64 MiB")
	table := databasetest.Describe(t, db, "slow")
	ended := make(chan error, 1)
	go func() {
		_, _, err := databasetest.Read(t.Context(), table, feedmill.Query{})
		ended <- err
	}()
	for canceled := false; !canceled; {
		const cancel = "SELECT coalesce(bool_or(pg_cancel_backend(pid)), false) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
		if err := conn.QueryRow(t.Context(), cancel).Scan(&canceled); err != nil {
			t.Fatal(err)
		}
	}
	wantProblem(t, <-ended, database.ProblemStatement, "user request")
}

// A connection is not used again after a large message, which the driver would keep for as long as the
// connection lives.
func TestLargeMessagesAreNotKept(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, `CREATE FUNCTION fail() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', repeat('x', 300000); END $$`)
	exec(t, conn, `CREATE VIEW session AS SELECT pg_backend_pid()::text AS v; CREATE VIEW failing AS SELECT fail() AS v; CREATE VIEW large AS SELECT repeat('x', 300000) AS v`)
	db := open(t, config(t, address))
	read := func(view string) (string, error) {
		got, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, db, view), feedmill.Query{})
		if err != nil {
			return "", err
		}
		return got.Rows[0][0], nil
	}
	session := func() string {
		t.Helper()
		v, err := read("session")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := session()
	if again := session(); again != first {
		t.Errorf("a connection is not used again: %s after %s", again, first)
	}
	if _, err := read("failing"); err == nil {
		t.Error("the view does not fail")
	}
	second := session()
	if _, err := read("large"); err != nil {
		t.Error(err)
	}
	if third := session(); second == first || third == second || third == first {
		t.Errorf("the connections are %s, %s and %s", first, second, third)
	}
}
