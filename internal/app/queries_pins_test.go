package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill"
)

// accepted refreshes a feed that accepts what it finds.
func (s *service) accepted(t *testing.T, id string) (f restFeed) {
	t.Helper()
	got := s.send(t, request{method: "POST", path: "/data_feeds/" + id + "/refresh?accept=true", header: [][2]string{{"Prefer", "wait=60"}}})
	if got.status != 202 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + id}).data(t, &f)
		return f.State != "refreshing" && f.State != "pending"
	})
	return f
}

// TestTypesArePinned: a field that changes its order or equality fails the refresh until
// the new type is accepted or the query is written anew.
func TestTypesArePinned(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	db := realPostgres(t)
	s.connectTo(t, db, "shop")
	db.do(t, "CREATE TABLE orders (id integer, amount integer, at timestamptz, day timestamp)",
		"INSERT INTO orders SELECT n, n * 10, '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 hour', '2026-01-01'::timestamp + n * interval '1 hour' FROM generate_series(1, 60) n")
	spec := func(query string) string {
		return `{"serviceName":"shop","viewName":"orders","query":` + query + `}`
	}
	amounts := s.queried(t, spec(`{"fields":[{"field":"id"},{"field":"amount","filters":[{"op":"gte","values":[500]}]}]}`))
	hidden := s.queried(t, spec(`{"fields":[{"field":"id","aggregate":"count"},{"field":"amount","select":false,"filters":[{"op":"gte","values":[500]}]}]}`))
	times := s.queried(t, spec(`{"fields":[{"field":"id"}],"sort":[{"field":"at"}],"limit":5}`))
	days := s.queried(t, spec(`{"fields":[{"field":"id"},{"field":"day","select":false,"filters":[{"op":"gte","values":["2026-01-02"]}]}]}`))
	free := s.queried(t, spec(`{"fields":[{"field":"id"},{"field":"amount"}]}`))
	seen := s.queried(t, spec(`{"fields":[{"field":"id"},{"field":"at"}]}`))
	db.do(t, "CREATE TABLE files (id oid)", "INSERT INTO files VALUES (7), (4294967295)")
	for fn, want := range map[string]int{"sum": 400, "avg": 400, "max": 201} {
		got := s.send(t, request{method: "POST", path: "/data_feeds?type=queryBuilder", body: `{"serviceName":"shop","viewName":"files","query":{"fields":[{"field":"id","aggregate":"` + fn + `"}]}}`})
		if got.status != want || want == 400 && !strings.Contains(got.body, "/query/fields/0") {
			t.Errorf("%s: %d %s", fn, got.status, got.body)
		}
	}
	if got := s.send(t, request{path: "/query_builder/services/shop/views/files/fields"}); !strings.Contains(got.body, `"aggregates":["min","max","count","countDistinct"]`) || !strings.Contains(got.body, `"nativeType":"oid"`) {
		t.Errorf("the fields: %s", got.body)
	}
	page := s.send(t, request{path: "/ui/feeds/new/query?service=shop&view=files&chosen=yes&field=id", key: "-", header: [][2]string{{"Cookie", s.session(t, adminKey)}}})
	if strings.Contains(page.body, `<option value="sum"`) || !strings.Contains(page.body, `<option value="min"`) {
		t.Errorf("the query page offers to add up an oid, or has no aggregates: %s", page.body)
	}
	if amounts.RowCount != 11 || days.RowCount != 37 {
		t.Fatal(amounts.RowCount, days.RowCount)
	}
	// What keeps the order goes through, and stays what it was.
	for _, kind := range []string{"bigint", "double precision", "numeric(12,2)", "numeric"} {
		db.do(t, "ALTER TABLE orders ALTER amount TYPE "+kind)
		for _, f := range []restFeed{amounts, hidden} {
			if f, r := s.refreshed(t, f.ID); f.State != "ready" {
				t.Fatalf("%s: %s %+v", kind, f.State, r.Error)
			}
		}
		if got := s.read(t, amounts.ID, "&filter=id:eq:50&fields=amount"); !strings.HasPrefix(got, `{"amount":500`) {
			t.Errorf("%s: %s", kind, got)
		}
	}
	db.do(t, "ALTER TABLE orders ALTER amount TYPE text USING amount::text, ALTER at TYPE timestamp, ALTER day TYPE date")
	if _, r := s.refreshed(t, seen.ID); r.State != "succeeded" || !r.warns(feedmill.WarnZoneChanged) {
		t.Errorf("times that lose their time zone: %+v %+v", r.Error, r.Warnings)
	}
	for _, f := range []restFeed{amounts, hidden, times, days} {
		before := s.read(t, f.ID, "")
		after, r := s.refreshed(t, f.ID)
		if r.State != "failed" || r.Error.Type != "/problems/type-changed" || !strings.Contains(r.Error.Detail, "/data_feeds/"+f.ID+"/refresh?accept=true") || after.State != "failed" || s.read(t, f.ID, "") != before {
			t.Errorf("%s %+v", after.State, r.Error)
		}
	}
	if f, r := s.refreshed(t, free.ID); f.State != "ready" || f.Columns[1].Type != "text" {
		t.Errorf("a field that nothing depends on fails the refresh: %+v", r.Error)
	}
	// A change of something else does not accept it.
	if got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + amounts.ID, body: `{"schedule":{"every":"1h"}}`}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if _, r := s.refreshed(t, amounts.ID); r.State != "failed" {
		t.Error("another schedule accepts a type")
	}
	if f := s.accepted(t, amounts.ID); f.State != "ready" || f.Columns[1].Type != "text" {
		t.Errorf("%s %+v", f.State, f.LastError)
	}
	if f, r := s.refreshed(t, amounts.ID); f.State != "ready" {
		t.Errorf("the type that was accepted is not pinned: %+v", r.Error)
	}
	if got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + days.ID, body: `{"query":{"fields":[{"field":"id"},{"field":"day","select":false,"filters":[{"op":"gte","values":["2026-01-02"]}]}]}}`}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if f, r := s.refreshed(t, days.ID); f.State != "ready" {
		t.Errorf("a query that is written anew fails: %+v", r.Error)
	}
	db.do(t, "ALTER TABLE orders ALTER amount TYPE integer USING amount::numeric::integer")
	if _, r := s.refreshed(t, amounts.ID); r.State != "failed" || r.Error.Type != "/problems/type-changed" {
		t.Errorf("text that becomes numbers: %+v", r)
	}
}

