package ui

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/feedmill/feedmill/client"
)

func fieldOf(name string, references ...string) client.ViewField {
	f := client.ViewField{Name: name, Type: "integer"}
	if len(references) > 0 {
		f.References = &client.FieldReference{View: references[0], Field: references[1]}
	}
	return f
}

// A join without fields gets those of a foreign key, in either direction, and never those of another view.
func TestJoinIsSuggested(t *testing.T) {
	customers := []client.ViewField{fieldOf("id"), fieldOf("country", "countries", "code")}
	for _, test := range []struct {
		name                string
		join                queryJoin
		wantLeft, wantRight string
	}{
		{"forward", queryJoin{View: "customers", As: "c", Fields: customers}, "customer_id", "id"},
		{"back", queryJoin{View: "lines", As: "l", Fields: []client.ViewField{fieldOf("nr"), fieldOf("order", "orders", "id")}}, "id", "order"},
		{"from a join before it", queryJoin{View: "countries", As: "k", Fields: []client.ViewField{fieldOf("code")}}, "c.country", "code"},
		{"no key", queryJoin{View: "other", As: "o", Fields: []client.ViewField{fieldOf("id")}}, "", ""},
		{"chosen", queryJoin{View: "customers", As: "d", Left: "id", Right: "id", Fields: customers}, "id", "id"},
		{"chosen in part", queryJoin{View: "customers", As: "d", Left: "id", Fields: customers}, "id", ""},
		{"left from another view", queryJoin{View: "customers", As: "d", Left: "gone", Right: "missing", Fields: customers}, "customer_id", "id"},
	} {
		p := &queryPage{View: "orders", Joins: []queryJoin{{View: "customers", As: "c"}}}
		for _, f := range []client.ViewField{fieldOf("id"), fieldOf("customer_id", "customers", "id")} {
			p.Fields = append(p.Fields, newQueryField(nil, f, "", true))
		}
		for _, f := range customers {
			p.Fields = append(p.Fields, newQueryField(nil, f, "c", false))
		}
		if p.suggestPair(&test.join); test.join.Left != test.wantLeft || test.join.Right != test.wantRight {
			t.Errorf("%s: %q = %q, want %q = %q", test.name, test.join.Left, test.join.Right, test.wantLeft, test.wantRight)
		}
	}
}

// Aliases and columns of joined views have names of their own.
func TestNamesOfJoins(t *testing.T) {
	p := &queryPage{}
	for _, want := range []struct{ view, alias string }{{"crm.accounts", "a"}, {"Articles", "a2"}, {"_2026", "j"}, {`"x.accounts"`, "a3"}} {
		got := p.freeAlias(want.view)
		if got != want.alias {
			t.Errorf("%s is %s, want %s", want.view, got, want.alias)
		}
		p.Joins = append(p.Joins, queryJoin{View: want.view, As: got})
	}
	p.Fields = []queryField{
		newQueryField(nil, fieldOf("id"), "", true), newQueryField(nil, fieldOf("id"), "a", true), newQueryField(url.Values{"as.j.id": {"nr"}}, fieldOf("id"), "j", true),
		newQueryField(nil, fieldOf(`a."b`), "a", true),
	}
	p.Sorts = []querySort{{`a."a.""b"`, "desc"}, {"id", "asc"}}
	p.Filters = []queryFilter{{"a.id", "gt", "3"}, {"id", "!eq", "4"}}
	p.Any = true
	got, err := json.Marshal(p.spec()["query"])
	const want = `{"fields":[{"field":"id"},{"as":"a_id","field":"id","from":"a"},{"as":"nr","field":"id","from":"j"},{"field":"a.\"b","from":"a"}],` +
		`"joins":[{"as":"a","kind":"inner","on":[{"left":"","right":""}],"view":"crm.accounts"},{"as":"a2","kind":"inner","on":[{"left":"","right":""}],"view":"Articles"},` +
		`{"as":"j","kind":"inner","on":[{"left":"","right":""}],"view":"_2026"},{"as":"a3","kind":"inner","on":[{"left":"","right":""}],"view":"\"x.accounts\""}],` +
		`"sort":[{"field":"a.\"b","from":"a","order":"desc"},{"field":"id","order":"asc"}],` +
		`"where":{"any":[{"field":"id","from":"a","op":"gt","values":[3]},{"field":"id","inverted":true,"op":"eq","values":[4]}]}}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v\nwant %s", got, err, want)
	}
}
