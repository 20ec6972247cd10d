package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// described is what a feed reports about its columns.
func (s *service) described(t *testing.T, id string) (text string) {
	t.Helper()
	var f struct {
		Columns []struct {
			Name, SourceName, Type string
			Description, Format    string
			Hidden                 bool
		}
	}
	s.send(t, request{method: "GET", path: "/data_feeds/" + id}).data(t, &f)
	for _, c := range f.Columns {
		text += fmt.Sprintf("%s<%s %s %q %q %t\n", c.Name, c.SourceName, c.Type, c.Description, c.Format, c.Hidden)
	}
	return text
}

// warned reports whether a feed has a warning of a code for a column.
func (s *service) warned(t *testing.T, id, code, column string) bool {
	t.Helper()
	var f struct {
		Warnings []struct{ Code, Column string }
	}
	s.send(t, request{method: "GET", path: "/data_feeds/" + id}).data(t, &f)
	for _, w := range f.Warnings {
		if w.Code == code && w.Column == column {
			return true
		}
	}
	return false
}

const shopColumns = `[{"sourceName":"code","type":"integer","onMisfit":"null","description":"Of the shop"},{"sourceName":"amount","name":"Amount","format":"EUR"},{"sourceName":"note","hidden":true}]`

const shopDescribed = `id<id integer "" "" false
code<code integer "Of the shop" "" false
Amount<amount decimal "" "EUR" false
note<note text "" "" true
`

// TestColumnsAtCreation: the three types of feeds take the same changes to columns, and
// keep them at every refresh.
func TestColumnsAtCreation(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	more := new(atomic.Bool)
	rows := func() string {
		text := `{"id":1,"code":"7","amount":1.5,"note":"a"},{"id":2,"code":"x","amount":2.25,"note":"b"}`
		if more.Load() {
			text += `,{"id":3,"code":"y","amount":3.75,"note":"c"}`
		}
		return text
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "["+rows()+"]")
	}))
	t.Cleanup(api.Close)
	db := realPostgres(t)
	s.connectTo(t, db, "shop")
	db.do(t, "CREATE TABLE orders (id integer, code text, amount numeric(10,2), note text)", "INSERT INTO orders VALUES (1, '7', 1.5, 'a'), (2, 'x', 2.25, 'b')")

	const query = `"query":{"fields":[{"field":"id"},{"field":"code"},{"field":"amount"},{"field":"note"}]}`
	const csv = "id,code,amount,note\n1,7,1.5,a\n2,x,2.25,b\n"
	feeds := []restFeed{
		{shownFeed: s.upload(t, "&columns="+url.QueryEscape(shopColumns), "text/csv", csv)},
		s.fetched(t, "", `{"request":{"url":"`+api.URL+`"},"columns":`+shopColumns+`}`),
		s.queried(t, `{"serviceName":"shop","viewName":"orders",`+query+`,"columns":`+shopColumns+`}`),
		s.queried(t, `{"serviceName":"shop","viewName":"orders",`+query+`,"mode":"merge","key":["id"],"incremental":{"field":"id"},"columns":`+shopColumns+`}`),
		s.queried(t, `{"serviceName":"feeds","viewName":"`+s.upload(t, "", "text/csv", csv).ID+`",`+query+`,"columns":`+shopColumns+`}`),
	}
	for i, f := range feeds {
		if got := s.described(t, f.ID); got != shopDescribed {
			t.Errorf("feed %d:\n%s%+v", i, got, f.LastError)
		}
		if got := s.read(t, f.ID, "&filter=id:lte:2"); !strings.Contains(got, `"code":7`) || !strings.Contains(got, `"code":null`) || !strings.Contains(got, `"Amount":1.5`) || strings.Contains(got, "note") {
			t.Errorf("feed %d: %s", i, got)
		}
		if !s.warned(t, f.ID, "misfits-made-null", "code") {
			t.Errorf("feed %d does not warn of the value that was left out", i)
		}
	}
	more.Store(true)
	db.do(t, "INSERT INTO orders VALUES (3, 'y', 3.75, 'c')")
	for _, f := range feeds[1:4] {
		// What a user changes afterwards stays.
		if got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID + "/columns", body: `[{"id":"c1","name":"Number"}]`}); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		after, r := s.refreshed(t, f.ID)
		if want := strings.Replace(shopDescribed, "id<id", "Number<id", 1); after.RowCount != 3 || s.described(t, f.ID) != want || !s.warned(t, f.ID, "misfits-made-null", "code") {
			t.Errorf("%s %+v\n%s", after.State, r.Error, s.described(t, f.ID))
		}
		// A definition that is changed applies to the columns that are there.
		got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID, body: `{"columns":[{"sourceName":"id","name":"Id"},{"sourceName":"amount","type":"text"}]}`})
		if got.status != 200 || !strings.Contains(s.described(t, f.ID), "Id<id") {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if after, r = s.refreshed(t, f.ID); !strings.Contains(s.described(t, f.ID), "Amount<amount text") || s.read(t, f.ID, "&fields=Amount&filter=Id:eq:3") != `{"Amount":"3.75"}`+"\n" {
			t.Errorf("%s %+v\n%s%s", after.State, r.Error, s.described(t, f.ID), s.read(t, f.ID, ""))
		}
	}
}

