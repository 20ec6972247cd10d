package app

import (
	"strings"
	"testing"
)

// A feed that joins feeds has the versions of all of them as its parents, is refreshed when any
// of them changes, and not once more than that needs.
func TestJoinedFeedsFollow(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	orders := s.orders(t)
	customers := s.upload(t, "&name=Customers", "text/csv", "order_id,country\n1,DE\n1,DE\n3,NL\n")
	spec := `{"name":"Joined","serviceName":"feeds","viewName":"` + orders.ID + `","query":{"joins":[{"view":"` + customers.ID + `","as":"c","kind":"left","on":[{"left":"id","right":"order_id"}]}],
		"fields":[{"field":"id"},{"field":"country","from":"c"}]}}`
	preview := s.send(t, request{method: "POST", path: "/query_builder/preview", body: spec})
	for _, text := range []string{`LEFT JOIN`, `"code":"multiplied-rows"`, "2 rows with a match became 3, a factor of 1.5"} {
		if !strings.Contains(preview.body, text) {
			t.Errorf("the preview does not have %q: %s", text, preview.body)
		}
	}
	joined := s.queried(t, spec)
	if got, want := s.read(t, joined.ID, ""), `{"id":1,"country":"DE"}
{"id":1,"country":"DE"}
{"id":2,"country":null}
{"id":3,"country":"NL"}
{"id":4,"country":null}
`; got != want {
		t.Errorf("the rows are %s", got)
	}
	version := s.send(t, request{method: "GET", path: "/data_feeds/" + joined.ID + "/versions/1"})
	if !strings.Contains(version.body, `"upstream":[{"id":"`+orders.ID+`","version":1},{"id":"`+customers.ID+`","version":1}]`) {
		t.Error(version.body)
	}

	s.sendData(t, "PUT", "/data_feeds/"+customers.ID+"/data", "text/csv", "order_id,country\n2,FR\n")
	s.sendData(t, "PUT", "/data_feeds/"+orders.ID+"/data", "text/csv", shopOrders+"5,paid,1.25,2026-01-05T10:00:00Z\n")
	both := `"upstream":[{"id":"` + orders.ID + `","version":2},{"id":"` + customers.ID + `","version":2}]`
	eventually(t, func() bool {
		return strings.Contains(s.send(t, request{method: "GET", path: "/data_feeds/" + joined.ID + "/versions"}).body, both)
	})
	// One change after the other refreshes at most twice; what both have is read once.
	if all := s.send(t, request{method: "GET", path: "/data_feeds/" + joined.ID + "/versions"}); strings.Count(all.body, both) != 1 {
		t.Error(all.body)
	}

	for path, body := range map[string]string{
		"/data_feeds/" + orders.ID: `{"joins":[{"view":"x","as":"c","on":[{"left":"id","right":"id"}]}],"fields":[{"field":"id"}]}`,
	} {
		if got := s.send(t, request{method: "POST", path: path + "/query", body: body}); got.status != 400 || !strings.Contains(got.body, "/joins/0") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	cycle := s.send(t, request{method: "PATCH", path: "/data_feeds/" + joined.ID, body: `{"query":{"joins":[{"view":"` + joined.ID + `","as":"c","on":[{"left":"id","right":"id"}]}],"fields":[{"field":"id"}]}}`})
	if cycle.status != 400 || !strings.Contains(cycle.body, "/query/joins/0/view") || !strings.Contains(cycle.body, "its own rows") {
		t.Errorf("%d %s", cycle.status, cycle.body)
	}
	for change, fault := range map[string]string{
		`"incremental":{"field":"id"}`: "/incremental",
		`"query":{"joins":[{"view":"df_00000000000000000000000000","as":"c","on":[{"left":"id","right":"id"}]}],"fields":[{"field":"id"}]}`:                                                              "/query/joins/0/view",
		`"query":{"joins":[{"view":"` + customers.ID + `","as":"c;--","on":[{"left":"id","right":"order_id"}]}],"fields":[{"field":"id"}]}`:                                                              "/query/joins/0/as",
		`"query":{"joins":[{"view":"` + customers.ID + `","as":"c","on":[{"left":"status","right":"order_id"}]}],"fields":[{"field":"id"}]}`:                                                             "/query/joins/0/on/0/right",
		`"query":{"joins":[{"view":"` + customers.ID + `","as":"c","on":[{"left":"id","right":"order_id"}]}],"fields":[{"field":"id"},{"field":"x","from":"d"}]}`:                                        "/query/fields/1/from",
		`"query":{"joins":[{"view":"` + orders.ID + `","as":"c","on":[{"left":"id","right":"id"}]}],"fields":[{"field":"id"},{"field":"id","from":"c"}]}`:                                                "/query/fields/1/field",
		`"query":{"joins":[{"view":"` + orders.ID + `","as":"c","on":[{"left":"id","right":"id"}]},{"view":"` + orders.ID + `","as":"C","on":[{"left":"id","right":"id"}]}],"fields":[{"field":"id"}]}`:  "/query/joins/1/as",
		`"query":{"joins":[{"view":"` + orders.ID + `","as":"c","on":[{"left":"id","right":"id"}]}],"fields":[{"field":"id"},{"field":"status","from":"c"},{"field":"status","from":"c","as":"again"}]}`: "/query/fields/2/field",
	} {
		got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + joined.ID, body: "{" + change + "}"})
		if got.status != 400 || !strings.Contains(got.body, `"pointer":"`+fault+`"`) {
			t.Errorf("%s: %d %s", change, got.status, got.body)
		}
	}
}
