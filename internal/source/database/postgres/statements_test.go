package postgres_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// The suite, and what the server saw of it: its own log has nothing but what was meant to run, whatever the queries
// say; and a server that is restarted in the middle is a failure and then there
// again.
func TestSuite(t *testing.T) {
	server := pgtest.Start(t, pgtest.Options{Settings: map[string]string{
		"logging_collector": "on", "log_statement": "all", "log_line_prefix": "@@%a@@", "log_destination": "stderr", "log_min_error_statement": "panic",
	}})
	address := server.NewDatabase(t)
	conn := connect(t, address)
	load(t, conn, "things")
	for _, statement := range databasetest.OtherStatements {
		exec(t, conn, statement)
	}
	db := open(t, config(t, address))
	databasetest.Run(t, db, "things", databasetest.Others)

	var log string
	if err := conn.QueryRow(t.Context(), "SELECT pg_read_file(pg_current_logfile())").Scan(&log); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, entry := range strings.Split(log, "@@feedmill@@") {
		entry, _, _ = strings.Cut(entry, "\n@@")
		kind, sql, _ := strings.Cut(entry, ": ")
		sql = strings.TrimSpace(sql)
		if kind != "LOG" || !strings.HasPrefix(sql, "execute") && !strings.HasPrefix(sql, "statement") {
			continue
		}
		_, sql, _ = strings.Cut(sql, ": ")
		ran++
		if !intended(sql) {
			t.Errorf("the server ran: %s", sql)
		}
	}
	if ran < 1000 {
		t.Errorf("the log has %d statements", ran)
	}
	if intended(`SELECT "id" AS f0 FROM "public"."things" WHERE "name" = '' OR 1=1`) || intended(`SELECT "id" AS f0 FROM "public"."things"; DROP TABLE things`) {
		t.Error("what is not intended is not seen")
	}

	exec(t, conn, `CREATE VIEW long AS SELECT n AS id, repeat('x', 100) AS x FROM generate_series(1, 400000) n`)
	table := databasetest.Describe(t, db, "long")
	tree, _ := query.Resolve(feedmill.Query{}, database.Columns(table.Fields()))
	stopped := false
	_, err := table.Read(t.Context(), tree, breaking{func() {
		if !stopped {
			stopped = true
			server.Stop(t, pgtest.Immediate)
		}
	}})
	wantProblem(t, err, database.ProblemUnreachable, "connection")
	wantProblem(t, db.Ping(t.Context()), database.ProblemUnreachable, "Connecting")
	server.Start(t)
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("the server is there again, and %v", err)
	}
}

var (
	quotedName = regexp.MustCompile(`"(?:[^"]|"")*"`)
	catalogue  = regexp.MustCompile(`^(?:WITH RECURSIVE below AS .*)?SELECT .*FROM pg_catalog\.pg_(class|attribute) [^;]*$`)
	begin      = regexp.MustCompile(`^SET default_transaction_read_only = on; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = \d+; SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL extra_float_digits = 1; SET LOCAL standard_conforming_strings = on$`)
	estimate   = regexp.MustCompile(`^(?:EXPLAIN \(FORMAT JSON\) SELECT 1 FROM "(?:[^"]|"")*"\."(?:[^"]|"")*"(?:; |$))+$`)
)

func intended(sql string) bool {
	sql, _, _ = strings.Cut(sql, "\nDETAIL:")
	flat := strings.Join(strings.Fields(sql), " ")
	return begin.MatchString(flat) || flat == "ROLLBACK" || flat == "SELECT 1" || flat == "-- ping" || catalogue.MatchString(flat) || estimate.MatchString(flat) ||
		databasetest.IsSelection(sql, quotedName)
}
