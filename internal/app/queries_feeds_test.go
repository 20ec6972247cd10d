package app

import (
	"strings"
	"testing"
)

// queried makes a feed of a query and waits for its first refresh.
func (s *service) queried(t testing.TB, spec string) (f restFeed) {
	t.Helper()
	got := s.send(t, request{method: "POST", path: "/data_feeds?type=queryBuilder", body: spec, header: [][2]string{{"Prefer", "wait=60"}}})
	if got.status != 201 {
		t.Fatalf("%d: %s", got.status, got.body)
	}
	got.data(t, &f)
	return f
}

const shopOrders = "id,status,total,placed\n1,paid,12.50,2026-01-01T10:00:00Z\n2,open,7.00,2026-01-02T10:00:00Z\n3,paid,30.25,2026-01-03T10:00:00Z\n4,,1.00,2026-01-04T10:00:00Z\n"

func (s *service) orders(t testing.TB) (f restFeed) {
	t.Helper()
	s.send(t, request{method: "POST", path: "/data_feeds?type=dataUpload&name=Orders", body: shopOrders, header: [][2]string{{"Content-Type", "text/csv"}}}).data(t, &f)
	return f
}

// The feeds of a workspace are a service: its views are listed, described and
// queried, and a feed of a query is made anew when its parent has a new version.
func TestFeedsAreAService(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	parent := s.orders(t)
	services := s.send(t, request{method: "GET", path: "/query_builder/services"})
	if !strings.HasPrefix(services.body, `[{"serviceName":"feeds","title":"Data feeds","connector":"feeds","status":"connected"},`) {
		t.Errorf("%d %s", services.status, services.body)
	}
	views := s.send(t, request{method: "GET", path: "/query_builder/services/feeds/views"})
	if views.body != `[{"name":"`+parent.ID+`","label":"Orders","description":"","kind":"feed","rowEstimate":4}]` {
		t.Errorf("%d %s", views.status, views.body)
	}
	if got := s.send(t, request{method: "GET", path: "/query_builder/services/feeds/views?q=invoice"}); got.body != `[]` {
		t.Errorf("%d %s", got.status, got.body)
	}
	fields := s.send(t, request{method: "GET", path: "/query_builder/services/feeds/views/" + parent.ID + "/fields"})
	if !strings.Contains(fields.body, `{"name":"total","label":"total","type":"decimal","nativeType":"decimal","nullable":false,"filterable":true,"operators":["between","eq",`) {
		t.Errorf("%d %s", fields.status, fields.body)
	}
	spec := `{"serviceName":"feeds","viewName":"` + parent.ID + `","query":{"fields":[{"field":"status","filters":[{"op":"eq","values":["paid",null]}]},
		{"field":"total","aggregate":[{"fn":"sum","as":"sum"},{"fn":"count","as":"n"}]}],"sort":[{"field":"sum","order":"desc"}]}`
	preview := s.send(t, request{method: "POST", path: "/query_builder/preview", body: spec + "}"})
	for _, want := range []string{
		`"rows":[{"status":"paid","sum":42.75,"n":2},{"status":null,"sum":1.00,"n":1}]`,
		`"sql":"SELECT \"status\", sum(\"total\") AS \"sum\", count(\"total\") AS \"n\" FROM \"` + parent.ID + `\" WHERE `, `"parameters":["paid"]`,
		`"filters":[{"field":"status","op":"eq","inverted":false,"ranIn":"source"}],"groupedHere":false`,
	} {
		if !strings.Contains(preview.body, want) {
			t.Errorf("%d %s lacks %s", preview.status, preview.body, want)
		}
	}
	child := s.queried(t, spec+`}`)
	if child.State != "ready" || child.Name != "Orders" || s.read(t, child.ID, "") != `{"status":"paid","sum":42.75,"n":2}`+"\n"+`{"status":null,"sum":1.00,"n":1}`+"\n" {
		t.Fatalf("%+v %+v\n%s", child, child.LastError, s.read(t, child.ID, ""))
	}
	grandchild := s.queried(t, `{"name":"Sums","serviceName":"feeds","viewName":"`+child.ID+`","query":{"fields":[{"field":"sum"}]}}`)
	s.send(t, request{method: "PUT", path: "/data_feeds/" + parent.ID + "/data", body: shopOrders + "5,paid,1.25,2026-01-05T10:00:00Z\n", header: [][2]string{{"Content-Type", "text/csv"}}})
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + grandchild.ID}).data(t, &grandchild)
		return grandchild.Version == 2
	})
	if got := s.read(t, grandchild.ID, ""); got != `{"sum":44.00}`+"\n"+`{"sum":1.00}`+"\n" {
		t.Error(got)
	}
	cycle := s.send(t, request{method: "PATCH", path: "/data_feeds/" + child.ID, body: `{"viewName":"` + grandchild.ID + `","query":{"fields":[{"field":"sum"}]}}`})
	if p := cycle.problem(t); cycle.status != 400 || p.places()[0] != "pointer /viewName" || !strings.Contains(p.Errors[0].Detail, "own rows") {
		t.Errorf("%d %s", cycle.status, cycle.body)
	}
	renamed := s.send(t, request{method: "PATCH", path: "/data_feeds/" + child.ID, body: `{"query":{"fields":[{"field":"id"},{"field":"status","select":false,"filters":[{"op":"isNull"}]}]}}`})
	if renamed.status != 200 {
		t.Errorf("%d %s", renamed.status, renamed.body)
	}
	eventually(t, func() bool { return s.read(t, child.ID, "") == `{"id":4}`+"\n" })
}

