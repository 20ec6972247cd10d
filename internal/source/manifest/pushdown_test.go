package manifest

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
)

// TestParameters passes on what the API can be told, and never less than what the
// query lets through.
func TestParameters(t *testing.T) {
	m := parsed(t, shop)
	v, _ := m.View("orders")
	at := func(text string) feedmill.FilterValue { return feedmill.FilterValue{Text: text} }
	for _, test := range []struct {
		name, field string
		filter      feedmill.Filter
		want        string
	}{
		{"a value by the API's name", "state", feedmill.Filter{Op: feedmill.OpEq, Values: []feedmill.FilterValue{at("paid")}}, "query state=P"},
		{"several values", "state", feedmill.Filter{Op: feedmill.OpEq, Values: []feedmill.FilterValue{at("paid"), at("open")}}, "query state=P,O"},
		{"one that the API does not know", "state", feedmill.Filter{Op: feedmill.OpEq, Values: []feedmill.FilterValue{at("paid"), at("lost")}}, ""},
		{"null among them", "state", feedmill.Filter{Op: feedmill.OpEq, Values: []feedmill.FilterValue{at("paid"), {Null: true}}}, ""},
		{"inverted", "state", feedmill.Filter{Op: feedmill.OpEq, Inverted: true, Values: []feedmill.FilterValue{at("paid")}}, ""},
		{"no parameter for it", "id", feedmill.Filter{Op: feedmill.OpEq, Values: []feedmill.FilterValue{at("7")}}, ""},
		{"a lower bound", "at", feedmill.Filter{Op: feedmill.OpGt, Values: []feedmill.FilterValue{at("2026-01-02T03:04:05.600Z")}}, "query since=1767323045"},
		{"an upper bound in days of an unknown zone", "at", feedmill.Filter{Op: feedmill.OpLte, Values: []feedmill.FilterValue{at("2026-01-02T03:04:05Z")}}, "query until=2026-01-03"},
		{"both", "at", feedmill.Filter{Op: feedmill.OpBetween, Values: []feedmill.FilterValue{at("2026-01-02"), at("2026-01-03")}}, "query since=1767312000 query until=2026-01-05"},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := feedmill.Query{Fields: []feedmill.Field{{Name: "id"}}, Where: []feedmill.Condition{{Name: test.field, Filters: []feedmill.Filter{test.filter}}}}
			tree, faults := query.Resolve(q, v.columns())
			if err := faults.Err(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range v.parameters(tree) {
				got = append(got, p.In+" "+p.Name+"="+p.Value.Text())
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
