package app

import (
	"slices"
	"strings"
	"testing"
)

type shownSQLView struct{ ID, ConnectionID, Name, SQL string }

// readerOfPostgres has a database be reached by a user that may only read.
func readerOfPostgres(t testing.TB) *realDatabase {
	t.Helper()
	db := realPostgres(t)
	db.do(t, "DO $$ BEGIN CREATE ROLE app_reader LOGIN PASSWORD 'r3ader-secret'; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
		"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO app_reader")
	db.config["user"], db.config["password"] = "app_reader", "r3ader-secret"
	return db
}

// TestSQLViews goes the way of a user with every kind of databases: a view in SQL, the feeds built
// from it, changes of its columns, and its end.
func TestSQLViews(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder)})
	for _, test := range []struct {
		name string
		open func(testing.TB) *realDatabase
	}{
		{"postgres", readerOfPostgres},
		{"mysql", realMariaDB},
		{"sqlite", func(t testing.TB) *realDatabase { return realSQLite(t, folder) }},
		{"duckdb", func(t testing.TB) *realDatabase { return realDuckDB(t, folder) }},
	} {
		t.Run(test.name, func(t *testing.T) { useSQLView(t, s, test.open(t), test.name) })
	}
	s.stop()
	if strings.Contains(s.log.String(), "r3ader") {
		t.Error("the password of a database is in the log")
	}
}

