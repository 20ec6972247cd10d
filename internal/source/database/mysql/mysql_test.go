package mysql_test

import (
	"database/sql"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/mysql"
)

// shared is the server of all tests.
var shared = sync.OnceValues(func() (*databasetest.MariaDB, error) { return databasetest.StartMariaDB("--general-log=1") })

func TestMain(m *testing.M) {
	code := m.Run()
	if server, err := shared(); err == nil && server != nil {
		server.Close()
	}
	os.Exit(code)
}

var databases atomic.Int64

// create makes a database, and how to reach it as somebody who may do all.
func create(t *testing.T, server *databasetest.MariaDB) (*sql.DB, database.Config) {
	t.Helper()
	config := driver.NewConfig()
	config.Net, config.Addr, config.User = "tcp", fmt.Sprintf("127.0.0.1:%d", server.Port), "root"
	connector, err := driver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test%d", databases.Add(1))
	admin := sql.OpenDB(connector)
	exec(t, admin, "CREATE DATABASE "+name)
	admin.Close()
	config.DBName = name
	config.Params = map[string]string{"sql_mode": "''", "time_zone": "'+00:00'"}
	connector, err = driver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db, database.Config{Host: "127.0.0.1", Port: server.Port, Database: name, User: "root", TLS: "off"}
}

func open(t *testing.T, c database.Config) database.Database {
	t.Helper()
	db, err := mysql.Connector{}.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

var types = map[columnar.Type]string{
	columnar.TypeText: "TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", columnar.TypeInteger: "BIGINT", columnar.TypeDecimal: "DECIMAL(12,3)", columnar.TypeNumber: "DOUBLE",
	columnar.TypeBoolean: "BOOLEAN", columnar.TypeDate: "DATE", columnar.TypeTimestamp: "DATETIME(6)", columnar.TypeJSON: "JSON",
}

// load makes the table of the suite.
func load(t *testing.T, db *sql.DB, name string) {
	t.Helper()
	var columns []string
	for _, c := range databasetest.Columns {
		null := " NULL"
		if !c.Nullable {
			null = " NOT NULL"
		}
		columns = append(columns, "`"+strings.ReplaceAll(c.Name, "`", "``")+"` "+types[c.Type]+null)
	}
	exec(t, db, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+")")
	for _, row := range databasetest.Rows() {
		values := make([]any, len(row))
		for k, v := range row {
			values[k] = v
			switch v := v.(type) {
			case *big.Rat:
				values[k] = v.FloatString(3)
			case time.Time:
				values[k] = v.Format("2006-01-02 15:04:05.999999")
			}
		}
		exec(t, db, "INSERT INTO "+name+" VALUES (?"+strings.Repeat(", ?", len(row)-1)+")", values...)
	}
}

func server(t *testing.T) *databasetest.MariaDB {
	m, err := shared()
	return databasetest.NeedMariaDB(t, m, err)
}

// The suite, and what the server saw of it: its own log has nothing but what was
// meant to run.
func TestSuite(t *testing.T) {
	m := server(t)
	writer, config := create(t, m)
	load(t, writer, "things")
	for _, statement := range databasetest.OtherStatements {
		exec(t, writer, statement)
	}
	before, err := os.ReadFile(m.Log())
	if err != nil {
		t.Fatal(err)
	}
	databasetest.Run(t, open(t, config), "things", databasetest.Others)
	log, err := os.ReadFile(m.Log())
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	text := string(log[len(before):])
	begins := entry.FindAllStringSubmatchIndex(text, -1)
	for i, at := range begins {
		end := len(text)
		if i+1 < len(begins) {
			end = begins[i+1][0]
		}
		kind, text := text[at[2]:at[3]], strings.TrimSpace(text[at[1]:end])
		if kind == "Connect" || kind == "Quit" || kind == "Close stmt" || kind == "Execute" {
			continue // a statement is prepared before it is executed
		}
		ran++
		if !intended(text) {
			t.Errorf("the server was asked: %s %s", kind, text)
		}
	}
	if ran < 1000 {
		t.Errorf("the log has %d statements", ran)
	}
}

var (
	entry      = regexp.MustCompile(`(?m)^[ \t]*(?:\d{6}[ \t]+\d+:\d+:\d+)?[ \t]+\d+ (Connect|Query|Prepare|Execute|Close stmt|Quit|Init DB)\b`)
	quotedName = regexp.MustCompile("`(?:[^`]|``)*`")
	catalogue  = regexp.MustCompile(`^SELECT [^;]* FROM information_schema\.(TABLES|COLUMNS|CHECK_CONSTRAINTS)`)
	settings   = regexp.MustCompile(`^(SET (SESSION )?(NAMES|time_zone|sql_mode|max_statement_time|max_sort_length|sort_buffer_size|net_write_timeout|TRANSACTION ISOLATION LEVEL REPEATABLE READ|TRANSACTION READ ONLY)[^;]*|START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY|ROLLBACK|SELECT CONNECTION_ID\(\), VERSION\(\))$`)
)

func intended(sql string) bool {
	return settings.MatchString(sql) || catalogue.MatchString(sql) || databasetest.IsSelection(sql, quotedName)
}
