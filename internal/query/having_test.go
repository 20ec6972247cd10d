package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
	"github.com/feedmill/feedmill/internal/query/mysql"
	"github.com/feedmill/feedmill/internal/query/postgres"
	"github.com/feedmill/feedmill/internal/query/sqlite"
)

func TestReadConditions(t *testing.T) {
	q, wrong := read(`{"fields":[{"field":"items","aggregate":"sum","having":[{"op":"gt","values":[5]},{"fn":"max","op":"isNull","inverted":true}]}],
		"where":{"any":[{"field":"status","op":"eq","values":["a"]},{"all":[{"field":"paid","op":"isTrue"}]}]},
		"sort":[{"field":"items"}],"offset":7}`)
	at := func(pointer string) feedmill.Fault { return feedmill.Fault{Pointer: pointer} }
	want := feedmill.WhereNode{Place: at("/where"), Any: []feedmill.WhereNode{
		{Name: "status", Place: at("/where/any/0"), Filter: feedmill.Filter{Op: feedmill.OpEq, Values: values("a")}},
		{Place: at("/where/any/1"), All: []feedmill.WhereNode{{Name: "paid", Place: at("/where/any/1/all/0"), Filter: feedmill.Filter{Op: feedmill.OpIsTrue}}}},
	}}
	having := []feedmill.Having{
		{Place: at("/fields/0/having/0"), Filter: feedmill.Filter{Op: feedmill.OpGt, Values: values("5")}},
		{Fn: feedmill.AggregateMax, Place: at("/fields/0/having/1"), Filter: feedmill.Filter{Op: feedmill.OpIsNull, Inverted: true}},
	}
	if diff := cmp.Diff(&want, q.Tree) + cmp.Diff(having, q.Fields[0].Having); diff != "" || q.Offset != 7 || len(wrong) > 0 {
		t.Errorf("offset %d, faults %v\n%s", q.Offset, wrong, diff)
	}
}

