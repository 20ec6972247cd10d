package duckdb_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/query/duckdb"
)

var columns = []feedmill.Column{
	{Name: "text", Type: columnar.TypeText},
	{Name: "integer", Type: columnar.TypeInteger},
	{Name: "decimal", Type: columnar.TypeDecimal, Precision: 10, Scale: 2},
	{Name: "number", Type: columnar.TypeNumber},
	{Name: "boolean", Type: columnar.TypeBoolean},
	{Name: "date", Type: columnar.TypeDate},
	{Name: "timestamp", Type: columnar.TypeTimestamp},
	{Name: "json", Type: columnar.TypeJSON},
}

func values(texts ...string) (out []feedmill.FilterValue) {
	for _, text := range texts {
		out = append(out, feedmill.FilterValue{Text: text})
	}
	return out
}

func TestPredicates(t *testing.T) {
	const instant = "make_timestamptz(CAST($1 AS BIGINT))"
	day := []feedmill.FilterValue{{Period: &feedmill.Period{N: 1, Unit: feedmill.UnitDay}}}
	for _, test := range []struct {
		column string
		filter feedmill.Filter
		sql    string
		args   []string
	}{
		{"text", feedmill.Filter{Op: feedmill.OpEq, Values: values("it's")}, "c0 = $1", []string{"it's"}},
		{"text", feedmill.Filter{Op: feedmill.OpEq, Values: append(values("a"), feedmill.FilterValue{Null: true})}, "(c0 = $1) OR (c0 IS NULL)", []string{"a"}},
		{"text", feedmill.Filter{Op: feedmill.OpEq, Values: values("a"), Inverted: true}, "(c0 = $1) IS NOT TRUE", []string{"a"}},
		{"text", feedmill.Filter{Op: feedmill.OpContains, Values: values("a", "b")}, "(contains(lower(c0), lower($1))) OR (contains(lower(c0), lower($2)))", []string{"a", "b"}},
		{"text", feedmill.Filter{Op: feedmill.OpStartsWith, Values: values("a"), CaseSensitive: true}, "starts_with(c0, $1)", []string{"a"}},
		{"text", feedmill.Filter{Op: feedmill.OpEndsWith, Values: values("a"), CaseSensitive: true}, "ends_with(c0, $1)", []string{"a"}},
		{"text", feedmill.Filter{Op: feedmill.OpMatches, Values: values("^a")}, "regexp_matches(c0, $1)", []string{"^a"}},
		{"text", feedmill.Filter{Op: feedmill.OpIsEmpty}, "c0 IS NULL OR c0 = ''", nil},
		{"json", feedmill.Filter{Op: feedmill.OpIsEmpty}, `c7 IS NULL OR CAST(c7 AS VARCHAR) IN ('""', '[]', '{}')`, nil},
		{"date", feedmill.Filter{Op: feedmill.OpIsEmpty}, "c5 IS NULL", nil},
		{"json", feedmill.Filter{Op: feedmill.OpIsNull, Inverted: true}, "(c7 IS NULL) IS NOT TRUE", nil},
		{"integer", feedmill.Filter{Op: feedmill.OpGt, Values: values("1.5")}, "c1 > CAST($1 AS BIGINT)", []string{"1"}},
		{"integer", feedmill.Filter{Op: feedmill.OpGt, Values: values("1e30")}, "FALSE", nil},
		{"integer", feedmill.Filter{Op: feedmill.OpLt, Values: values("1e30")}, "(c1 IS NULL) IS NOT TRUE", nil},
		{"decimal", feedmill.Filter{Op: feedmill.OpBetween, Values: values("-1", "1.005")}, "(c2 >= CAST($1 AS DECIMAL(10,2))) AND (c2 <= CAST($2 AS DECIMAL(10,2)))", []string{"-1.00", "1.00"}},
		{"number", feedmill.Filter{Op: feedmill.OpLte, Values: values("0.1")}, "c3 <= CAST($1 AS DOUBLE)", []string{"0.1"}},
		{"boolean", feedmill.Filter{Op: feedmill.OpIsTrue}, "c4 = true", nil},
		{"boolean", feedmill.Filter{Op: feedmill.OpIsFalse}, "c4 = false", nil},
		{"boolean", feedmill.Filter{Op: feedmill.OpEq, Values: values("true")}, "c4 = true", nil},
		{"date", feedmill.Filter{Op: feedmill.OpGte, Values: values("2024-02-29")}, "c5 >= CAST($1 AS DATE)", []string{"2024-02-29"}},
		{"date", feedmill.Filter{Op: feedmill.OpLast, Values: day}, "(c5 >= CAST($1 AS DATE)) AND (c5 < CAST($2 AS DATE))", []string{"2024-02-28", "2024-02-29"}},
		{"timestamp", feedmill.Filter{Op: feedmill.OpLt, Values: values("1970-01-01T00:00:01Z")}, "c6 < " + instant, []string{"1000000"}},
		{"timestamp", feedmill.Filter{Op: feedmill.OpBetween, Values: values("1970-01-01", "1970-01-01")}, "(c6 >= " + instant + ") AND (c6 < make_timestamptz(CAST($2 AS BIGINT)))", []string{"0", "86400000000"}},
	} {
		tree, found := query.Resolve(feedmill.Query{
			Now:   time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC),
			Where: []feedmill.Condition{{Name: test.column, Filters: []feedmill.Filter{test.filter}}},
		}, columns)
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		w := writer()
		if got := w.Predicate(tree.Where); got != test.sql || !slices.Equal(w.Args(), test.args) {
			t.Errorf("%s %+v:\n%s %q, want\n%s %q", test.column, test.filter, got, w.Args(), test.sql, test.args)
		}
	}
}

