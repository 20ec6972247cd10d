package mysql_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
)

func TestTypes(t *testing.T) {
	writer, config := create(t, server(t))
	db := open(t, config)
	for i, test := range []struct {
		native, value string
		kind          columnar.Type
		precision     int
		scale         int
		want          string
		warning       string
	}{
		{"TINYINT", "-7", columnar.TypeInteger, 0, 0, "-7", ""},
		{"TINYINT(1)", "1", columnar.TypeBoolean, 0, 0, "true", ""},
		{"TINYINT(1)", "7", columnar.TypeBoolean, 0, 0, "true", feedmill.WarnTruth},
		{"BIT(1)", "b'1'", columnar.TypeBoolean, 0, 0, "true", ""},
		{"BIT(12)", "b'101010101010'", columnar.TypeInteger, 0, 0, "2730", ""},
		{"BIT(64)", "18446744073709551615", columnar.TypeDecimal, 20, 0, "18446744073709551615", ""},
		{"INT UNSIGNED", "4294967295", columnar.TypeInteger, 0, 0, "4294967295", ""},
		{"BIGINT", "-9223372036854775808", columnar.TypeInteger, 0, 0, "-9223372036854775808", ""},
		{"BIGINT UNSIGNED", "18446744073709551615", columnar.TypeDecimal, 20, 0, "18446744073709551615", ""},
		{"YEAR", "2026", columnar.TypeInteger, 0, 0, "2026", ""},
		{"DECIMAL(10,2)", "-1234.50", columnar.TypeDecimal, 10, 2, "-2469/2", ""},
		{"DECIMAL(38,10)", "1234567890123456789012345678.0123456789", columnar.TypeDecimal, 38, 10, "12345678901234567890123456780123456789/10000000000", ""},
		{"DECIMAL(60,2)", "1.25", columnar.TypeDecimal, 18, 2, "5/4", ""},
		{"DECIMAL(60,2)", "1e45", columnar.TypeNumber, 0, 0, "1e+45", ""},
		{"DECIMAL(60,2)", "-1234567890123456789012345678901234567890.50", columnar.TypeText, 0, 0, "-1234567890123456789012345678901234567890.5", feedmill.WarnDigits},
		{"FLOAT", "0.5", columnar.TypeNumber, 0, 0, "0.5", ""},
		{"DATE", "'2024-02-29'", columnar.TypeDate, 0, 0, "2024-02-29T00:00:00Z", ""},
		{"DATE", "'0000-00-00'", columnar.TypeDate, 0, 0, "<null>", feedmill.WarnOutOfRange},
		{"DATE", "'2024-00-15'", columnar.TypeDate, 0, 0, "<null>", feedmill.WarnOutOfRange},
		{"DATETIME", "'2024-02-29 23:59:59'", columnar.TypeTimestamp, 0, 0, "2024-02-29T23:59:59Z", ""},
		{"DATETIME(6)", "'2024-02-29 23:59:59.123456'", columnar.TypeTimestamp, 0, 0, "2024-02-29T23:59:59.123456Z", ""},
		{"DATETIME", "'0000-00-00 00:00:00'", columnar.TypeTimestamp, 0, 0, "<null>", feedmill.WarnOutOfRange},
		{"TIMESTAMP(3) NULL", "'2024-02-29 12:00:00.125'", columnar.TypeTimestamp, 0, 0, "2024-02-29T12:00:00.125Z", ""},
		{"TIME", "'-30:00:01'", columnar.TypeText, 0, 0, "-30:00:01", ""},
		{"VARCHAR(20) CHARACTER SET latin1", "'Ärger'", columnar.TypeText, 0, 0, "Ärger", ""},
		{"CHAR(5) CHARACTER SET utf8mb4", "'ab'", columnar.TypeText, 0, 0, "ab", ""},
		{"ENUM('sad', 'happy')", "'happy'", columnar.TypeText, 0, 0, "happy", ""},
		{"SET('a', 'b')", "'b,a'", columnar.TypeText, 0, 0, "a,b", ""},
		{"BLOB", "x'00ff'", columnar.TypeText, 0, 0, "AP8=", ""},
		{"VARBINARY(100)", "repeat(x'00', 90)", columnar.TypeText, 0, 0, strings.Repeat("A", 120), ""},
		{"JSON", `'{"a": [1]}'`, columnar.TypeJSON, 0, 0, `{"a":[1]}`, ""},
		{"POINT", "ST_GeomFromText('POINT(1 2)')", columnar.TypeText, 0, 0, "POINT(1 2)", ""},
		{"UUID", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", columnar.TypeText, 0, 0, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", ""},
	} {
		name := "t" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		exec(t, writer, "CREATE TABLE "+name+" (v "+test.native+")")
		exec(t, writer, "INSERT INTO "+name+" VALUES ("+test.value+"), (NULL)")
		table := databasetest.Describe(t, db, name)
		var sort []feedmill.Sort
		if test.kind != columnar.TypeJSON {
			sort = []feedmill.Sort{{Name: "v"}}
		}
		got, done, err := databasetest.Read(t.Context(), table, feedmill.Query{Sort: sort})
		if err != nil {
			t.Errorf("%s: %v", test.native, err)
			continue
		}
		warning := ""
		if len(done.Warnings) > 0 {
			warning = done.Warnings[0].Code
		}
		c := got.Columns[0]
		if c.Type != test.kind || c.Precision != test.precision && c.Type == columnar.TypeDecimal || c.Scale != test.scale || warning != test.warning {
			t.Errorf("%s %s is %+v with the warning %q, want %+v", test.native, test.value, c, warning, test)
		}
		if diff := cmp.Diff([][]string{{test.want}, {"<null>"}}, got.Rows); diff != "" {
			t.Errorf("%s %s: %s", test.native, test.value, diff)
		}
		null := 1
		if test.want == "<null>" {
			null = 2
		}
		for _, f := range []feedmill.Filter{{Op: feedmill.OpIsNull}, {Op: feedmill.OpIsNull, Inverted: true}} {
			got, _, err := databasetest.Read(t.Context(), table, feedmill.Query{Where: []feedmill.Condition{{Name: "v", Filters: []feedmill.Filter{f}}}})
			if want := map[bool]int{false: null, true: 2 - null}[f.Inverted]; err != nil || len(got.Rows) != want {
				t.Errorf("%s %s: %v rows are null, want %d: %v", test.native, test.value, got, want, err)
			}
		}
	}
}

