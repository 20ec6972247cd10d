package app

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ledgers are the records of the views of an API, with decimals of few and of many
// digits, without any, and without records.
func ledgers() map[string][]apiRecord {
	views := map[string][]apiRecord{"fine": nil, "coarse": nil, "blank": nil, "none": {}}
	for i := range 40 {
		record := apiRecord{
			"id": i, "name": []any{"", "Ada", "ada", "Grace", nil, "日本"}[i%6], "paid": []any{true, false, nil}[i%3],
			"day": []any{"2026-01-31", nil, "2026-02-28"}[i%3], "at": []any{"2026-01-31T08:30:00Z", "2026-01-31T08:30:00.5+02:00", nil, "2025-12-31T23:59:59Z"}[i%4],
			"rate": []any{0.1, 1.2e308, -2.5, nil, 0}[i%5],
		}
		for view, amount := range map[string]string{
			"fine":   []string{"0.001", "0", "-0.25", "12.340", "null", "1e-3", "99999999999999999999999999999999.999"}[i%7],
			"coarse": []string{"1", "20", "-3", "null"}[i%4],
			"blank":  "null",
		} {
			r := apiRecord{"amount": json.RawMessage(amount)}
			for name, v := range record {
				r[name] = v
			}
			views[view] = append(views[view], r)
		}
	}
	return views
}

const ledgerManifest = `
service: ledger
baseUrl: URL
request: {path: "/"}
views:
`

// ledgerService is a service with the API and the manifest of ledgers.
func ledgerService(t *testing.T) *service {
	t.Helper()
	fake := newFakeAPI(t, ledgers(), func(f *fakeAPI, w http.ResponseWriter, r *http.Request) {
		writeJSON(w, map[string]any{"rows": f.records[strings.TrimPrefix(r.URL.Path, "/")]})
	})
	manifest := strings.Replace(ledgerManifest, "URL", fake.URL, 1)
	for view := range ledgers() {
		manifest += "  " + view + ":\n    request: {path: " + view + "}\n    response: {path: \"$.rows[*]\"}\n    fields:\n"
		for _, f := range ledgerFields {
			manifest += "      " + f.name + ": {type: " + f.typ + "}\n"
		}
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ledger.yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, setup{env: append(slices.Clone(webhooks.env), "FEEDMILL_SERVICES_DIR="+folder)})
}

// ledgerFields are the fields of every view, with values to compare them with.
var ledgerFields = []struct {
	name, typ string
	values    []string
}{
	{"id", "integer", []string{"0", "7", "7.5", "-1", "39", "1e30"}},
	{"name", "text", []string{`""`, `"Ada"`, `"ada"`, `"Z"`, `"日本"`}},
	{"amount", "decimal", []string{"0.0005", "0.001", "0", "0.00099999999999999999999999999999999999999", "5000000000", "1e37", "1e40", "-1e40", "-0.25", "12.34", "20", "-3", "99999999999999999999999999999999.9991"}},
	{"rate", "number", []string{"0.1", "0", "1.2e308", "-2.5", "1e400"}},
	{"paid", "boolean", []string{"true", "false"}},
	{"day", "date", []string{`"2026-01-31"`, `"2026-02-01"`, `"1999-01-01"`}},
	{"at", "timestamp", []string{`"2026-01-31"`, `"2026-01-31T08:30:00Z"`, `"2026-01-31T06:30:00.5Z"`, `"2030-01-01"`}},
}

