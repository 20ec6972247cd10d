package app

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestDiscovery: what is listed of every kind of databases besides names and types.
func TestDiscovery(t *testing.T) {
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
		t.Run(test.name, func(t *testing.T) { discover(t, s, test.open(t), test.name) })
	}
}

func discover(t *testing.T, s *service, db *realDatabase, service string) {
	db.do(t, "CREATE TABLE regions (code varchar(10) NOT NULL, country varchar(10) NOT NULL, PRIMARY KEY (code, country))",
		"CREATE TABLE customers (id integer NOT NULL PRIMARY KEY, nick varchar(200), region varchar(10), country varchar(10), FOREIGN KEY (region, country) REFERENCES regions (code, country))",
		"CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, customer_id integer, note text, total decimal(10,2), day date, FOREIGN KEY (customer_id) REFERENCES customers (id))",
		"INSERT INTO regions VALUES ('n', 'de'), ('s', 'de')", "INSERT INTO customers VALUES (1, 'Ada', 'n', 'de'), (2, 'bob', 's', 'de'), (3, 'ADAM', 'n', 'de'), (4, NULL, NULL, NULL), (5, 'Ada', 'n', 'de')",
		"INSERT INTO orders VALUES (1, 1, '"+strings.Repeat("long ", 50)+"', 12.50, '2026-01-01'), (2, 2, 'x', 7.00, '2026-01-02'), (3, 1, 'x', NULL, NULL)")
	switch service {
	case "postgres":
		db.do(t, "CREATE TABLE parted (id integer, day date) PARTITION BY RANGE (day)", "CREATE TABLE parted_2026 PARTITION OF parted FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
			"INSERT INTO parted SELECT n, '2026-03-01' FROM generate_series(1, 5000) n", "CREATE TABLE many AS SELECT n FROM generate_series(1, 20000) n", "CREATE TABLE none (n integer)")
	case "sqlite":
		db.do(t, "CREATE VIRTUAL TABLE found USING fts4 (words)", "CREATE TABLE many (n integer)",
			"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 20000) INSERT INTO many SELECT n FROM r", "CREATE TABLE none (n integer)")
	case "duckdb":
		db.do(t, "CREATE TABLE many AS SELECT range AS n FROM range(20000)", "CREATE TABLE none (n integer)")
	}
	s.connectTo(t, db, service)
	get := func(path string, want int) string {
		t.Helper()
		got := s.send(t, request{method: "GET", path: "/query_builder/services/" + service + "/views" + path})
		if got.status != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		return got.body
	}
	has := func(body string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(body, part) {
				t.Errorf("%s lacks %s", body, part)
			}
		}
	}
	views := get("", 200)
	has(views, `{"name":"orders","label":"orders","description":"","kind":"table","rowEstimate":`)
	if strings.Contains(views, "parted_2026") || strings.Contains(views, "found_") {
		t.Errorf("a part of a table is listed: %s", views)
	}
	type shownView struct {
		Name        string
		RowEstimate *int64
	}
	var all []shownView
	if err := json.Unmarshal([]byte(views), &all); err != nil {
		t.Fatal(err)
	}
	for name, bounds := range map[string][2]int64{"many": {15_000, 25_000}, "none": {0, 0}, "parted": {3000, 8000}} {
		for _, v := range all {
			if v.Name == name && (v.RowEstimate == nil || *v.RowEstimate < bounds[0] || *v.RowEstimate > bounds[1]) {
				t.Errorf("%s has about %v rows", name, v.RowEstimate)
			}
		}
	}
	fields := get("/orders/fields", 200)
	has(fields, `{"name":"id",`, `"primaryKey":true,"references":null,"samples":[1,2,3]}`, `"references":{"view":"customers","field":"id"},"samples":[1,2]}`, `"samples":["x"]}`, `"samples":[12.50,7.00]}`, `"samples":["2026-01-01","2026-01-02"]}`)
	has(get("/customers/fields", 200), `"references":{"view":"regions","field":"code"}`, `"references":{"view":"regions","field":"country"}`)
	has(get("?q=CUSTOMER_", 200), `[{"name":"orders",`, `"matchedFields":["customer_id"]}]`)
	if got := get("?q=nothing-has-this", 200); got != "[]" {
		t.Error(got)
	}
	for path, want := range map[string]string{
		"/customers/fields/nick/values":         `["ADAM","Ada","bob",null]`,
		"/customers/fields/nick/values?q=aDA":   `["ADAM","Ada"]`,
		"/customers/fields/nick/values?limit=2": `["ADAM","Ada"]`,
		"/customers/fields/nick/values?q=%25":   `[]`,
		"/orders/fields/total/values":           `[7.00,12.50,null]`,
		"/orders/fields/customer_id/values":     `[1,2]`,
		"/orders/fields/day/values":             `["2026-01-01","2026-01-02",null]`,
	} {
		if got := get(path, 200); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	get("/orders/fields/missing/values", 404)
	get("/missing/fields/id/values", 404)
	has(get("/orders/fields/total/values?q=1", 400), `"parameter":"q"`)
	has(get("/orders/fields/total/values?limit=0", 400), `"parameter":"limit"`)
}

// The values of feeds are listed, too; those of an HTTP API cannot be.
func TestValuesOfFeeds(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	feed := s.orders(t)
	if got := s.send(t, request{path: "/query_builder/services/feeds/views/" + feed.ID + "/fields/status/values"}); got.body != `["open","paid",null]` {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.send(t, request{path: "/query_builder/services/feeds/views/" + feed.ID + "/fields"}); !strings.Contains(got.body, `"samples":["paid","open"]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.send(t, request{path: "/query_builder/services/feeds/views?q=PLACED"}); !strings.Contains(got.body, `"matchedFields":["placed"]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	s.connected(t, `{"serviceName":"payments","connector":"stripe","config":{"secretKey":"rk_test"}}`)
	if got := s.send(t, request{path: "/query_builder/services/payments/views/charges/fields/id/values"}); got.status != 409 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
