package mysql_test

import (
	"database/sql"
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

// asReader is a database with victims, as its owner sees it, and how a user that may only read
// reaches it.
func asReader(t *testing.T) (*sql.DB, database.Config) {
	t.Helper()
	writer, c := create(t, server(t))
	exec(t, writer, "CREATE TABLE victims (n int) ENGINE=InnoDB")
	exec(t, writer, "INSERT INTO victims VALUES (1), (2), (3)")
	exec(t, writer, "CREATE SEQUENCE counted")
	exec(t, writer, "CREATE FUNCTION grow() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO victims VALUES (9); RETURN 1; END")
	exec(t, writer, "CREATE FUNCTION hold() RETURNS int READS SQL DATA RETURN GET_LOCK('feedmill-test', 1)")
	user := "reader_" + c.Database
	exec(t, writer, "CREATE USER "+user+"@'%' IDENTIFIED BY 'sql-reader-password'")
	exec(t, writer, "GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON "+c.Database+".* TO "+user+"@'%'")
	c.User, c.Password = user, "sql-reader-password"
	return writer, c
}

func TestSQLViewSuite(t *testing.T) {
	writer, c := asReader(t)
	load(t, writer, "things")
	databasetest.RunSQL(t, open(t, c), "SELECT * FROM things; -- all of them", "paid", "extra")
}

// Nothing that a SQL view does is left, and nothing outside of the database is read.
func TestHostileSQLViews(t *testing.T) {
	writer, c := asReader(t)
	c.StatementTimeout = 2 * time.Second
	db := open(t, c)
	state := func() (text string) {
		t.Helper()
		err := writer.QueryRow(`SELECT CONCAT_WS(' ', (SELECT GROUP_CONCAT(n ORDER BY n) FROM victims), (SELECT next_not_cached_value FROM counted),
			(SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = 'made'), COALESCE(IS_USED_LOCK('feedmill-test'), 'free'), COALESCE(IS_USED_LOCK('direct'), 'free'))`).Scan(&text)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := state()
	file := filepath.Join(t.TempDir(), "stolen")
	databasetest.Refused(t, db, databasetest.HostileSQL)
	databasetest.Refused(t, db, []string{
		"SELECT LOAD_FILE('/etc/passwd') AS a", "SELECT load_file /* x */ ('/etc/passwd') AS a", "SELECT `LOAD_FILE`('/etc/passwd') AS a", "SELECT 1 AS a INTO OUTFILE '" + file + "'", "SELECT 1 AS a INTO DUMPFILE '" + file + "'",
		"SELECT n INTO OUTFILE '" + file + "' FROM victims", "SELECT 1 AS a INTO @a", "SELECT SLEEP(100) AS a", "SELECT BENCHMARK(1000000000, MD5('a')) AS a", "SELECT GET_LOCK('direct', 10) AS a", "SELECT RELEASE_ALL_LOCKS() AS a",
		"SELECT NEXTVAL(counted) AS a", "SELECT NEXT VALUE FOR counted AS a", "SELECT SETVAL(counted, 99) AS a", "SELECT LAST_INSERT_ID(5) AS a", "SELECT * FROM victims LOCK IN SHARE MODE", "SELECT ? AS a", "SELECT 1 AS a WHERE 1 = ?",
		"SELECT 1 AS a /*! INTO OUTFILE '" + file + "' */", "SELECT 1 /*!50000 , LOAD_FILE('/etc/passwd') */ AS a", "SELECT 1 /*M! , 2 */ AS a", "SELECT /*+ SET_VAR(sql_mode='') */ 1 AS a", "SELECT /*+ MAX_EXECUTION_TIME(0) */ 1 AS a",
		"SELECT 1 AS a # x\n; DELETE FROM victims", "SELECT '\\' AS a", "SELECT \";\" AS a; DELETE FROM victims", "SELECT 1 AS `;`; DELETE FROM victims", "SELECT 1 AS `a",
		"SET STATEMENT max_statement_time=0 FOR SELECT 1 AS a", "LOAD DATA INFILE '/etc/passwd' INTO TABLE victims", "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE victims", "REPLACE INTO victims VALUES (9)", "RENAME TABLE victims TO made",
		"DO SLEEP(100)", "DO GET_LOCK('direct', 10)", "HANDLER victims READ FIRST", "CHECK TABLE victims", "OPTIMIZE TABLE victims", "INSTALL SONAME 'x'", "XA START 'x'", "CHANGE MASTER TO MASTER_HOST='x'", "PURGE BINARY LOGS TO 'x'", "SHUTDOWN",
		"SELECT * FROM mysql.user", "SELECT * FROM mysql.global_priv", "BEGIN NOT ATOMIC DELETE FROM victims; END", "SELECT * FROM victims PROCEDURE ANALYSE()", "SELECT n AS A, n AS a FROM victims", "EXECUTE IMMEDIATE 'DELETE FROM victims'",
		"SELECT 1--1) AS v, (SELECT 2 AS a", "SELECT * FROM victims INTO OUTFILE '" + file + "' FOR UPDATE",
	})
	databasetest.Bounded(t, db, []string{
		"SELECT grow() AS a", "SELECT hold() AS a", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r) SELECT COUNT(*) AS a FROM r",
		"SELECT COUNT(*) AS a FROM information_schema.COLUMNS a, information_schema.COLUMNS b, information_schema.COLUMNS c", "SELECT REPEAT('x', 10000000) AS a", "SELECT @a := 5 AS a", "SELECT CONNECTION_ID() AS a, RAND() AS r, NOW() AS n FROM victims",
		"SELECT a.n FROM victims a, victims b, victims c, victims d, victims e, victims f, victims g, victims h, victims i, victims j, victims k, victims l, victims m, victims o ORDER BY 1",
	})
	if after := state(); after != before {
		t.Errorf("the state was %q and is %q", before, after)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
}

// A user that may read files or change the server runs no SQL of others.
func TestUnsafeUsers(t *testing.T) {
	writer, c := asReader(t)
	refused := func(c database.Config) string {
		t.Helper()
		_, err := databasetest.DescribeSQL(t, open(t, c), "SELECT 1 AS a")
		if failure, ok := errors.AsType[*feedmill.SourceFailure](err); ok && failure.Type == database.ProblemUser {
			return failure.Detail
		}
		if err != nil {
			t.Error(err)
		}
		return ""
	}
	root := c
	root.User, root.Password = "root", ""
	if why := refused(root); !strings.Contains(why, "ALL PRIVILEGES") {
		t.Errorf("root: %q", why)
	}
	for _, privilege := range []string{"FILE", "SUPER", "PROCESS", "SELECT, FILE"} {
		exec(t, writer, "GRANT "+privilege+" ON *.* TO "+c.User+"@'%'")
		if refused(c) == "" {
			t.Errorf("%s: the user is not refused", privilege)
		}
		exec(t, writer, "REVOKE "+privilege+" ON *.* FROM "+c.User+"@'%'")
	}
	exec(t, writer, "CREATE ROLE files_"+c.Database)
	exec(t, writer, "GRANT FILE ON *.* TO files_"+c.Database)
	exec(t, writer, "GRANT files_"+c.Database+" TO "+c.User+"@'%'")
	exec(t, writer, "SET DEFAULT ROLE files_"+c.Database+" FOR "+c.User+"@'%'")
	if refused(c) == "" {
		t.Error("a role with FILE: the user is not refused")
	}
	exec(t, writer, "DROP ROLE files_"+c.Database)
	exec(t, writer, "GRANT SELECT ON *.* TO "+c.User+"@'%'")
	if why := refused(c); why != "" {
		t.Errorf("a reader: %s", why)
	}
}

// SQL that does not fit is refused with the words of the server and the place.
func TestRefusalOfSQL(t *testing.T) {
	_, c := asReader(t)
	db := open(t, c)
	for sql, want := range map[string]string{
		"SELECT n\nFORM victims":        "near 'victims' at line 2",
		"SELECT missing FROM victims":   "Unknown column 'missing'",
		"SELECT n, 2 AS N FROM victims": "Duplicate column name",
	} {
		_, err := databasetest.DescribeSQL(t, db, sql)
		if failure, ok := errors.AsType[*feedmill.SourceFailure](err); !ok || failure.Type != database.ProblemSQL || !strings.Contains(failure.Detail, want) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	table, err := databasetest.DescribeSQL(t, db, "SELECT 1.50 AS d, CAST(18446744073709551615 AS UNSIGNED) AS u, 'x' AS s, NOW() AS n, CAST(NOW() AS DATE) AS day, 1e0 AS f, b'101' AS bits, NULL AS nothing, UNHEX('41') AS raw;  # end")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range table.Fields() {
		got = append(got, f.Name+" "+string(f.Type))
	}
	if all := strings.Join(got, ", "); all != "d decimal, u decimal, s text, n timestamp, day date, f number, bits text, nothing text, raw text" {
		t.Errorf("%s", all)
	}
	if _, _, err := databasetest.Read(t.Context(), table, feedmill.Query{}); err != nil {
		t.Error(err)
	}
}
