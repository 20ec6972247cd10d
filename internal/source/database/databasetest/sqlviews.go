package databasetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/database"
)

// DescribeSQL describes the rows of SQL that a user wrote.
func DescribeSQL(t *testing.T, db database.Database, sql string) (database.Table, error) {
	t.Helper()
	return db.SQLTable(t.Context(), feedmill.SQLView{ID: feedmill.NewID(feedmill.PrefixSQLView), Name: "shown", SQL: sql}, feedmill.RulesCurrent)
}

// RunSQL runs the queries of the suite on SQL that returns the columns and rows of the suite. It
// leaves out queries of some columns, which have other types in SQL views.
func RunSQL(t *testing.T, db database.Database, sql string, without ...string) {
	t.Helper()
	table, err := DescribeSQL(t, db, sql)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range table.Fields() {
		want := Columns[i]
		if f.Name != want.Name || !slices.Contains(without, f.Name) && f.Type != want.Type {
			t.Errorf("field %d is %s of type %s, want %s of type %s", i, f.Name, f.Type, want.Name, want.Type)
		}
	}
	ran := 0
	for _, text := range specs {
		if !slices.ContainsFunc(without, func(name string) bool { return strings.Contains(text, `"`+name+`"`) }) {
			check(t, table, text)
			ran++
		}
	}
	if ran < len(specs)/2 {
		t.Errorf("%d of %d queries ran", ran, len(specs))
	}
}

// Refused checks that SQL is refused, all of it.
func Refused(t *testing.T, db database.Database, statements []string) {
	t.Helper()
	for _, sql := range statements {
		_, err := DescribeSQL(t, db, sql)
		if failure, ok := errors.AsType[*feedmill.SourceFailure](err); !ok || failure.Type != database.ProblemSQL {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Bounded reads SQL that a server could work on for ever, or send more of than can be held. It must
// end, with an error or not.
func Bounded(t *testing.T, db database.Database, statements []string) {
	t.Helper()
	for _, sql := range statements {
		began := time.Now()
		table, err := DescribeSQL(t, db, sql)
		if err == nil {
			_, _, err = Read(t.Context(), table, feedmill.Query{Limit: 10})
		}
		if _, ok := errors.AsType[*feedmill.SourceFailure](err); err != nil && !ok {
			t.Errorf("%s: %v", sql, err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %s", sql, took)
		}
	}
}

// HostileSQL is refused by every database: what is not one statement that reads.
var HostileSQL = []string{
	"", " ", ";", "-- nothing", "/* nothing */", "()", "(", ")", "SELECT", "SELECT 1)", "(SELECT 1", "SELECT (1", "SELECT 1))", "((SELECT 1)",
	"SELECT 1; SELECT 2", "SELECT 1;;", "; SELECT 1", "SELECT 1; -- x\nSELECT 2", "SELECT 1; DROP TABLE victims", "SELECT 1;DELETE FROM victims", "SELECT 1 AS a;/* */UPDATE victims SET n = 0",
	"SELECT 1) AS v; DROP TABLE victims; SELECT * FROM (SELECT 1", "SELECT 1) AS v, (SELECT 2", "SELECT 1) AS v UNION SELECT * FROM (SELECT 2", "SELECT 1) --", "SELECT 1) AS t WHERE 1 = 1 --",
	"SELECT 1 /*", "SELECT 1 /* ) AS v", "SELECT 'x", "SELECT 1 AS \"x", "SELECT 1 AS a, 2 AS a",
	"INSERT INTO victims VALUES (9)", "INSERT INTO victims SELECT 9", "UPDATE victims SET n = 0", "DELETE FROM victims", "DROP TABLE victims", "TRUNCATE victims", "TRUNCATE TABLE victims",
	"CREATE TABLE made (n int)", "CREATE TABLE made AS SELECT 1 AS n", "CREATE VIEW made AS SELECT 1 AS n", "CREATE INDEX made ON victims (n)", "CREATE TEMPORARY TABLE made (n int)",
	"ALTER TABLE victims ADD COLUMN m int", "GRANT ALL ON victims TO PUBLIC", "REVOKE ALL ON victims FROM PUBLIC", "CREATE USER made", "CREATE FUNCTION made() RETURNS int RETURN 1",
	"BEGIN", "COMMIT", "ROLLBACK", "START TRANSACTION", "SAVEPOINT s", "SET a = 1", "SET TRANSACTION READ WRITE", "PREPARE p AS SELECT 1", "EXECUTE p", "DEALLOCATE p", "DISCARD ALL",
	"LOCK TABLE victims", "ANALYZE victims", "VACUUM", "EXPLAIN SELECT 1", "SHOW TABLES", "CALL made()", "DO 1", "USE other", "KILL 1", "FLUSH TABLES", "HANDLER victims OPEN",
	"SELECT * FROM victims FOR UPDATE", "SELECT * FROM victims FOR SHARE", "SELECT * FROM (SELECT * FROM victims FOR UPDATE) x", "SELECT * FROM victims /* x */ FOR -- y\n UPDATE",
	"SELECT n INTO made FROM victims", "SELECT n FROM missing", "SELECT missing FROM victims", "SELECT missing(n) FROM victims", "SELEKT 1", "SELECT 1 FROM", "SELECT * FROM victims WHERE",
	"WITH x AS (INSERT INTO victims VALUES (9) RETURNING n) SELECT * FROM x", "WITH x AS (DELETE FROM victims RETURNING n) SELECT * FROM x", "WITH x AS (UPDATE victims SET n = 0 RETURNING n) SELECT * FROM x",
	"WITH x AS (SELECT 1) INSERT INTO victims SELECT * FROM x", "WITH x AS (SELECT 1 AS n) DELETE FROM victims", "SELECT 1 AS a\x00", "SELECT '\xff' AS a", "SELECT 1 AS a" + strings.Repeat(" ", feedmill.MaxSQL),
	"COPY victims TO STDOUT", "COPY victims FROM STDIN", "ATTACH DATABASE 'x' AS y", "DETACH y", "PRAGMA writable_schema = 1", "LOAD 'x'", "INSTALL httpfs", "IMPORT DATABASE 'x'",
}
