package lake

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake/wire"
)

var orders = &Version{Name: "v1", Files: []feedmill.VersionFile{{Name: "it's.parquet"}}, Columns: []feedmill.Column{
	{Name: "status", Type: columnar.TypeText},
	{Name: "amount", Type: columnar.TypeDecimal, Precision: 10, Scale: 2},
	{Name: "items", Type: columnar.TypeInteger},
	{Name: "paid", Type: columnar.TypeBoolean},
	{Name: "day", Type: columnar.TypeDate},
	{Name: "at", Type: columnar.TypeTimestamp},
	{Name: "extra", Type: columnar.TypeJSON},
}}

func values(texts ...string) []feedmill.FilterValue {
	var out []feedmill.FilterValue
	for _, t := range texts {
		out = append(out, feedmill.FilterValue{Text: t})
	}
	return out
}

func TestPlan(t *testing.T) {
	q := feedmill.Query{
		Fields: []feedmill.Field{{Name: "items"}, {Name: "status", As: "state"}},
		Where: []feedmill.Condition{
			{Name: "status", Filters: []feedmill.Filter{{Op: feedmill.OpEq, Values: values("it's")}}},
			{Name: "amount", Any: true, Filters: []feedmill.Filter{
				{Op: feedmill.OpGt, Values: values("1.005")},
				{Op: feedmill.OpIsNull, Inverted: true},
			}},
			{Name: "day"},
		},
		Limit: 10,
	}
	key := "41"
	after := NextPage(orders, &q, []*string{&key})
	got, err := Plan(orders, "a/", q, wire.FormatCSV, &after)
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Request{
		SQL: "SELECT f0, f1, rn FROM (SELECT c2 AS f0, c0 AS f1, nr AS rn" +
			" FROM read_parquet('a/it''s.parquet', file_row_number = true) AS t(c0, c1, c2, c3, c4, c5, c6, nr)" +
			" WHERE (c0 = $1) AND ((c1 > CAST($2 AS DECIMAL(10,2))) OR ((c1 IS NULL) IS NOT TRUE)))" +
			" WHERE ((rn > CAST($3 AS BIGINT))) LIMIT 11",
		Args:  []string{"it's", "1.00", "41"},
		Names: []string{"items", "state"}, Format: wire.FormatCSV, Limit: 10,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A page of a query without values has no parameters.
func TestPlanWithoutParameters(t *testing.T) {
	q := feedmill.Query{Fields: []feedmill.Field{{Name: "items"}}, Limit: 10}
	key := "41"
	after := NextPage(orders, &q, []*string{&key})
	for from, where := range map[*Cursor]string{nil: " LIMIT 11 + CAST(0 * random() AS BIGINT)", &after: " WHERE ((rn > 41)) LIMIT 11"} {
		got, err := Plan(orders, "a/", q, wire.FormatCSV, from)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(got.SQL, where) || len(got.Args) > 0 {
			t.Errorf("%s with %q, without %q", got.SQL, got.Args, where)
		}
	}
}

func TestPlanAddsItsFaultsToTheQuerys(t *testing.T) {
	q := feedmill.Query{Fields: []feedmill.Field{{Name: "statsu", Place: feedmill.Fault{Parameter: "fields"}}}}
	_, err := Plan(orders, "x", q, wire.FormatCSV, &Cursor{Version: "v0"})
	refused, ok := errors.AsType[*feedmill.Error](err)
	if !ok || len(refused.Faults) != 2 || refused.Faults[1].Parameter != "cursor" {
		t.Errorf("%+v", err)
	}
}

func TestCursor(t *testing.T) {
	q := feedmill.Query{Sort: []feedmill.Sort{{Name: "items"}}}
	row, items := "7", "3"
	c := NextPage(orders, &q, []*string{&items, &row})
	back, err := ParseCursor(c.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&c, back); diff != "" {
		t.Error(diff)
	}
	if _, err := Plan(orders, "x", q, wire.FormatCSV, back); err != nil {
		t.Error(err)
	}
	other := q
	other.Sort = nil
	for name, plan := range map[string]func() error{
		"another query": func() error { _, err := Plan(orders, "x", other, wire.FormatCSV, back); return err },
		"another version": func() error {
			v := *orders
			v.Name = "v2"
			_, err := Plan(&v, "x", q, wire.FormatCSV, back)
			return err
		},
	} {
		if err := plan(); !errors.Is(err, feedmill.ErrInvalid) {
			t.Errorf("with %s: %v", name, err)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	row := "7"
	f.Add(NextPage(orders, &feedmill.Query{}, []*string{&row}).String())
	f.Add("e30")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCursor(text)
		if err != nil {
			return
		}
		again, err := ParseCursor(c.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Error(diff)
		}
	})
}
