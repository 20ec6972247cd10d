package app

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestQueriesKeepTheirMeaning changes what is behind feeds between their refreshes: types,
// values, whether there are any, names, and what other tables there are. Some feeds are those of
// a store that an earlier release made, or as it would have stored them. A refresh publishes the rows that the query meant when it was
// created, by an oracle that knows nothing of types, or fails and keeps the version that was there.
func TestQueriesKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	folder, data := t.TempDir(), t.TempDir()
	released := unpackQueries(t, data)
	s := start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_DATABASE_DIRS="+folder, "FEEDMILL_DATA="+data)})
	store := openDatabase(t, "sqlite3", filepath.Join(data, storeFile), "sqlite", nil)
	for _, test := range lawConnectors(folder) {
		t.Run(test.name, func(t *testing.T) {
			var db *realDatabase
			var connection string
			if test.open != nil {
				db = test.open(t)
				db.do(t, "CREATE TABLE first (id integer)")
				connection = s.reconnect(t, db, test.name)
			}
			published, refused, adopted := 0, 0, 0
			seed := rand.Uint64()
			r := rand.New(rand.NewPCG(seed, 0))
			left := released[test.name]
			r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
			for n := range longOr(test.short, 500) {
				u := &upstream{service: s, store: store, db: db, connector: test.name, connection: connection, r: r, name: fmt.Sprint("t", n), column: "v"}
				if n%2 == 0 && len(left) > 0 {
					u.adopt(t, left[0])
					left, adopted = left[1:], adopted+1
				} else {
					u.create(t)
				}
				u.run(t)
				published, refused = published+u.published, refused+u.refused
				if t.Failed() {
					t.Fatalf("seed %d, sequence %d:\n%s", seed, n, strings.Join(u.log, "\n"))
				}
			}
			t.Logf("%d refreshes published what was meant, %d failed and kept the version; %d feeds were a release's", published, refused, adopted)
		})
	}
}

// lawConnector is a connector of the law, with the number of sequences of its short form.
type lawConnector struct {
	name  string
	open  func(testing.TB) *realDatabase // nil for feeds
	short int
}

func lawConnectors(folder string) []lawConnector {
	return []lawConnector{
		{"postgres", realPostgres, 10},
		{"mysql", realMariaDB, 5},
		{"sqlite", func(t testing.TB) *realDatabase { return realSQLite(t, folder) }, 15},
		{"duckdb", func(t testing.TB) *realDatabase { return realDuckDB(t, folder) }, 2},
		{"feeds", nil, 10},
	}
}

// upstream is a table, as its owner changes it, and a feed of a query on it.
type upstream struct {
	service    *service
	store      *realDatabase
	db         *realDatabase
	connector  string
	connection string
	r          *rand.Rand
	name       string
	log        []string

	published, refused int
	// schema is that of the table, empty for the usual one. Column is what v is called, gone
	// says that there is no table, and wide that it has more columns.
	schema, column string
	gone, wide     bool
	// moved says that the search path has another schema first.
	moved bool
	// earlier says that the feed is as an earlier release stored it, and unrefreshed that it was
	// not refreshed since.
	earlier, unrefreshed bool

	// parent is the feed that is queried, where it is not a table of a database, and declared
	// says that a table of SQLite declares types.
	parent   string
	declared bool
	// wasText says that an upload had texts, and has them from then on.
	wasText bool

	kind string // of the field v: integer, decimal, double or text
	rows []upstreamRow
	feed restFeed

	query pinnedQuery
	// numbers says that v had numbers when the query was created.
	numbers bool
	// kept are the rows of a feed that merges, by key, and latest is the cursor.
	kept   map[string]string
	latest *big.Rat
}

// upstreamRow is a row; v is nil for null.
type upstreamRow struct {
	id int
	v  *string
}

// pinnedQuery is a query and what it means.
type pinnedQuery struct {
	spec string
	uses bool // v is compared
	mean func(u *upstream, rows []upstreamRow) []string
}

// compareV compares values of v as the query meant them.
func (u *upstream) compareV(a, b string) int {
	if u.numbers {
		return rational(a).Cmp(rational(b))
	}
	return strings.Compare(a, b)
}

func isNumber(text string) bool {
	_, ok := new(big.Rat).SetString(text)
	return ok
}

func rational(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return n
}

// canon is a value of v as results are compared.
func (u *upstream) canon(v *string) string {
	switch {
	case v == nil:
		return "null"
	case u.numbers:
		return rational(*v).RatString()
	}
	return *v
}

