package query_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/mysql"
	"github.com/feedmill/feedmill/internal/query/postgres"
)

var soldColumns = []feedmill.Column{
	{Name: "id", Type: columnar.TypeInteger},
	{Name: "it's", Type: columnar.TypeText, Nullable: true},
	{Name: "price", Type: columnar.TypeDecimal, Precision: 10, Scale: 2, Nullable: true},
}

func sold(t *testing.T, q feedmill.Query) *query.Tree {
	t.Helper()
	tree, faults := query.Resolve(q, soldColumns)
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return tree
}

// What a database computes exactly is grouped, tested and sorted there. Texts are bound, and names
// are quoted.
func TestComputedStatements(t *testing.T) {
	tree := sold(t, feedmill.Query{
		Computed: []feedmill.Computed{{Name: "twice", Expression: "price * 2"}, {Name: "kind", Expression: `if("it's" = 'x''; --', 'a', "it's")`}, {Name: "unused", Expression: "'never'"}},
		Fields:   []feedmill.Field{{Name: "kind"}, {Name: "twice", Aggregate: feedmill.AggregateSum}},
		Where:    []feedmill.Condition{{Name: "twice", Filters: []feedmill.Filter{{Op: feedmill.OpGt, Values: []feedmill.FilterValue{{Text: "3"}}}}}},
		Sort:     []feedmill.Sort{{Name: "kind"}},
	})
	plan := func(d query.Database) *query.Plan {
		d.Compute(&tree.Formulas, tree.Used())
		return query.NewPlan(tree, d)
	}
	p := plan(&postgres.Table{UTF8: true, Columns: []postgres.Column{{Name: "id", Kind: postgres.Integer}, {Name: "it's"}, {Name: "price", Kind: postgres.Numeric}}})
	if want := []string{"x'; --", "a", "3"}; !slices.Equal(p.Args, want) || strings.Contains(p.SQL, "--") || p.GroupHere || len(p.Here) > 0 || !strings.Contains(p.SQL, ` GROUP BY (CASE WHEN (("it's" COLLATE "C" = (CAST($1 AS text) COLLATE "C")) IS TRUE) THEN `) {
		t.Errorf("%q %s", p.Args, p.SQL)
	}
	p = plan(&mysql.Table{Columns: []mysql.Column{{Name: "id", Kind: mysql.Integer}, {Name: "it's"}, {Name: "price", Kind: mysql.Decimal}}})
	if want := []string{"3.00"}; !slices.Equal(p.Args, want) || strings.Contains(p.SQL, "--") || strings.Contains(p.SQL, "never") || p.GroupHere || !strings.Contains(p.SQL, "X'78273B202D2D'") {
		t.Errorf("%q %s", p.Args, p.SQL)
	}
}

// A query is divided where the source does not compute a field: what depends on the field is left.
func TestSplit(t *testing.T) {
	ask := func(q feedmill.Query, sent ...int) *query.Split {
		q.Computed = []feedmill.Computed{{Name: "a", Expression: "price * 2"}, {Name: "b", Expression: "a + id"}, {Name: "c", Expression: "id % 2"}}
		return query.NewSplit(sold(t, q), func(formula int) bool { return slices.Contains(sent, formula) })
	}
	filter := func(name string) feedmill.Condition {
		return feedmill.Condition{Name: name, Filters: []feedmill.Filter{{Op: feedmill.OpGt, Values: []feedmill.FilterValue{{Text: "1"}}}}}
	}
	fields := []feedmill.Field{{Name: "id"}, {Name: "b"}}
	if s := ask(feedmill.Query{Fields: fields}, 0, 1); s != nil {
		t.Errorf("the source computes all of %+v", s)
	}
	if s := ask(feedmill.Query{Fields: fields[:1]}); s != nil {
		t.Errorf("no computed field is used in %+v", s)
	}
	names := func(s *query.Split) (all []string) {
		for _, c := range s.Fetched {
			all = append(all, c.Name)
		}
		return all
	}
	// The source computes c only; b needs a, which is computed here.
	s := ask(feedmill.Query{Fields: fields, Where: []feedmill.Condition{filter("c"), filter("price")}, Sort: []feedmill.Sort{{Name: "id"}}, Limit: 5}, 1, 2)
	if got := names(s); !slices.Equal(got, []string{"id", "price"}) || len(s.Inner.Where) != 2 || s.Inner.Limit != 5 || len(s.Inner.Sort) != 1 || !slices.Equal(s.Then, []int{0, 1}) || s.Outer.LimitHere {
		t.Errorf("%q %+v", got, s)
	}
	s = ask(feedmill.Query{Fields: fields, Where: []feedmill.Condition{filter("a"), filter("price")}, Limit: 5}, 2)
	if len(s.Inner.Where) != 1 || len(s.Tests) != 1 || s.Inner.Limit != 0 || !s.Outer.LimitHere || !slices.Equal(s.First, []int{0}) || !slices.Equal(s.Then, []int{1}) {
		t.Errorf("%+v", s)
	}
	s = ask(feedmill.Query{Fields: fields, Sort: []feedmill.Sort{{Name: "b"}}, Limit: 5})
	if !s.Outer.SortHere || len(s.Inner.Sort) != 0 || s.Inner.Limit != 0 {
		t.Errorf("%+v", s)
	}
	s = ask(feedmill.Query{Fields: []feedmill.Field{{Name: "id", Aggregate: feedmill.AggregateCount}, {Name: "c"}, {Name: "b", Aggregate: feedmill.AggregateSum}}}, 2)
	if got := names(s); !s.Outer.GroupHere || s.Inner.Grouped() || !slices.Equal(got, []string{"id", "c", "price"}) {
		t.Errorf("%q %+v", got, s)
	}
}
