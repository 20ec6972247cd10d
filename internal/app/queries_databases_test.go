package app

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"github.com/feedmill/feedmill/internal/source/database/databasetest"
	"github.com/feedmill/feedmill/internal/source/database/databasetest/duckdbtest"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

// realDatabase is a database of a test, as its owner has it and as a connection
// reaches it.
type realDatabase struct {
	*sql.DB
	connector string
	config    map[string]any
	path      string // of a file of DuckDB, which has no connection of its owner's
}

func (d *realDatabase) do(t testing.TB, statements ...string) {
	t.Helper()
	if d.path != "" {
		duckdbtest.Write(t, d.path, statements...)()
		return
	}
	for _, s := range statements {
		if _, err := d.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func openDatabase(t testing.TB, driver, address, connector string, config map[string]any) *realDatabase {
	t.Helper()
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &realDatabase{DB: db, connector: connector, config: config}
}

func realPostgres(t testing.TB) *realDatabase {
	t.Helper()
	address := pgtest.New(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := strconv.Atoi(u.Port())
	config := map[string]any{"host": u.Hostname(), "port": port, "database": strings.TrimPrefix(u.Path, "/"), "user": u.User.Username()}
	if password, ok := u.User.Password(); ok {
		config["password"] = password
	}
	return openDatabase(t, "pgx", address, "postgres", config)
}

func realMariaDB(t testing.TB) *realDatabase {
	t.Helper()
	server, err := databasetest.StartMariaDB()
	server = databasetest.NeedMariaDB(t, server, err)
	t.Cleanup(server.Close)
	root := openDatabase(t, "mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", server.Port), "mysql", nil)
	root.do(t, "CREATE DATABASE shop", "CREATE USER reader@'%' IDENTIFIED BY 'r3ader'", "GRANT SELECT ON shop.* TO reader@'%'")
	config := map[string]any{"host": "127.0.0.1", "port": server.Port, "database": "shop", "user": "reader", "password": "r3ader"}
	return openDatabase(t, "mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/shop", server.Port), "mysql", config)
}

func realSQLite(t testing.TB, folder string) *realDatabase {
	t.Helper()
	name := filepath.Join(folder, "shop.db")
	return openDatabase(t, "sqlite3", name, "sqlite", map[string]any{"path": name})
}

func realDuckDB(t testing.TB, folder string) *realDatabase {
	t.Helper()
	name := filepath.Join(folder, "shop.duckdb")
	duckdbtest.Write(t, name)()
	return &realDatabase{connector: "duckdb", config: map[string]any{"path": name}, path: name}
}

// connectTo makes a connection to a database under the name of a service.
func (s *service) connectTo(t testing.TB, db *realDatabase, service string) shownConnection {
	t.Helper()
	return s.connected(t, toJSON(map[string]any{"serviceName": service, "connector": db.connector, "config": db.config}))
}

// TestQueriesOfDatabases goes the way of a user with every kind of databases: a
// connection, what there is behind it, a preview, a feed, and refreshes that bring
// what is new.
func TestQueriesOfDatabases(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder)})
	for _, test := range []struct {
		name string
		open func(testing.TB) *realDatabase
	}{
		{"postgres", realPostgres},
		{"mysql", realMariaDB},
		{"sqlite", func(t testing.TB) *realDatabase { return realSQLite(t, folder) }},
		{"duckdb", func(t testing.TB) *realDatabase { return realDuckDB(t, folder) }},
	} {
		t.Run(test.name, func(t *testing.T) { queryDatabase(t, s, test.open(t), test.name) })
	}
	s.stop()
	if strings.Contains(s.log.String(), "r3ader") {
		t.Error("the password of a database is in the log")
	}
}