var pinnedQueries = []pinnedQuery{
	{`{"fields":[{"field":"id"},{"field":"v","filters":[{"op":"gte","values":[500]}]}]}`, true, func(u *upstream, rows []upstreamRow) []string {
		return u.pick(rows, func(r upstreamRow) bool { return r.v != nil && u.compareV(*r.v, "500") >= 0 }, true)
	}},
	{`{"fields":[{"field":"id"},{"field":"v","select":false,"filters":[{"op":"eq","values":[7]}]}]}`, true, func(u *upstream, rows []upstreamRow) []string {
		return u.pick(rows, func(r upstreamRow) bool { return r.v != nil && u.compareV(*r.v, "7") == 0 }, false)
	}},
	{`{"fields":[{"field":"id"},{"field":"v"}],"sort":[{"field":"v","order":"desc"},{"field":"id"}],"limit":3}`, true, func(u *upstream, rows []upstreamRow) []string {
		sorted := slices.SortedFunc(slices.Values(rows), func(a, b upstreamRow) int {
			switch {
			case a.v == nil && b.v == nil:
				return cmp.Compare(a.id, b.id)
			case a.v == nil:
				return 1
			case b.v == nil:
				return -1
			}
			return cmp.Or(u.compareV(*b.v, *a.v), cmp.Compare(a.id, b.id))
		})
		return u.pick(sorted[:min(3, len(sorted))], func(upstreamRow) bool { return true }, true)
	}},
	{`{"fields":[{"field":"v"},{"field":"id","aggregate":"count"}]}`, true, func(u *upstream, rows []upstreamRow) []string {
		counts := map[string]int{}
		for _, r := range rows {
			counts[u.canon(r.v)]++
		}
		var out []string
		for v, n := range counts {
			out = append(out, v+" "+strconv.Itoa(n))
		}
		return out
	}},
	{`{"fields":[{"field":"v","filters":[{"op":"isNull","inverted":true}]},{"field":"id"}]},"mode":"merge","key":["v"]`, true, func(u *upstream, rows []upstreamRow) []string {
		for _, r := range rows {
			if r.v != nil {
				u.kept[u.canon(r.v)] = u.canon(r.v) + " " + strconv.Itoa(r.id)
			}
		}
		return u.all()
	}},
	{`{"fields":[{"field":"id"},{"field":"v"}]},"mode":"merge","key":["id"],"incremental":{"field":"v"}`, true, func(u *upstream, rows []upstreamRow) []string {
		from := u.latest
		for _, r := range rows {
			// Earlier releases did not fetch rows without a cursor again.
			if r.v != nil && u.numbers && (from == nil || rational(*r.v).Cmp(from) >= 0) || r.v == nil && (from == nil || !u.earlier) {
				u.kept[strconv.Itoa(r.id)] = strconv.Itoa(r.id) + " " + u.canon(r.v)
			}
			if r.v != nil && u.numbers && (u.latest == nil || rational(*r.v).Cmp(u.latest) > 0) {
				u.latest = rational(*r.v)
			}
		}
		return u.all()
	}},
}

func (u *upstream) all() (out []string) {
	for _, row := range u.kept {
		out = append(out, row)
	}
	return out
}

// pick are the rows for which a test holds, as results show them.
func (u *upstream) pick(rows []upstreamRow, keep func(upstreamRow) bool, both bool) (out []string) {
	for _, r := range rows {
		switch {
		case keep(r) && both:
			out = append(out, strconv.Itoa(r.id)+" "+u.canon(r.v))
		case keep(r):
			out = append(out, strconv.Itoa(r.id))
		}
	}
	return out
}

// create makes a table and a feed.
func (u *upstream) create(t *testing.T) {
	kinds := []string{"integer", "integer", "decimal", "text"}
	u.kind = kinds[u.r.IntN(len(kinds))]
	if u.query.spec == "" {
		u.query = pinnedQueries[u.r.IntN(len(pinnedQueries))]
	}
	if strings.Contains(u.query.spec, "incremental") && u.kind == "text" {
		u.kind = "integer" // a cursor of texts is tested with the connectors
	}
	u.numbers, u.kept = u.kind != "text", map[string]string{}
	for id := range 8 {
		u.rows = append(u.rows, upstreamRow{id, u.value(u.kind)})
	}
	if u.rows[0].v = u.valueOf(u.kind); u.kind == "text" {
		sure := "a500"
		u.rows[0].v = &sure
	}
	u.declared = u.r.IntN(2) == 0
	if (u.connector == "postgres" || u.connector == "duckdb") && u.r.IntN(3) == 0 {
		u.schema = "s" + u.name
		u.db.do(t, "CREATE SCHEMA "+u.schema)
	}
	u.write(t)
	u.feed = u.service.queried(t, fmt.Sprintf(`{"serviceName":%q,"viewName":%q,"name":%q,"query":%s}`, u.connector, u.view(), u.name, u.query.spec))
	u.verify(t, "created", true)
}

// run goes through some changes of a table.
func (u *upstream) run(t *testing.T) {
	if !u.earlier && u.r.IntN(3) == 0 && !t.Failed() {
		u.setBack(t)
	}
	for range 1 + u.r.IntN(4) {
		u.change(t)
	}
	if u.moved {
		u.setPath(t, "public")
	}
}