// randomLedgerQuery makes up a query.
func randomLedgerQuery(r *rand.Rand) string {
	var fields, sorts []string
	grouped := r.IntN(3) == 0
	for i, f := range ledgerFields {
		if i > 0 && r.IntN(3) == 0 {
			continue
		}
		parts := []string{fmt.Sprintf(`"field":%q`, f.name)}
		switch {
		case i > 0 && r.IntN(4) == 0:
			parts = append(parts, `"select":false`)
		case grouped && (i == 0 || r.IntN(2) == 0):
			fns := []string{"count", "countDistinct", "min", "max", "sum", "avg"}
			if !slices.Contains([]string{"integer", "decimal", "number"}, f.typ) {
				fns = fns[:4]
			}
			parts = append(parts, fmt.Sprintf(`"aggregate":%q`, fns[r.IntN(len(fns))]))
		case !grouped && r.IntN(3) == 0:
			sorts = append(sorts, fmt.Sprintf(`{"field":%q,"order":%q}`, f.name, []string{"asc", "desc"}[r.IntN(2)]))
		}
		var filters []string
		for range r.IntN(3) {
			value := func() string { return f.values[r.IntN(len(f.values))] }
			ops := []string{"eq", "gt", "gte", "lt", "lte", "between", "isNull", "isEmpty"}
			if f.typ == "boolean" {
				ops = []string{"eq", "isTrue", "isFalse", "isNull"}
			}
			op := ops[r.IntN(len(ops))]
			values := map[string]string{"eq": value() + "," + []string{value(), "null"}[r.IntN(2)], "between": value() + "," + value()}[op]
			if slices.Contains([]string{"gt", "gte", "lt", "lte"}, op) {
				values = value()
			}
			filters = append(filters, fmt.Sprintf(`{"op":%q,"values":[%s],"inverted":%v}`, op, values, r.IntN(2) == 0))
		}
		parts = append(parts, `"filters":[`+strings.Join(filters, ",")+`]`, fmt.Sprintf(`"filterOption":%q`, []string{"all", "any"}[r.IntN(2)]))
		fields = append(fields, "{"+strings.Join(parts, ",")+"}")
	}
	query := `{"fields":[` + strings.Join(fields, ",") + `]`
	if len(sorts) > 0 {
		query += `,"sort":[` + strings.Join(sorts, ",") + `]`
		if r.IntN(2) == 0 {
			query += fmt.Sprintf(`,"limit":%d`, 1+r.IntN(20))
		}
	}
	return query + `}`
}

// TestManifestEqualsFeed asks random queries of the views of a manifest and of feeds that
// hold the same rows: the results are the same, byte for byte.
func TestManifestEqualsFeed(t *testing.T) {
	t.Parallel()
	s := ledgerService(t)
	views := slices.Sorted(func(yield func(string) bool) {
		for view := range ledgers() {
			if !yield(view) {
				return
			}
		}
	})
	feeds := map[string]string{}
	for _, view := range views {
		fields := ""
		for _, f := range ledgerFields {
			fields += `,{"field":"` + f.name + `"}`
		}
		f := s.queried(t, `{"serviceName":"ledger","viewName":"`+view+`","query":{"fields":[`+fields[1:]+`]}}`)
		if f.State != "ready" || f.RowCount != int64(len(ledgers()[view])) {
			t.Fatalf("%s: %+v %+v", view, f, f.LastError)
		}
		feeds[view] = f.ID
	}
	rows := func(service, view, query string) (string, reply) {
		got := s.send(t, request{method: "POST", path: "/query_builder/preview", body: `{"serviceName":"` + service + `","viewName":"` + view + `","query":` + query + `}`})
		var preview struct {
			Data struct{ Rows json.RawMessage }
		}
		_ = json.Unmarshal([]byte(got.body), &preview)
		return string(preview.Data.Rows), got
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range longOr(300, 10_000) {
		view, query := views[r.IntN(len(views))], randomLedgerQuery(r)
		of, answer := rows("ledger", view, query)
		want, right := rows("feeds", feeds[view], query)
		if answer.status != right.status || answer.status >= 500 || of != want {
			t.Fatalf("seed %d, %s: %s\nmanifest: %d %s\nfeed: %d %s", seed, view, query, answer.status, answer.body, right.status, right.body)
		}
	}
	for _, of := range [][2]string{{"ledger", "fine"}, {"feeds", feeds["fine"]}} {
		got, answer := rows(of[0], of[1], `{"fields":[{"field":"rate","aggregate":[{"fn":"sum","as":"total"},{"fn":"avg","as":"mean"}]}]}`)
		if got != `[{"total":null,"mean":null}]` || strings.Count(answer.body, `"code":"not-finite"`) != 2 {
			t.Errorf("sums beyond the range of a number: %d %s", answer.status, answer.body)
		}
	}
}

// A filter is compared with all of its digits, however few those of the data are.
func TestManifestFiltersAreExact(t *testing.T) {
	t.Parallel()
	s := ledgerService(t)
	for filter, want := range map[string]string{
		`{"op":"eq","values":[0.0005]}`:     `[{"id":0}]`,
		`{"op":"gt","values":[5000000000]}`: `[{"id":0}]`,
		`{"op":"gte","values":[19.5]}`:      `[{"id":10}]`,
		`{"op":"lt","values":[1e40]}`:       `[{"id":30}]`,
	} {
		got := s.send(t, request{method: "POST", path: "/query_builder/preview", body: `{"serviceName":"ledger","viewName":"coarse","query":{"fields":[{"field":"id","aggregate":"count"},
			{"field":"amount","select":false,"filters":[` + filter + `]}]}}`})
		if got.status != 200 || !strings.Contains(got.body, `"rows":`+want) {
			t.Errorf("%s: %d %s, want %s", filter, got.status, got.body, want)
		}
	}
}