func wantProblem(t *testing.T, err error, problem, says string) {
	t.Helper()
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
	if !ok || failure.Type != problem || failure.Title == "" || !strings.Contains(failure.Detail, says) || strings.Contains(failure.Detail, "secret") {
		t.Errorf("%#v, want %s that says %q", err, problem, says)
	}
}

func TestWhatChangesUnderneathFails(t *testing.T) {
	writer, config := create(t, server(t))
	db := open(t, config)
	for _, test := range []struct{ change, problem, says string }{
		{"ALTER TABLE changing RENAME COLUMN name TO other", database.ProblemField, "name"},
		{"ALTER TABLE changing MODIFY id VARCHAR(20)", database.ProblemField, `"id"`},
		{"DROP TABLE changing", database.ProblemView, "changing"},
	} {
		exec(t, writer, "CREATE TABLE changing (id INT, name TEXT)")
		exec(t, writer, "INSERT INTO changing VALUES (1, 'a')")
		table := databasetest.Describe(t, db, "changing")
		exec(t, writer, test.change)
		_, _, err := databasetest.Read(t.Context(), table, feedmill.Query{})
		wantProblem(t, err, test.problem, test.says)
		exec(t, writer, "DROP TABLE IF EXISTS changing")
	}
}

func TestPermissionsAndWriting(t *testing.T) {
	writer, config := create(t, server(t))
	for _, statement := range []string{
		"CREATE TABLE shown (id INT, name TEXT)", "CREATE TABLE written (n INT)",
		"CREATE FUNCTION write_one() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO written VALUES (1); RETURN 1; END",
		"CREATE VIEW writing AS SELECT 1 AS id",
		"CREATE OR REPLACE USER reader IDENTIFIED BY 'secret'", "GRANT SELECT (id) ON shown TO reader",
	} {
		exec(t, writer, statement)
	}
	all := open(t, config)
	writing := databasetest.Describe(t, all, "writing")
	exec(t, writer, "CREATE OR REPLACE VIEW writing AS SELECT write_one() AS id")
	_, _, err := databasetest.Read(t.Context(), writing, feedmill.Query{})
	wantProblem(t, err, database.ProblemStatement, "READ ONLY")
	_, err = all.Table(t.Context(), "writing", feedmill.RulesCurrent)
	wantProblem(t, err, database.ProblemPermission, "writing")
	var n int
	if err := writer.QueryRow("SELECT count(*) FROM written").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows were written: %v", n, err)
	}

	config.User, config.Password = "reader", "secret"
	db := open(t, config)
	views, err := db.Views(t.Context())
	if err != nil || len(views) != 1 || views[0].Name != "shown" {
		t.Errorf("%v %v", views, err)
	}
	table := databasetest.Describe(t, db, "shown")
	if fields := table.Fields(); len(fields) != 1 || fields[0].Name != "id" {
		t.Errorf("%+v", fields)
	}
	exec(t, writer, "GRANT SELECT (name) ON shown TO reader")
	exec(t, writer, "REVOKE SELECT (id) ON shown FROM reader")
	_, _, err = databasetest.Read(t.Context(), table, feedmill.Query{})
	wantProblem(t, err, database.ProblemPermission, "shown")
	config.Password = "another"
	wantProblem(t, open(t, config).Ping(t.Context()), database.ProblemCredential, "reader")
	config.Port = 1
	wantProblem(t, open(t, config).Ping(t.Context()), database.ProblemUnreachable, "refused")
}