func TestFaultsOfConditions(t *testing.T) {
	leaf := `{"field":"paid","op":"isTrue"}`
	deep := leaf
	for range feedmill.MaxWhereDepth - 1 {
		deep = `{"all":[` + deep + `]}`
	}
	many := strings.Repeat(leaf+",", feedmill.MaxWhereFilters-1) + leaf
	for text, want := range map[string]string{
		`{"fields":[{"field":"at","group":"minute"}]}`: "/fields/0/group", `{"fields":[{"field":"at","group":"day","aggregate":"min"}]}`: "/fields/0/group",
		`{"fields":[{"field":"at","group":"day","select":false}]}`: "/fields/0/group",
		`{"offset":1}`: "/offset", `{"offset":1,"sort":[]}`: "/offset", `{"offset":-1,"sort":[{"field":"paid"}]}`: "/offset", `{"offset":0}`: "",
		`{"where":[]}`: "/where", `{"where":{}}`: "/where/field /where/op", `{"where":{"all":[]}}`: "/where/all", `{"where":{"all":{}}}`: "/where/all",
		`{"where":{"all":[` + leaf + `],"any":[` + leaf + `]}}`:                  "/where/any",
		`{"where":{"all":[` + leaf + `],"field":"paid"}}`:                        "/where/field",
		`{"where":{"any":[{"field":"paid","op":"isTrue","fn":"sum"}]}}`:          "/where/any/0/fn",
		`{"where":` + deep + `}`:                                                 "",
		`{"where":{"any":[` + deep + `]}}`:                                       "/where" + strings.Repeat("/any/0", 1) + strings.Repeat("/all/0", feedmill.MaxWhereDepth-2),
		`{"where":{"any":[` + many + `]}}`:                                       "",
		`{"where":{"any":[{"any":[` + many + `]},` + leaf + `]}}`:                "/where",
		`{"fields":[{"field":"paid","having":{}}]}`:                              "/fields/0/having",
		`{"fields":[{"field":"paid","having":[{"fn":"median","op":"isNull"}]}]}`: "/fields/0/having/0/fn",
		`{"fields":[{"field":"paid","having":[` + strings.Repeat(`{"fn":"count","op":"gt","values":[0]},`, feedmill.MaxHaving) + `{"fn":"count","op":"gt","values":[0]}]}]}`: "/fields/0/having",
	} {
		if _, places := read(text); strings.Join(places, " ") != want {
			t.Errorf("%.200s: %v, want %s", text, places, want)
		}
	}
	for text, want := range map[string]string{
		`{"fields":[{"field":"day","group":"hour"}]}`:                                                                         "/fields/0/group",
		`{"fields":[{"field":"status","group":"day"}]}`:                                                                       "/fields/0/group",
		`{"where":{"all":[{"field":"paod","op":"isTrue"}]}}`:                                                                  "/where/all/0/field",
		`{"where":{"any":[{"all":[{"field":"items","op":"eq","values":[1,"x"]}]}]}}`:                                          "/where/any/0/all/0/values/1",
		`{"where":{"field":"paid","op":"contains","values":["x"]}}`:                                                           "/where/op",
		`{"fields":[{"field":"paid","having":[{"op":"isTrue"}]}]}`:                                                            "/fields/0/having/0/fn",
		`{"fields":[{"field":"items","aggregate":[{"fn":"sum","as":"a"},{"fn":"min","as":"b"}],"having":[{"op":"isNull"}]}]}`: "/fields/0/having/0/fn",
		`{"fields":[{"field":"status","having":[{"fn":"sum","op":"isNull"}]}]}`:                                               "/fields/0/having/0/fn",
		`{"fields":[{"field":"status","having":[{"fn":"count","op":"contains","values":["a"]}]}]}`:                            "/fields/0/having/0/op",
		`{"fields":[{"field":"status","having":[{"fn":"count","op":"gt","values":["a"]}]}]}`:                                  "/fields/0/having/0/values/0",
	} {
		q, _ := read(text)
		_, found := query.Resolve(q, orders)
		if got := faults(t, found.Err()); len(got) != 1 || got[0][0] != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

// databases are tables with the columns of orders, in every dialect.
func databases() map[string]query.Database {
	pg, my, lite, duck := &postgres.Table{UTF8: true}, &mysql.Table{}, &sqlite.Table{}, &duckdb.Table{}
	kinds := []struct {
		pg   postgres.Kind
		my   mysql.Kind
		duck duckdb.Kind
	}{
		{postgres.Text, mysql.Text, duckdb.Text},
		{postgres.Numeric, mysql.Decimal, duckdb.Decimal},
		{postgres.Integer, mysql.Integer, duckdb.Integer},
		{postgres.Boolean, mysql.Boolean, duckdb.Boolean},
		{postgres.Date, mysql.Date, duckdb.Date},
		{postgres.TimestampTZ, mysql.Datetime, duckdb.TimestampTZ},
		{postgres.JSON, mysql.JSON, duckdb.JSON},
		{postgres.Float, mysql.Float, duckdb.Float},
	}
	for i, k := range kinds {
		name := orders[i].Name
		pg.Columns = append(pg.Columns, postgres.Column{Name: name, Kind: k.pg})
		my.Columns = append(my.Columns, mysql.Column{Name: name, Kind: k.my})
		lite.Columns = append(lite.Columns, sqlite.Column{Name: name})
		duck.Columns = append(duck.Columns, duckdb.Column{Name: name, Kind: k.duck})
	}
	return map[string]query.Database{"postgres": pg, "mysql": my, "sqlite": lite, "duckdb": duck}
}

// Groups are tested where they are built. A filter that no database makes exactly leaves the
// groups, their tests and the limit to Feedmill, but not the other filters.
func TestPushdownOfGroups(t *testing.T) {
	const groups = `{"fields":[{"field":"status"},{"field":"day","group":"month"},{"field":"items","aggregate":"sum","having":[{"op":"gt","values":[5]}]},
		{"field":"at","select":false,"having":[{"fn":"max","op":"gte","values":["2026-01-01"]}]}],
		"where":{"all":[{"field":"paid","op":"isTrue"}%s]},"sort":[{"field":"status"}],"limit":3,"offset":2}`
	for name, d := range databases() {
		for _, here := range []bool{false, true} {
			more := ""
			if here && name != "sqlite" {
				more = `,{"any":[{"field":"status","op":"matches","values":["^a"]},{"field":"paid","op":"isFalse"}]}`
			} else if here {
				more = `,{"field":"extra","op":"isEmpty"}`
			}
			q, wrong := read(fmt.Sprintf(groups, more))
			tree, found := query.Resolve(q, orders)
			if err := found.Err(); err != nil || len(wrong) > 0 {
				t.Fatal(err, wrong)
			}
			if name == "duckdb" && here {
				continue // it makes every test
			}
			p := query.NewPlan(tree, d)
			sent := strings.Contains(p.SQL, " HAVING ") && strings.Contains(p.SQL, " LIMIT 3 OFFSET 2")
			if p.GroupHere != here || p.LimitHere != here || p.HavingHere || sent == here || !p.Sent[0] || here && p.Sent[1] {
				t.Errorf("%s, here %v: %+v", name, here, p)
			}
		}
	}
}