// value makes up a value of v, or null.
func (u *upstream) value(kind string) *string {
	if u.r.IntN(8) == 0 {
		return nil
	}
	return u.valueOf(kind)
}

func (u *upstream) valueOf(kind string) *string {
	texts := map[string][]string{
		"integer": {"7", "60", "500", "1000", "-3", "9", "499"},
		"decimal": {"7.00", "60.25", "500.00", "499.99", "1000.50", "-3.10"},
		"double":  {"7", "60", "500", "1000", "-3", "499"},
		"text":    {"7", "60", "500", "1000", "b", "9", "a500"},
	}[kind]
	text := texts[u.r.IntN(len(texts))]
	return &text
}

// change changes something upstream, has the feed refreshed, and verifies it.
func (u *upstream) change(t *testing.T) {
	what := []string{"values", "values", "empty", "wider", "text", "number", "back", "renamed", "gone", "beside"}[u.r.IntN(10)]
	if what == "beside" && u.unrefreshed {
		what = "values"
	}
	u.column, u.gone, u.wide = "v", false, u.r.IntN(4) == 0
	switch what {
	case "renamed":
		u.column = "w"
	case "gone":
		u.gone = true
	case "beside":
		u.putBeside(t)
	case "values":
		for i := range u.rows {
			if u.r.IntN(3) == 0 {
				u.rows[i].v = u.value(u.kind)
			}
		}
		u.rows = append(u.rows, upstreamRow{len(u.rows), u.value(u.kind)})
	case "empty":
		u.rows = nil
	case "wider":
		if u.kind == "integer" {
			u.kind = []string{"decimal", "double"}[u.r.IntN(2)]
		}
	case "text":
		u.kind = "text"
		if len(u.rows) > 0 {
			bad := "bad"
			u.rows[u.r.IntN(len(u.rows))].v = &bad
		}
	case "number", "back":
		if u.kind = "integer"; what == "back" && !u.numbers {
			u.kind = "text"
		}
		u.rows = nil
		for id := range 6 {
			u.rows = append(u.rows, upstreamRow{id, u.value(u.kind)})
		}
	}
	u.write(t)
	before, rows := u.feed, u.read(t)
	u.refresh(t)
	u.unrefreshed = u.unrefreshed && u.feed.State != "ready"
	u.verify(t, what, false)
	if u.feed.State == "failed" && (u.feed.Version != before.Version || !slices.Equal(u.read(t), rows)) {
		t.Errorf("a refresh that failed changed the rows")
	}
}

// refresh has the feed refreshed; the child of a feed is by itself.
func (u *upstream) refresh(t *testing.T) {
	u.feed, _ = u.service.refreshed(t, u.feed.ID)
	eventually(t, func() bool {
		u.service.send(t, request{method: "GET", path: "/data_feeds/" + u.feed.ID}).data(t, &u.feed)
		return u.feed.State != "pending" && u.feed.State != "refreshing"
	})
}

// verify holds the feed against what the query meant.
func (u *upstream) verify(t *testing.T, what string, must bool) {
	t.Helper()
	detail := ""
	if u.feed.LastError != nil {
		detail = u.feed.LastError.Type + " " + u.feed.LastError.Detail
	}
	u.log = append(u.log, fmt.Sprintf("%s: v is %s, %d rows, %s %s; %s", what, u.kind, len(u.rows), u.feed.State, detail, u.query.spec))
	// A column of SQLite that declares nothing has its decimals as floats.
	floats := u.kind == "double" || u.kind == "decimal" && u.connector == "sqlite" && !u.declared
	sameKind := u.numbers == (u.kind != "text") && !floats
	if u.db == nil && u.numbers {
		sameKind = !u.wasText
	}
	if u.feed.State == "ready" {
		u.published++
	} else {
		u.refused++
	}
	switch {
	case u.db != nil && (u.gone || u.column != "v"):
		if u.feed.LastError == nil || u.feed.LastError.Type != "/problems/unknown-view" && u.feed.LastError.Type != "/problems/unknown-field" || strings.Contains(detail, `\"`) {
			t.Errorf("what the query names is gone, and the feed is %s: %s", u.feed.State, detail)
		}
	case u.feed.State == "ready":
		if u.numbers && slices.ContainsFunc(u.rows, func(r upstreamRow) bool { return r.v != nil && !isNumber(*r.v) }) {
			t.Error("rows are published although one has no number")
			return
		}
		want := u.query.mean(u, u.rows)
		slices.Sort(want)
		if got := u.read(t); !slices.Equal(got, want) {
			t.Errorf("the rows are %q, want %q", got, want)
		}
	case must || sameKind || u.feed.LastError == nil || u.feed.LastError.Type != "/problems/type-changed":
		t.Errorf("the refresh failed: %s", detail)
	case !strings.Contains(detail, "/refresh?accept=true"):
		t.Errorf("%s does not say what to do", detail)
	}
}