// TestPickedColumnsAtCreation: a column that a path picks can be described, hidden, and
// have misfits like any other.
func TestPickedColumnsAtCreation(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1,"sum":{"v":"12"},"x":true},{"id":2,"sum":{"v":"many"}},{"id":3,"sum":{"v":{"a":1}}}]`)
	pick := func(policy string) string {
		return `{"request":{"url":"` + shop.URL + `"},"columns":[{"sourceName":"id","name":"Id"},{"path":"$.sum.v","name":"Sum","type":"integer","description":"Per order","onMisfit":` + policy + `},` +
			`{"path":"$.x","name":"X","hidden":true}],"otherColumns":"keep"}`
	}
	left := s.fetched(t, "", pick(`"null"`))
	if got := s.read(t, left.ID, "&fields=Id,Sum"); got != `{"Id":1,"Sum":12}`+"\n"+`{"Id":2,"Sum":null}`+"\n"+`{"Id":3,"Sum":null}`+"\n" {
		t.Errorf("%s %+v", got, left.LastError)
	}
	if got := s.described(t, left.ID); !strings.Contains(got, `Sum<Sum integer "Per order"`) || !strings.Contains(got, `X<X boolean "" "" true`) {
		t.Error(got)
	}
	rejected := s.fetched(t, "", pick(`"reject"`))
	got := s.send(t, request{method: "GET", path: "/data_feeds/" + rejected.ID + "/refreshes/" + rejected.LastRefresh.ID + "/rejects"})
	if rejected.RowCount != 1 || !strings.Contains(got.body, `"value":"many"`) || !strings.Contains(got.body, `"value":"{\"a\":1}"`) {
		t.Errorf("%+v %s", rejected, got.body)
	}
	failed := s.fetched(t, "", pick(`"fail"`))
	if failed.State != "failed" || !strings.Contains(failed.LastError.Detail, `"many"`) {
		t.Errorf("%s %+v", failed.State, failed.LastError)
	}
}

// TestColumnsThatAreNotThere: an entry for a column that the data lacks warns and applies once
// the column is found; a name that is taken fails the refresh.
func TestColumnsThatAreNotThere(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1}]`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"columns":[{"sourceName":"late","name":"Late","type":"text"}]}`)
	if f.State != "ready" || !s.warned(t, f.ID, "nothing-found", "late") {
		t.Errorf("%+v", f)
	}
	shop.set(200, `[{"id":1,"late":5}]`)
	if s.refreshed(t, f.ID); !strings.Contains(s.described(t, f.ID), "Late<late text") || s.warned(t, f.ID, "nothing-found", "late") {
		t.Error(s.described(t, f.ID))
	}
	taken := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"columns":[{"sourceName":"late","name":"ID"}]}`)
	if taken.State != "failed" || !strings.Contains(taken.LastError.Detail, "/columns/0/name") {
		t.Errorf("%s %+v", taken.State, taken.LastError)
	}
}