// The filters of a condition are combined as it says, conditions must all hold, and
// times without an offset are of the query's zone.
func TestConditions(t *testing.T) {
	gt := feedmill.Filter{Op: feedmill.OpGt, Values: values("1970-01-01T01:00:00")}
	null := feedmill.Filter{Op: feedmill.OpIsNull}
	tree, found := query.Resolve(feedmill.Query{Zone: time.FixedZone("", 3600), Where: []feedmill.Condition{
		{Name: "timestamp", Filters: []feedmill.Filter{gt, null}, Any: true},
		{Name: "text", Any: true},
		{Name: "timestamp", Filters: []feedmill.Filter{gt, null}},
	}}, columns)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	w := writer()
	got := w.Predicate(tree.Where)
	want := "((c6 > make_timestamptz(CAST($1 AS BIGINT))) OR (c6 IS NULL)) AND ((c6 > make_timestamptz(CAST($2 AS BIGINT))) AND (c6 IS NULL))"
	if got != want || !slices.Equal(w.Args(), []string{"0", "0"}) {
		t.Errorf("%s %q", got, w.Args())
	}
}

func writer() *query.Writer {
	return query.NewWriter(duckdb.Dialect{}, func(c query.Column) string { return "c" + strconv.Itoa(c.Index) })
}

func TestExpressions(t *testing.T) {
	for _, test := range []struct {
		column    int
		aggregate feedmill.Aggregate
		sql, kind string
	}{
		{0, "", "c0", "VARCHAR"},
		{4, "", "c4", "BOOLEAN"},
		{6, "", "c6", "TIMESTAMPTZ"},
		{7, "", "c7", "JSON"},
		{7, feedmill.AggregateCount, "count(c7)", "BIGINT"},
		{0, feedmill.AggregateCountDistinct, "count(DISTINCT c0)", "BIGINT"},
		{5, feedmill.AggregateMin, "min(c5)", "DATE"},
		{2, feedmill.AggregateMax, "max(c2)", "DECIMAL(10,2)"},
		{1, feedmill.AggregateSum, "sum(c1)", "HUGEINT"},
		{2, feedmill.AggregateSum, "sum(c2)", "DECIMAL(38,2)"},
		{3, feedmill.AggregateSum, query.NumberSum(feedmill.AggregateSum, "c3", "sum(c3)"), "DOUBLE"},
		{2, feedmill.AggregateAvg, "avg(c2)", "DOUBLE"},
	} {
		e := query.Expression{Column: query.Column{Column: &columns[test.column], Index: test.column}, Aggregate: test.aggregate}
		if sql, kind := writer().Expression(e), duckdb.Type(e); sql != test.sql || kind != test.kind {
			t.Errorf("%s of %s is %s of type %s, want %s of type %s", test.aggregate, columns[test.column].Name, sql, kind, test.sql, test.kind)
		}
	}
}
