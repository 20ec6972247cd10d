package postgres_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// wantProblem checks that an error is a failure of a kind that says something.
func wantProblem(t *testing.T, err error, problem, says string) {
	t.Helper()
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok || failure.Type != problem || failure.Title == "" || !strings.Contains(failure.Detail, says) || strings.Contains(failure.Detail, "secret") {
		t.Errorf("%#v, want %s that says %q", err, problem, says)
	}
}

func TestWhatChangesUnderneathFails(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	db := open(t, config(t, address))
	for _, test := range []struct{ change, problem, says string }{
		{"ALTER TABLE changing RENAME name TO other", database.ProblemField, "name"},
		{"ALTER TABLE changing ALTER id TYPE text", database.ProblemField, `"id"`},
		{"ALTER TABLE changing ALTER amount TYPE numeric(20,10); INSERT INTO changing VALUES (7, 'x', 0.1234567)", database.ProblemField, "amount"},
		{"DROP TABLE changing", database.ProblemView, "changing"},
	} {
		exec(t, conn, "CREATE TABLE changing (id int, name text, amount numeric(10,2)); INSERT INTO changing VALUES (1, 'a', 1.25)")
		table := databasetest.Describe(t, db, "changing")
		exec(t, conn, test.change)
		_, _, err := databasetest.Read(t.Context(), table, feedmill.Query{})
		wantProblem(t, err, test.problem, test.says)
		exec(t, conn, "DROP TABLE IF EXISTS changing")
	}
	_, err := db.Table(t.Context(), "changin", feedmill.RulesCurrent)
	wantProblem(t, err, database.ProblemView, "changin")
}

func TestPermissions(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, `CREATE TABLE shown (id int, name text); CREATE TABLE hidden (id int); INSERT INTO shown VALUES (1, 'a')`)
	exec(t, conn, `DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'secret'; GRANT SELECT (id) ON shown TO reader`)
	t.Cleanup(func() {
		_, _ = conn.Exec(context.Background(), "DROP OWNED BY reader; DROP ROLE reader")
	})
	c := config(t, address)
	c.User, c.Password = "reader", "secret"
	db := open(t, c)
	views, err := db.Views(t.Context())
	if err != nil || len(views) != 1 || views[0].Name != "shown" {
		t.Errorf("%v %v", views, err)
	}
	table := databasetest.Describe(t, db, "shown")
	if fields := table.Fields(); len(fields) != 1 || fields[0].Name != "id" {
		t.Errorf("%+v", fields)
	}
	exec(t, conn, "REVOKE ALL ON shown FROM reader; REVOKE SELECT (id) ON shown FROM reader")
	_, _, err = databasetest.Read(t.Context(), table, feedmill.Query{})
	wantProblem(t, err, database.ProblemPermission, "shown")
	_, err = db.Table(t.Context(), "hidden", feedmill.RulesCurrent)
	wantProblem(t, err, database.ProblemPermission, "hidden")
	c.User = "nobody_there"
	wantProblem(t, open(t, c).Ping(t.Context()), database.ProblemCredential, "nobody_there")
	c.Port = 1
	wantProblem(t, open(t, c).Ping(t.Context()), database.ProblemUnreachable, "refused")
}

// A user who may write cannot, whatever a view does.
func TestNothingIsWritten(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, `CREATE TABLE written (n int); CREATE SEQUENCE s;
		CREATE FUNCTION write_one() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO written VALUES (1); RETURN 1; END';
		CREATE FUNCTION wide_open() RETURNS int LANGUAGE plpgsql AS 'BEGIN SET TRANSACTION READ WRITE; INSERT INTO written VALUES (1); RETURN 1; END';
		CREATE VIEW writing AS SELECT write_one() AS id; CREATE VIEW opening AS SELECT wide_open() AS id; CREATE VIEW counting AS SELECT nextval('s') AS id`)
	db := open(t, config(t, address))
	for _, view := range []string{"writing", "opening", "counting"} {
		_, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, db, view), feedmill.Query{})
		wantProblem(t, err, database.ProblemStatement, "read")
	}
	var n int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM written").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows were written: %v", n, err)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, `CREATE VIEW slow AS SELECT n AS id, pg_sleep(600)::text AS x FROM generate_series(1, 3) n`)
	c := config(t, address)
	c.StatementTimeout = time.Second // in which a busy machine, too, says what the view is
	_, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, open(t, c), "slow"), feedmill.Query{})
	wantProblem(t, err, database.ProblemTimeout, "1s")

	db := open(t, config(t, address))
	table := databasetest.Describe(t, db, "slow")
	sleeping := func() (n int) {
		const sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'feedmill' AND state = 'active' AND query LIKE '%slow%' AND wait_event = 'PgSleep'"
		if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, _, err := databasetest.Read(ctx, table, feedmill.Query{})
		ended <- err
	}()
	for sleeping() == 0 {
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	for sleeping() > 0 { // the server has stopped, or this does not
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("the database is of no use any more: %v", err)
	}
}

// breaking is a sink that does something after the first rows.
type breaking struct{ then func() }

func (breaking) Columns(context.Context, []feedmill.Column) error { return nil }

func (b breaking) Rows(context.Context, []columnar.Vector) error {
	b.then()
	return nil
}

func TestConnectionsThatBreak(t *testing.T) {
	address := pgtest.New(t)
	conn := connect(t, address)
	exec(t, conn, `CREATE VIEW long AS SELECT n AS id, repeat('x', 100) AS x FROM generate_series(1, 400000) n`)
	c := config(t, address)
	// There are more than one: what ends is followed by one that cancels its statement.
	var mu sync.Mutex
	var dialled []net.Conn
	c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			dialled = append(dialled, conn)
		}
		return conn, err
	}
	db := open(t, c)
	table := databasetest.Describe(t, db, "long")
	tree, _ := query.Resolve(feedmill.Query{}, database.Columns(table.Fields()))
	for name, then := range map[string]func(){
		"dropped": func() {
			mu.Lock()
			defer mu.Unlock()
			for _, conn := range dialled {
				conn.Close()
			}
		},
		"ended by the server": func() {
			exec(t, conn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'feedmill' AND query LIKE '%long%'")
		},
	} {
		_, err := table.Read(t.Context(), tree, breaking{then})
		t.Logf("%s: %v", name, err)
		wantProblem(t, err, database.ProblemUnreachable, "connection")
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("%s: no new connection: %v", name, err)
		}
	}
}