func useSQLView(t *testing.T, s *service, db *realDatabase, service string) {
	db.do(t, "CREATE TABLE customers (id integer, name varchar(20))", "INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bob')",
		"CREATE TABLE orders (id integer, customer_id integer, total decimal(10,2))", "INSERT INTO orders VALUES (1, 1, 12.50), (2, 2, 7), (3, 1, 30.25)")
	c := s.connectTo(t, db, service)
	path := "/connections/" + c.ID + "/views"
	send := func(method, path, body string, want int) string {
		t.Helper()
		got := s.send(t, request{method: method, path: path, body: body})
		if got.status != want {
			t.Fatalf("%s %s: %d %s", method, path, got.status, got.body)
		}
		return got.body
	}
	const sql = "SELECT o.id, c.name AS customer, o.total FROM orders o JOIN customers c ON c.id = o.customer_id -- with names"
	create := toJSON(map[string]any{"name": "named", "sql": sql})
	first := s.send(t, request{method: "POST", path: path, body: create, header: [][2]string{{"Idempotency-Key", "make-" + service}}})
	again := s.send(t, request{method: "POST", path: path, body: create, header: [][2]string{{"Idempotency-Key", "make-" + service}}})
	var v shownSQLView
	first.data(t, &v)
	if first.status != 201 || again.body != first.body || v.Name != "named" || v.SQL != sql || v.ConnectionID != c.ID {
		t.Fatalf("%d %s, again %s", first.status, first.body, again.body)
	}
	for body, want := range map[string]string{
		`{"name":"a.b","sql":7,"more":1}`: "/name /sql /more",
		`{}`:                              "/name /sql",
		`{"name":"bad","sql":"SELECT total FORM x"}`:   "/sql",
		`{"name":"bad","sql":"DELETE FROM orders"}`:    "/sql",
		`{"name":"bad","sql":"SELECT 1 AS a; SELECT"}`: "/sql",
	} {
		got := s.send(t, request{method: "POST", path: path, body: body})
		places := strings.ReplaceAll(strings.Join(got.problem(t).places(), " "), "pointer ", "")
		if got.status != 400 || places != want {
			t.Errorf("%s: %d at %s: %s", body, got.status, places, got.body)
		}
	}
	taken := []string{"orders", "named"}
	if service == "postgres" { // which does not list partitions
		db.do(t, "CREATE TABLE parts (id integer) PARTITION BY LIST (id)", "CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1)")
		taken = append(taken, "part_1")
	}
	for _, name := range taken {
		if body := send("POST", path, toJSON(map[string]any{"name": name, "sql": "SELECT 1 AS a"}), 409); !strings.Contains(body, "/problems/name-taken") {
			t.Error(body)
		}
	}
	views := send("GET", "/query_builder/services/"+service+"/views?q=named", "", 200)
	if !strings.Contains(views, `"name":"named"`) || !strings.Contains(views, `"kind":"sql"`) {
		t.Error(views)
	}
	if found := send("GET", "/query_builder/services/"+service+"/views?q=CUSTOMER", "", 200); !strings.Contains(found, `"matchedFields":["customer"]`) || !strings.Contains(found, `"matchedFields":["customer_id"]`) {
		t.Error(found)
	}
	fields := send("GET", "/query_builder/services/"+service+"/views/named/fields", "", 200)
	if !strings.Contains(fields, `{"name":"customer","label":"customer","type":"text"`) || !strings.Contains(fields, `{"name":"total","label":"total","type":"decimal"`) {
		t.Error(fields)
	}
	preview := send("POST", "/query_builder/preview", `{"serviceName":"`+service+`","viewName":"named","query":{"fields":[{"field":"customer","filters":[{"op":"eq","values":["Ada"]}]},{"field":"total","aggregate":"sum"}]}}`, 200)
	if !strings.Contains(preview, `"rows":[{"customer":"Ada","total":42.75}]`) || !strings.Contains(preview, "with names") || !strings.Contains(preview, `"ranIn":"source"`) {
		t.Error(preview)
	}
	joined := s.queried(t, `{"serviceName":"`+service+`","viewName":"orders","query":{"joins":[{"view":"named","as":"n","on":[{"left":"id","right":"id"}]}],"fields":[{"field":"id"},{"field":"customer","from":"n"}],"sort":[{"field":"id"}]}}`)
	if got := s.read(t, joined.ID, ""); got != `{"id":1,"customer":"Ada"}`+"\n"+`{"id":2,"customer":"Bob"}`+"\n"+`{"id":3,"customer":"Ada"}`+"\n" {
		t.Error(got)
	}
	if body := send("DELETE", path+"/named", "", 409); !strings.Contains(body, joined.ID) {
		t.Error(body)
	}
	reverse := send("POST", "/query_builder/preview", `{"serviceName":"`+service+`","viewName":"named","query":{"joins":[{"view":"orders","as":"o","kind":"left","on":[{"left":"id","right":"customer_id"}]},{"view":"named","as":"n","on":[{"left":"o.id","right":"id"}]}],
		"fields":[{"field":"customer"},{"field":"total","from":"o","aggregate":"sum"},{"field":"id","from":"n","aggregate":"count","as":"n"}],"sort":[{"field":"customer"}]}}`, 200)
	if !strings.Contains(reverse, `"rows":[{"customer":"Ada","total":42.75,"n":2},{"customer":"Bob","total":7.00,"n":1}]`) {
		t.Error(reverse)
	}
	if _, r := s.refreshed(t, joined.ID); r.State != "succeeded" {
		t.Errorf("joined: %+v", r.Error)
	}
	change := func(sql string) { t.Helper(); send("PUT", path+"/named", toJSON(map[string]any{"sql": sql}), 200) }
	change("SELECT id, id AS customer FROM orders")
	if _, r := s.refreshed(t, joined.ID); r.State != "failed" || r.Error.Type != "/problems/type-changed" {
		t.Errorf("another type of a joined view: %s %+v", r.State, r.Error)
	}
	change(sql)
	send("DELETE", "/data_feeds/"+joined.ID, "", 204)
	f := s.queried(t, `{"serviceName":"`+service+`","viewName":"named","query":{"fields":[{"field":"id"},{"field":"total"}],"sort":[{"field":"id"}]}}`)
	if f.RowCount != 3 {
		t.Fatalf("%+v", f)
	}
	if body := send("DELETE", path+"/named", "", 409); !strings.Contains(body, f.ID) || !strings.Contains(body, "/problems/in-use") {
		t.Error(body)
	}

	// Other SQL with the same columns brings other rows; a column of another type, or none, fails.
	change("SELECT id, total FROM orders WHERE id < 3")
	if f, r := s.refreshed(t, f.ID); r.State != "succeeded" || f.RowCount != 2 {
		t.Errorf("%+v", r.Error)
	}
	change("SELECT id, 'x' AS total FROM orders")
	if _, r := s.refreshed(t, f.ID); r.State != "failed" || r.Error.Type != "/problems/type-changed" {
		t.Errorf("another type: %s %+v", r.State, r.Error)
	}
	change("SELECT id FROM orders")
	if _, r := s.refreshed(t, f.ID); r.State != "failed" || r.Error.Type != "/problems/unknown-field" {
		t.Errorf("a column that is gone: %s %+v", r.State, r.Error)
	}
	change("SELECT id, total, 1 AS more FROM orders")
	if f, r := s.refreshed(t, f.ID); r.State != "succeeded" || f.RowCount != 3 {
		t.Errorf("a column more: %+v", r.Error)
	}
	db.do(t, "ALTER TABLE orders RENAME COLUMN total TO amount")
	if _, r := s.refreshed(t, f.ID); r.State != "failed" || r.Error.Type != "/problems/invalid-sql" {
		t.Errorf("a column that the database renamed: %s %+v", r.State, r.Error)
	}

	// To another workspace nothing of it is there.
	other := s.newKey(t, s.newWorkspace(t, "other "+service).ID, everyScope...).Key
	for _, q := range []request{
		{method: "GET", path: path},
		{method: "GET", path: path + "/named"},
		{method: "DELETE", path: path + "/named"},
		{method: "POST", path: path, body: create},
		{method: "PUT", path: path + "/named", body: `{"sql":"SELECT 1 AS a"}`},
	} {
		q.key = other
		if got := s.send(t, q); got.status != 404 {
			t.Errorf("%s %s: %d %s", q.method, q.path, got.status, got.body)
		}
	}
	for _, got := range []string{send("GET", path, "", 200), send("GET", path+"/named", "", 200)} {
		if !strings.Contains(got, v.ID) {
			t.Error(got)
		}
	}
	send("PUT", path+"/missing", `{"sql":"SELECT 1 AS a"}`, 404)
	send("PUT", path+"/named", `{"name":"other","sql":"SELECT 1 AS a"}`, 400)
	send("DELETE", "/data_feeds/"+f.ID, "", 204)
	send("DELETE", path+"/named", "", 204)
	send("GET", path+"/named", "", 404)
	var actions []string
	for _, entry := range s.audit(t, "", "?limit=500") {
		if entry.Resource == v.ID {
			actions = append(actions, entry.Action)
		}
	}
	if got := strings.Join(actions, ","); got != "sql_view.delete,sql_view.update,sql_view.update,sql_view.update,sql_view.update,sql_view.update,sql_view.update,sql_view.create" {
		t.Error(got)
	}
}