func TestTimeoutAndCancel(t *testing.T) {
	writer, config := create(t, server(t))
	exec(t, writer, "CREATE VIEW slow AS SELECT SLEEP(600) AS id")
	short := config
	short.StatementTimeout = time.Second // in which a busy machine, too, says what the view is
	_, _, err := databasetest.Read(t.Context(), databasetest.Describe(t, open(t, short), "slow"), feedmill.Query{})
	wantProblem(t, err, database.ProblemTimeout, "1s")

	db := open(t, config)
	table := databasetest.Describe(t, db, "slow")
	sleeping := func() (n int) {
		if err := writer.QueryRow("SELECT count(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'").Scan(&n); err != nil {
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

// A row that is larger than what is collected of one is refused. The next ones are not.
func TestRowsAreBounded(t *testing.T) {
	writer, config := create(t, server(t))
	var before int64
	if err := writer.QueryRow("SELECT @@GLOBAL.max_allowed_packet").Scan(&before); err != nil {
		t.Fatal(err)
	}
	exec(t, writer, "SET GLOBAL max_allowed_packet = 1073741824")
	defer exec(t, writer, fmt.Sprint("SET GLOBAL max_allowed_packet = ", before))
	exec(t, writer, "CREATE VIEW wide AS SELECT 1 AS id, REPEAT('x', 70 * 1024 * 1024) AS huge, REPEAT('x', 16 * 1024 * 1024) AS large, REPEAT('x', 16 * 1024 * 1024 + 1) AS larger")
	db := open(t, config)
	table := databasetest.Describe(t, db, "wide")
	_, _, err := databasetest.Read(t.Context(), table, feedmill.Query{})
	wantProblem(t, err, database.ProblemStatement, "more than 64 MiB")
	got, _, err := databasetest.Read(t.Context(), table, feedmill.Query{Fields: []feedmill.Field{{Name: "large"}}})
	if err != nil || len(got.Rows) != 1 || len(got.Rows[0][0]) != 16<<20 {
		t.Errorf("%v", err)
	}
	_, _, err = databasetest.Read(t.Context(), table, feedmill.Query{Fields: []feedmill.Field{{Name: "id"}, {Name: "larger"}}})
	wantProblem(t, err, database.ProblemStatement, `The value of "larger" in row 1 has 16777217 bytes; the maximum is 16 MiB.`)
	// What many rows have together is no matter.
	exec(t, writer, "CREATE VIEW many AS SELECT seq AS id, REPEAT('x', 1024 * 1024) AS x FROM seq_1_to_70")
	tree, _ := query.Resolve(feedmill.Query{}, database.Columns(databasetest.Describe(t, db, "many").Fields()))
	done, err := databasetest.Describe(t, db, "many").Read(t.Context(), tree, breaking{func() {}})
	if err != nil || done.Rows != 70 {
		t.Errorf("%d rows: %v", done.Rows, err)
	}
}

func TestConnectionsThatBreak(t *testing.T) {
	server := server(t)
	writer, config := create(t, server)
	exec(t, writer, "CREATE VIEW long_one AS SELECT seq AS id, REPEAT('x', 100) AS x FROM seq_1_to_400000")
	var mu sync.Mutex
	var dialled []net.Conn
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			dialled = append(dialled, conn)
		}
		return conn, err
	}
	db := open(t, config)
	table := databasetest.Describe(t, db, "long_one")
	tree, _ := query.Resolve(feedmill.Query{}, database.Columns(table.Fields()))
	for name, then := range map[string]func(){
		"dropped": func() {
			mu.Lock()
			defer mu.Unlock()
			for _, conn := range dialled {
				conn.Close()
			}
		},
		"ended by the server": sync.OnceFunc(func() { // more rows may be on their way
			var id int64
			if writer.QueryRow("SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE '%long_one%' AND ID <> CONNECTION_ID()").Scan(&id) == nil {
				exec(t, writer, fmt.Sprint("KILL ", id))
			}
		}),
	} {
		_, err := table.Read(t.Context(), tree, breaking{then})
		wantProblem(t, err, database.ProblemUnreachable, "connection")
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("%s: no new connection: %v", name, err)
		}
	}
	// The server is killed in the middle, and started again.
	killed := false
	_, err := table.Read(t.Context(), tree, breaking{func() {
		if !killed {
			killed = true
			server.Kill()
		}
	}})
	wantProblem(t, err, database.ProblemUnreachable, "connection")
	wantProblem(t, db.Ping(t.Context()), database.ProblemUnreachable, "refused")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if done, err := table.Read(t.Context(), tree, breaking{func() {}}); err != nil || done.Rows != 400_000 {
		t.Errorf("the server is there again, and %d rows are read: %v", done.Rows, err)
	}
}