// TestTypesOfFeedsArePinned: one bad value in an upload or an API fails the feeds of
// queries on it, and theirs.
func TestTypesOfFeedsArePinned(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	bad := new(atomic.Bool)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		last := "90"
		if bad.Load() {
			last = `"soon"`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `[{"id":1,"v":5},{"id":2,"v":70},{"id":3,"v":`+last+`}]`)
	}))
	t.Cleanup(api.Close)
	fetched := s.fetched(t, "", `{"request":{"url":"`+api.URL+`"}}`)
	var uploaded restFeed
	s.send(t, request{method: "POST", path: "/data_feeds?type=dataUpload&name=Up", body: "id,v\n1,5\n2,70\n3,90\n", header: [][2]string{{"Content-Type", "text/csv"}}}).data(t, &uploaded)
	for _, parent := range []restFeed{fetched, uploaded} {
		child := s.queried(t, `{"name":"Child","serviceName":"feeds","viewName":"`+parent.ID+`","query":{"fields":[{"field":"id"},{"field":"v","filters":[{"op":"gt","values":[60]}]}]}}`)
		grandchild := s.queried(t, `{"name":"Grandchild","serviceName":"feeds","viewName":"`+child.ID+`","query":{"fields":[{"field":"id"}],"sort":[{"field":"v"}],"limit":1}}`)
		const want = `{"id":2}` + "\n" + `{"id":3}` + "\n"
		if got := s.read(t, child.ID, "&fields=id"); got != want {
			t.Fatal(got)
		}
		bad.Store(true)
		if parent.ID == fetched.ID {
			s.refreshed(t, parent.ID)
		} else if got := s.send(t, request{method: "PUT", path: "/data_feeds/" + parent.ID + "/data", body: "id,v\n1,5\n2,70\n3,soon\n", header: [][2]string{{"Content-Type", "text/csv"}}}); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		_, r := s.refreshed(t, child.ID)
		if r.State != "failed" || r.Error.Type != "/problems/type-changed" || s.read(t, child.ID, "&fields=id") != want {
			t.Errorf("%+v\n%s", r, s.read(t, child.ID, ""))
		}
		if f, _ := s.refreshed(t, grandchild.ID); f.State != "ready" || s.read(t, grandchild.ID, "") != `{"id":2}`+"\n" {
			t.Errorf("%s %+v", f.State, f.LastError)
		}
		s.accepted(t, child.ID)
		if _, r = s.refreshed(t, grandchild.ID); r.State != "failed" || r.Error.Type != "/problems/type-changed" {
			t.Errorf("%+v", r)
		}
	}
}