// TestFaultsOfColumnsAtCreation: what is wrong with columns is refused, with its place.
func TestFaultsOfColumnsAtCreation(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1}]`)
	parent := s.upload(t, "", "text/csv", "id,code\n1,7\n")
	for _, test := range []struct{ kind, columns, want string }{
		{"rest", `[{"name":"a"}]`, "/columns/0/path"},
		{"rest", `[{"name":"a","path":"$.a","sourceName":"a"}]`, "/columns/0/sourceName"},
		{"rest", `[{"path":"$.a"}]`, "/columns/0/name"},
		{"rest", `[{"path":"$.a","name":"a","onMisfit":"null"}]`, "/columns/0/onMisfit"},
		{"rest", `[{"path":"$.a","name":"a","position":1}]`, "/columns/0/position"},
		{"rest", `[{"path":"$.a","name":"a"},{"sourceName":"a","hidden":true}]`, "/columns/1"},
		{"rest", `[{"sourceName":"a","type":"money"}]`, "/columns/0/type"},
		{"rest", `[{"sourceName":"a","onMisfit":"drop"}]`, "/columns/0/onMisfit"},
		{"rest", `[{"sourceName":"a","name":" x"}]`, "/columns/0/name"},
		{"rest", `[{"sourceName":"a","name":"b"},{"sourceName":"b","name":"a"}],"mode":"merge","key":["a"]`, "/columns/1/name"},
		{"queryBuilder", `[{"name":"a"}]`, "/columns/0/sourceName"},
		{"queryBuilder", `[{"path":"$.id","name":"a"}]`, "/columns/0/path"},
		{"queryBuilder", `[{"sourceName":"cod","hidden":true}]`, "did you mean code or id"},
		{"queryBuilder", `[{"sourceName":"id","name":"Code"}]`, "/columns/0/name"},
		{"queryBuilder", `[{"sourceName":"id"},{"sourceName":"id","hidden":true}]`, "/columns/1"},
		{"queryBuilder", `{"sourceName":"id"}`, "/columns"},
	} {
		spec := `{"request":{"url":"` + shop.URL + `"},"columns":` + test.columns + `}`
		if test.kind == "queryBuilder" {
			spec = `{"serviceName":"feeds","viewName":"` + parent.ID + `","query":{"fields":[{"field":"id"},{"field":"code"}]},"columns":` + test.columns + `}`
		}
		for _, path := range []string{"/data_feeds?type=", "/data_feeds/preview?type="} {
			got := s.send(t, request{method: "POST", path: path + test.kind, body: spec})
			if got.status != 400 || !strings.Contains(got.body, `"`+test.want+`"`) && !strings.Contains(got.body, test.want+"?") {
				t.Errorf("%s: %d %s", test.columns, got.status, got.body)
			}
		}
	}
	if got := s.sendData(t, "POST", "/data_feeds?type=dataUpload&columns="+url.QueryEscape(`[{"path":"$.id","name":"a"}]`), "text/csv", "id\n1\n"); got.status != 400 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestPreviewsChangeColumns: a preview shows the columns as the feed will have them, and all
// misfits.
func TestPreviewsChangeColumns(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder)})
	db := realSQLite(t, folder)
	db.do(t, "CREATE TABLE orders (id INTEGER, code TEXT)", "INSERT INTO orders VALUES (1, '7'), (2, 'x')")
	s.connectTo(t, db, "files")
	shop := newShop(t, `[{"id":1,"code":"7"},{"id":2,"code":"x"}]`)
	for _, path := range []string{"/data_feeds/preview?type=queryBuilder", "/query_builder/preview", "/data_feeds/preview?type=rest"} {
		source := `"serviceName":"files","viewName":"orders","query":{"fields":[{"field":"id"},{"field":"code"}]}`
		if strings.HasSuffix(path, "rest") {
			source = `"request":{"url":"` + shop.URL + `"}`
		}
		got := s.send(t, request{method: "POST", path: path, body: `{` + source + `,"columns":[{"sourceName":"id","name":"Id"},{"sourceName":"code","type":"integer","onMisfit":"null"}]}`})
		if got.status != 200 || !strings.Contains(got.body, `"rows":[{"Id":1,"code":7},{"Id":2,"code":null}]`) || !strings.Contains(got.body, "misfits-made-null") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		got = s.send(t, request{method: "POST", path: path, body: `{` + source + `,"columns":[{"sourceName":"code","type":"integer"}]}`})
		if got.status != 422 || !strings.Contains(got.body, `"/columns/0/type"`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// TestKeyFollowsItsColumn: a key that has the new name of a column stays that column's, whatever is
// renamed or changed afterwards.
func TestKeyFollowsItsColumn(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":1,"at":1,"n":"a"},{"id":2,"at":2,"n":"b"}]`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"incremental":{"cursorPath":"$.at","param":{"name":"since"}},"mode":"merge","key":["Number"],"columns":[{"sourceName":"id","name":"Number"}]}`)
	for _, change := range [][2]string{{"/columns", `[{"id":"` + f.Columns[0].ID + `","name":"Nr"}]`}, {"", `{"schedule":{"every":"1h"}}`}} {
		if got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID + change[0], body: change[1]}); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	shop.set(200, `[{"id":2,"at":3,"n":"c"},{"id":3,"at":3,"n":"d"}]`)
	after, r := s.refreshed(t, f.ID)
	if got := s.read(t, f.ID, "&sort=Nr&fields=Nr,n"); after.State != "ready" || got != `{"Nr":1,"n":"a"}`+"\n"+`{"Nr":2,"n":"c"}`+"\n"+`{"Nr":3,"n":"d"}`+"\n" {
		t.Errorf("%s %+v %s", after.State, r.Error, got)
	}
}