// A table that takes the place of a SQL view, or the reverse, is never read instead of it.
func TestViewsThatTakeTurns(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder)})
	db := realSQLite(t, folder)
	db.do(t, "CREATE TABLE first (id integer)", "INSERT INTO first VALUES (1)", "CREATE TABLE other (id integer)", "INSERT INTO other VALUES (1), (7)")
	c := s.connectTo(t, db, "shop")
	spec := func(view string) string {
		return `{"serviceName":"shop","viewName":"` + view + `","query":{"fields":[{"field":"id"}]}}`
	}
	joined := `{"serviceName":"shop","viewName":"other","query":{"joins":[{"view":"first","as":"j","on":[{"left":"id","right":"id"}]}],"fields":[{"field":"id"}]}}`
	f, ofTable := s.queried(t, spec("first")), s.queried(t, joined)
	db.do(t, "ALTER TABLE first RENAME TO second")
	body := toJSON(map[string]any{"name": "first", "sql": "SELECT 7 AS id"})
	if got := s.send(t, request{method: "POST", path: "/connections/" + c.ID + "/views", body: body}); got.status != 201 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for _, id := range []string{f.ID, ofTable.ID} {
		if _, r := s.refreshed(t, id); r.State != "failed" || r.Error.Type != "/problems/unknown-view" {
			t.Errorf("%s %+v", r.State, r.Error)
		}
	}
	g, ofSQL := s.queried(t, spec("first")), s.queried(t, joined)
	db.do(t, "CREATE TABLE first (id integer)")
	if _, r := s.refreshed(t, g.ID); r.State != "succeeded" || s.read(t, g.ID, "") != `{"id":7}`+"\n" {
		t.Errorf("%s %+v %s", r.State, r.Error, s.read(t, g.ID, ""))
	}
	if _, r := s.refreshed(t, ofSQL.ID); r.State != "succeeded" || s.read(t, ofSQL.ID, "") != `{"id":7}`+"\n" {
		t.Errorf("%s %+v %s", r.State, r.Error, s.read(t, ofSQL.ID, ""))
	}
	root := s.connectTo(t, realPostgres(t), "root")
	if got := s.send(t, request{method: "POST", path: "/connections/" + root.ID + "/views", body: body}); got.status != 409 || !strings.Contains(got.body, "/problems/unsafe-user") {
		t.Errorf("%d %s", got.status, got.body)
	}
	api := s.connected(t, `{"serviceName":"payments","connector":"stripe","config":{"secretKey":"rk_test"}}`)
	if got := s.send(t, request{method: "POST", path: "/connections/" + api.ID + "/views", body: body}); got.status != 409 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