// Every fault of a query has its place.
func TestQueryFaults(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	f := s.orders(t)
	for spec, want := range map[string]string{
		`{}`: "pointer /serviceName, pointer /viewName, pointer /query",
		`{"serviceName":"fedes","viewName":"x","query":{"fields":[{"field":"id"}]}}`:                                                                                                        "pointer /serviceName",
		`{"serviceName":"feeds","viewName":"df_nothing","query":{"fields":[{"field":"id"}]}}`:                                                                                               "pointer /viewName",
		`{"serviceName":"feeds","viewName":"V","query":{"fields":[{"field":"id"},{"field":"id"}]}}`:                                                                                         "pointer /query/fields/1/field",
		`{"serviceName":"feeds","viewName":"V","query":{"fields":[{"field":"stauts"},{"field":"total","filters":[{"op":"gt","values":[]},{"op":"eq","values":["x"]}]}]},"key":["nothing"]}`: "pointer /query/fields/1/filters/0/values, pointer /query/fields/1/filters/1/values/0, pointer /query/fields/0/field, pointer /key/0",
		`{"serviceName":"feeds","viewName":"V","query":{"fields":[]},"mode":"merge","schedule":{"every":"1s"},"extra":1}`:                                                                   "pointer /query/fields, pointer /schedule/every, pointer /key, pointer /extra",
		`{"serviceName":"feeds","viewName":"V","query":{"fields":[{"field":"id"}],"limit":5},"incremental":{"field":"placed","lookback":"x"}}`:                                              "pointer /incremental/lookback, pointer /incremental",
		`{"serviceName":"feeds","viewName":"V","query":{"fields":[{"field":"id"}]},"incremental":{"field":"placed"}}`:                                                                       "pointer /incremental/field",
		`{"serviceName":"feeds","viewName":"V","query":{"fields":[{"field":"id"}]},"incremental":{"field":"id","lookback":"1h"}}`:                                                           "pointer /incremental/lookback",
		`{"serviceName":"feeds","viewName":"V","query":{"fields":[{"field":"id"}]},"incremental":{"field":"id"},"mode":"replace"}`:                                                          "pointer /mode",
		`{"serviceName":"feeds","viewName":"V","query":{"fields":[{"field":"stauts","fliters":[]}],"sorted":1},"key":["nothing"],"extra":1}`:                                                "pointer /query/fields/0/fliters, pointer /query/sorted, pointer /extra, pointer /query/fields/0/field, pointer /key/0",
		`{"serviceName":"fedes","viewName":"x","query":{"fields":[{"field":"id"}]},"extra":1}`:                                                                                              "pointer /extra, pointer /serviceName",
	} {
		spec = strings.Replace(spec, `"V"`, `"`+f.ID+`"`, 1)
		for _, path := range []string{"/data_feeds?type=queryBuilder", "/data_feeds/preview?type=queryBuilder", "/query_builder/preview"} {
			got := s.send(t, request{method: "POST", path: path, body: spec})
			if places := strings.Join(got.problem(t).places(), ", "); got.status != 400 || places != want {
				t.Errorf("%s %s: %d at %s: %s", path, spec, got.status, places, got.body)
			}
		}
	}
	child := s.queried(t, `{"serviceName":"feeds","viewName":"`+f.ID+`","query":{"fields":[{"field":"id"}]}}`)
	for patch, want := range map[string]string{
		`{"query":{"fields":[{"field":"stauts","fliters":[]}]},"key":["nothing"],"extra":1}`: "pointer /query/fields/0/fliters, pointer /extra, pointer /query/fields/0/field, pointer /key/0",
		`{"schedule":{"every":"1s"},"extra":1}`:                                              "pointer /schedule/every, pointer /extra",
		`{"schedule":{"every":"1h"},"extra":null}`:                                           "pointer /extra",
		`{"extra":1}`: "pointer /extra",
	} {
		got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + child.ID, body: patch})
		if places := strings.Join(got.problem(t).places(), ", "); got.status != 400 || places != want {
			t.Errorf("%s: %d at %s: %s", patch, got.status, places, got.body)
		}
	}
	duplicate := s.send(t, request{method: "POST", path: "/data_feeds?type=queryBuilder", body: `{"serviceName":"feeds","viewName":"` + f.ID + `","query":{"fields":[{"field":"id"},{"field":"id"}]}}`})
	if p := duplicate.problem(t); p.Type != "/problems/duplicate-field" {
		t.Errorf("%s", duplicate.body)
	}
	near := s.send(t, request{method: "POST", path: "/query_builder/preview", body: `{"serviceName":"feeds","viewName":"` + f.ID + `","query":{"fields":[{"field":"stauts"}]}}`})
	if !strings.Contains(near.body, "did you mean status?") {
		t.Errorf("%s", near.body)
	}
	for _, path := range []string{"/query_builder/services/nobody/views", "/query_builder/services/feeds/views/df_nothing/fields", "/query_builder/services/nobody/views/x/fields"} {
		if got := s.send(t, request{method: "GET", path: path}); got.status != 404 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// The services of a workspace are nobody else's, whatever they are called.
func TestServicesAreApart(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	own := s.orders(t)
	const config = `{"serviceName":"warehouse","connector":"postgres","config":{"host":"127.0.0.1","port":1,"database":"d","user":"u","password":"s3cret"}}`
	made := s.send(t, request{method: "POST", path: "/connections", body: config})
	var connection shownFeed
	made.data(t, &connection)
	other := s.newKey(t, s.newWorkspace(t, "other").ID, everyScope...).Key
	for _, path := range []string{
		"/query_builder/services/warehouse/views", "/query_builder/services/warehouse/views/t/fields", "/query_builder/services/feeds/views/" + own.ID + "/fields",
		"/query_builder/services/feeds/views/" + own.ID + "/fields/status/values", "/query_builder/services/warehouse/views/t/fields/f/values",
		"/connections/" + connection.ID,
	} {
		if got := s.send(t, request{method: "GET", path: path, key: other}); got.status != 404 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	for _, path := range []string{"/query_builder/services/feeds/views", "/connections"} {
		if got := s.send(t, request{method: "GET", path: path, key: other}); got.body != "[]" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := s.send(t, request{method: "GET", path: "/query_builder/services", key: other}); strings.Contains(got.body, "warehouse") {
		t.Errorf("%d %s", got.status, got.body)
	}
	for body, place := range map[string]string{
		`{"serviceName":"warehouse","viewName":"t","query":{"fields":[{"field":"id"}]}}`:          "/serviceName",
		`{"serviceName":"feeds","viewName":"` + own.ID + `","query":{"fields":[{"field":"id"}]}}`: "/viewName",
	} {
		for _, path := range []string{"/query_builder/preview", "/data_feeds?type=queryBuilder", "/data_feeds/preview?type=queryBuilder"} {
			if got := s.send(t, request{method: "POST", path: path, body: body, key: other}); got.status != 400 || got.problem(t).places()[0] != "pointer "+place {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
	}
	// The same name is free in another workspace.
	if got := s.send(t, request{method: "POST", path: "/connections", body: config, key: other}); got.status != 201 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
