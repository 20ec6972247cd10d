package app

import (
	"strings"
	"testing"
)

// Computed fields are selected, tested, sorted, aggregated and grouped by, wherever they are computed.
func TestComputedFields(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	parent := s.orders(t)
	spec := func(query string) string {
		return `{"serviceName":"feeds","viewName":"` + parent.ID + `","query":` + query + `}`
	}
	preview := func(query string) string {
		t.Helper()
		return s.send(t, request{method: "POST", path: "/query_builder/preview", body: spec(query)}).body
	}
	for query, want := range map[string]string{
		`{"computed":[{"name":"half","expression":"total / 2"},{"name":"size","expression":"if(half > 6, 'large', 'small')"}],
			"fields":[{"field":"id"},{"field":"half"},{"field":"size"}],"sort":[{"field":"half","order":"desc"},{"field":"id"}],"limit":2}`: `"rows":[{"id":3,"half":15.125000000000,"size":"large"},{"id":1,"half":6.250000000000,"size":"large"}]`,
		`{"computed":[{"name":"paid","expression":"status = 'paid'"}],"fields":[{"field":"paid"},{"field":"total","aggregate":"sum"}],"sort":[{"field":"paid"}]}`:                                             `"rows":[{"paid":false,"total":8.00},{"paid":true,"total":42.75}]`,
		`{"computed":[{"name":"x","expression":"10 / (id - 2)"}],"fields":[{"field":"x"},{"field":"id","filters":[{"op":"lte","values":[2]}]}]}`:                                                              `"warnings":[{"code":"division-by-zero","column":"x","count":1,"firstRow":null,"examples":[],"detail":"The computed field x divides by zero in 1 rows`,
		`{"computed":[{"name":"x","expression":"id * 2"}],"fields":[{"field":"id"}],"where":{"any":[{"field":"x","op":"gt","values":[6]},{"field":"id","op":"eq","values":[1]}]}}`:                            `"rows":[{"id":1},{"id":4}]`,
		`{"computed":[{"name":"m","expression":"toDate(placed)"}],"fields":[{"field":"m","group":"month"},{"field":"id","aggregate":"count","having":[{"op":"gt","values":[0]}]}],"timezone":"Europe/Paris"}`: `"rows":[{"m":"2026-01-01","id":`,
	} {
		if got := preview(query); !strings.Contains(got, want) {
			t.Errorf("%s\n%s\nlacks %s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		`{"computed":[{"name":"x","expression":"totl + 1"},{"name":"id","expression":"1"},{"name":"y","expression":"x + 1"}],"fields":[{"field":"x"},{"field":"y"}]}`: `"errors":[{"pointer":"/query/computed/0/expression","detail":"Unknown field totl at 1. Did you mean total?"},{"pointer":"/query/computed/1/name","detail":"The view already has a field \"id\"; choose another name."}]`,
		`{"computed":[{"name":"x","expression":"total * 99999999999999999999999999999999999999"}],"fields":[{"field":"x"}]}`:                                          `"detail":"The computed field x cannot be computed: overflow: a value has more than 38 digits.`,
		`{"computed":[{"name":"x"}],"fields":[{"field":"id"}]}`:                                                                                                       `"pointer":"/query/computed/0/expression"`,
	} {
		if got := preview(query); !strings.Contains(got, want) {
			t.Errorf("%s\n%s\nlacks %s", query, got, want)
		}
	}
	child := s.queried(t, strings.TrimSuffix(spec(`{"computed":[{"name":"gross","expression":"round(total * 1.19, 2)"}],"fields":[{"field":"id"},{"field":"gross"}],"sort":[{"field":"id"}],"limit":2}`), "}")+`,"mode":"merge","key":["id"]}`)
	if got := s.read(t, child.ID, ""); got != `{"id":1,"gross":14.88}`+"\n"+`{"id":2,"gross":8.33}`+"\n" {
		t.Errorf("%+v %+v\n%s", child, child.LastError, got)
	}
	for path, want := range map[string]string{
		"/data_feeds/" + parent.ID + "/query": `"pointer":"/computed","detail":"computed is not supported here.`,
	} {
		if got := s.send(t, request{method: "POST", path: path, body: `{"computed":[{"name":"x","expression":"1"}]}`}); got.status != 400 || !strings.Contains(got.body, want) {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if got := s.send(t, request{method: "POST", path: "/query_builder/preview", body: strings.Replace(spec(`{"computed":[{"name":"x","expression":"id"}],"fields":[{"field":"x"}]}`), "{", `{"incremental":{"field":"x"},`, 1)}); !strings.Contains(got.body, "A computed field cannot be used; use a field of the view.") {
		t.Errorf("%d %s", got.status, got.body)
	}
}