// TestEarlierFeedsArePinned: a feed of an earlier release is pinned from its version, and
// what it does not select at its first refresh, with a warning.
func TestEarlierFeedsArePinned(t *testing.T) {
	t.Parallel()
	folder, data := t.TempDir(), t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder, "FEEDMILL_DATA="+data)})
	db := realSQLite(t, folder)
	db.do(t, `CREATE TABLE "a.b" (id integer, v integer, w integer)`, `INSERT INTO "a.b" VALUES (1, 10, 1), (2, 600, 2), (3, 9, 3)`)
	s.connectTo(t, db, "file")
	f := s.queried(t, `{"serviceName":"file","viewName":"\"a.b\"","query":{"fields":[{"field":"id"},{"field":"v","filters":[{"op":"gte","values":[10]}]},{"field":"w","select":false,"filters":[{"op":"gt","values":[0]}]}]}}`)
	if f.State != "ready" || f.RowCount != 2 {
		t.Fatalf("%+v %+v", f, f.LastError)
	}
	store := openDatabase(t, "sqlite3", filepath.Join(data, storeFile), "sqlite", nil)
	forget := func() {
		store.do(t, fmt.Sprintf(`UPDATE feeds SET pins = '{}', rules = 1, spec = CAST(replace(spec, '\"a.b\"', 'a.b') AS BLOB) WHERE id = '%s'`, f.ID),
			`UPDATE sources SET rules = 1, spec = CAST(replace(spec, '\"a.b\"', 'a.b') AS BLOB)`)
	}
	forget()
	db.do(t, `UPDATE "a.b" SET v = 'many' WHERE id = 3`)
	if f, r := s.refreshed(t, f.ID); r.State != "failed" || r.Error.Type != "/problems/type-changed" || f.Version != 1 {
		t.Errorf("%+v", r.Error)
	}
	db.do(t, `UPDATE "a.b" SET v = 11 WHERE id = 3`)
	f, r := s.refreshed(t, f.ID)
	if w := warningOf(f, feedmill.WarnPinned); r.State != "succeeded" || f.RowCount != 3 || w == nil || !strings.Contains(w.Detail, "types of w.") {
		t.Errorf("%+v %+v", r.Error, f.Warnings)
	}
	db.do(t, `INSERT INTO "a.b" VALUES (4, 100, 'none')`)
	if _, r = s.refreshed(t, f.ID); r.State != "failed" || r.Error.Type != "/problems/type-changed" {
		t.Errorf("%+v", r)
	}
}

// TestNamesArePinned: neither another search path nor another table redirects a feed.
func TestNamesArePinned(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	db := realPostgres(t)
	c := s.connectTo(t, db, "shop")
	db.do(t, "CREATE SCHEMA a", "CREATE TABLE a.b (id integer)", "INSERT INTO a.b VALUES (1)", "CREATE TABLE orders (id integer)", "INSERT INTO orders VALUES (2)")
	spec := func(view string) string {
		return fmt.Sprintf(`{"serviceName":"shop","viewName":%q,"query":{"fields":[{"field":"id"}]}}`, view)
	}
	inSchema, bare := s.queried(t, spec("a.b")), s.queried(t, spec("orders"))
	db.do(t, `CREATE TABLE public."a.b" (id integer)`, `INSERT INTO public."a.b" VALUES (3)`, "CREATE TABLE a.orders (id integer)", "INSERT INTO a.orders VALUES (4)",
		fmt.Sprintf("ALTER DATABASE %q SET search_path = a, public", db.config["database"]))
	// The sessions that are open have the old path; a change of the connection opens others.
	if got := s.send(t, request{method: "PATCH", path: "/connections/" + c.ID, body: `{"config":{"connectTimeout":"9s"}}`}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	quoted, redirected := s.queried(t, spec(`public."a.b"`)), s.queried(t, spec("orders"))
	for id, want := range map[string]string{inSchema.ID: "1", bare.ID: "2", quoted.ID: "3", redirected.ID: "4"} {
		if f, r := s.refreshed(t, id); r.State != "succeeded" || s.read(t, id, "") != `{"id":`+want+"}\n" {
			t.Errorf("%s: %+v %s", f.Name, r.Error, s.read(t, id, ""))
		}
	}
	var views []struct{ Name string }
	if err := json.Unmarshal([]byte(s.send(t, request{method: "GET", path: "/query_builder/services/shop/views?refresh=true"}).body), &views); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range views {
		names = append(names, v.Name)
	}
	if got := strings.Join(names, " "); got != `b orders public."a.b" public.orders` {
		t.Error(got)
	}
	// In another database names are resolved anew, and types stay.
	other := realPostgres(t)
	other.do(t, "CREATE TABLE orders (id integer)", "INSERT INTO orders VALUES (5)", "CREATE SCHEMA a", "CREATE TABLE a.b (id text)")
	if got := s.send(t, request{method: "PATCH", path: "/connections/" + c.ID, body: toJSON(map[string]any{"config": other.config})}); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if _, r := s.refreshed(t, redirected.ID); r.State != "succeeded" || s.read(t, redirected.ID, "") != `{"id":5}`+"\n" {
		t.Errorf("%+v %s", r.Error, s.read(t, redirected.ID, ""))
	}
}