func queryDatabase(t *testing.T, s *service, db *realDatabase, service string) {
	db.do(t, "CREATE TABLE orders (id integer PRIMARY KEY, status varchar(20), total decimal(10,2), placed timestamp NULL)",
		"INSERT INTO orders VALUES (1, 'paid', 12.50, '2026-01-01 10:00:00'), (2, 'open', 7, '2026-01-02 10:00:00'), (3, 'Paid', 30.25, '2026-01-03 10:00:00'), (4, NULL, 1, '2026-01-04 10:00:00')")
	c := s.connectTo(t, db, service)
	if got := s.send(t, request{method: "POST", path: "/connections/" + c.ID + "/test"}); !strings.HasPrefix(got.body, `{"ok":true,"detail":"The database responds.","durationMs":`) {
		t.Fatal(got.body)
	}
	if got := s.send(t, request{method: "GET", path: "/query_builder/services"}); !strings.Contains(got.body, fmt.Sprintf(`{"serviceName":%q,"title":%q,"connector":%q,"status":"connected"}`, service, service, db.connector)) {
		t.Error(got.body)
	}
	views := "/query_builder/services/" + service + "/views"
	if got := s.send(t, request{method: "GET", path: views + "?q=ORD"}); !strings.HasPrefix(got.body, `[{"name":"orders","label":"orders","description":"","kind":"table","rowEstimate":`) {
		t.Error(got.body)
	}
	var fields []struct {
		Name, Type string
		Pushdown   []string
	}
	if err := json.Unmarshal([]byte(s.send(t, request{method: "GET", path: views + "/orders/fields"}).body), &fields); err != nil {
		t.Fatal(err)
	}
	described := ""
	for _, f := range fields {
		described += f.Name + " " + f.Type + "; "
	}
	if described != "id integer; status text; total decimal; placed timestamp; " {
		t.Error(described)
	}
	spec := `"serviceName":"` + service + `","viewName":"orders"`
	preview := s.send(t, request{method: "POST", path: "/query_builder/preview", body: `{` + spec + `,"query":{"fields":[{"field":"total","aggregate":"sum"},
		{"field":"status","select":false,"filters":[{"op":"contains","values":["PAI"]}]},{"field":"placed","select":false,"filters":[{"op":"between","values":["2025-12-31","2026-01-03"]}]}]}}`})
	for _, want := range []string{`"rows":[{"total":42.75}]`, `"sql":"SELECT `, `"durationMs":`, `"warnings":[]`} {
		if !strings.Contains(preview.body, want) {
			t.Errorf("%d %s lacks %s", preview.status, preview.body, want)
		}
	}
	ran := "source"
	if !slices.Contains(fields[1].Pushdown, "matches") {
		ran = "here"
	}
	matched := s.send(t, request{method: "POST", path: "/query_builder/preview", body: `{` + spec + `,"query":{"fields":[{"field":"id","aggregate":"count","filters":[{"op":"gt","values":[0]}]},
		{"field":"status","select":false,"filters":[{"op":"matches","values":["^p"],"inverted":true}]}]}}`})
	want := fmt.Sprintf(`"filters":[{"field":"id","op":"gt","inverted":false,"ranIn":"source"},{"field":"status","op":"matches","inverted":true,"ranIn":%q}],"groupedHere":%v`, ran, ran == "here")
	if !strings.Contains(matched.body, want) || !strings.Contains(matched.body, `"rows":[{"id":3}]`) {
		t.Errorf("%d %s lacks %s", matched.status, matched.body, want)
	}
	f := s.queried(t, `{`+spec+`,"name":"Orders","query":{"fields":[{"field":"id"},{"field":"total"},{"field":"placed"}]},
		"mode":"merge","key":["id"],"incremental":{"field":"placed"},"schedule":{"every":"1h"}}`)
	if f.State != "ready" || f.NextRefreshAt == nil || f.LastRefresh.RowsIn != 4 {
		t.Fatalf("%+v", f)
	}
	db.do(t, "UPDATE orders SET total = 2, placed = '2026-01-05 10:00:00' WHERE id = 4", "INSERT INTO orders VALUES (5, 'new', 5, '2026-01-06 10:00:00')", "DELETE FROM orders WHERE id = 1")
	f, r := s.refreshed(t, f.ID)
	if f.Version != 2 || r.State != "succeeded" || r.RowsIn != 2 {
		t.Errorf("%+v %+v", f, r)
	}
	if got := s.read(t, f.ID, "&fields=id,total&sort=id"); got != `{"id":1,"total":12.50}`+"\n"+`{"id":2,"total":7.00}`+"\n"+`{"id":3,"total":30.25}`+"\n"+`{"id":4,"total":2.00}`+"\n"+`{"id":5,"total":5.00}`+"\n" {
		t.Error(got)
	}
	if _, r = s.refreshed(t, f.ID); r.RowsIn != 1 || r.Outcome == nil || *r.Outcome != "unchanged" {
		t.Errorf("%+v", r)
	}
	if db.connector == "mysql" {
		// A test is not made over connections that are open from before.
		db.do(t, "ALTER USER reader@'%' IDENTIFIED BY 'an0ther'")
		if got := s.send(t, request{method: "POST", path: "/connections/" + c.ID + "/test"}); !strings.HasPrefix(got.body, `{"ok":false,"detail":"The server at 127.0.0.1:`) || !strings.Contains(got.body, "refused the user") {
			t.Error(got.body)
		}
		db.do(t, "ALTER USER reader@'%' IDENTIFIED BY 'r3ader'")
	}
	if got := s.send(t, request{method: "DELETE", path: "/connections/" + c.ID}); got.status != 409 || got.problem(t).Type != "/problems/in-use" || !strings.Contains(got.body, f.ID) {
		t.Errorf("%d %s", got.status, got.body)
	}
	db.do(t, "DROP TABLE orders")
	f, r = s.refreshed(t, f.ID)
	if r.State != "failed" || r.Error.Type != "/problems/unknown-view" || f.Version != 2 || !strings.Contains(s.read(t, f.ID, ""), `"id":5`) {
		t.Errorf("%+v %+v", f, r)
	}
	var events []struct{ Type string }
	if err := json.Unmarshal([]byte(s.send(t, request{method: "GET", path: "/events?resourceId=" + f.ID}).body), &events); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(events); got != "[{datafeed.source.refresh_failed} {datafeed.source.refreshed} {datafeed.source.refreshed} {datafeed.source.refreshed} {datafeed.source.created}]" {
		t.Error(got)
	}
}
