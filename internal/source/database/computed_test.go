package database

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// numbered is a table whose rows are numbered, with a text. It filters nothing.
type numbered struct {
	Table
	rows, textBytes int
}

func (numbered) Fields() []Field {
	return []Field{{Column: feedmill.Column{Name: "n", Type: columnar.TypeInteger}}, {Column: feedmill.Column{Name: "t", Type: columnar.TypeText}}}
}

func (n numbered) Read(ctx context.Context, t *query.Tree, out Rows) (Done, error) {
	columns := t.Columns()
	if err := out.Columns(ctx, columns); err != nil {
		return Done{}, err
	}
	const run = 10
	for from := 0; from < n.rows; from += run {
		vectors := make([]columnar.Vector, len(t.Outputs))
		for i, o := range t.Outputs {
			b := NewBuilder(columns[i])
			for k := from; k < min(from+run, n.rows); k++ {
				if o.Column.Name == "n" {
					b.Int(int64(k))
				} else {
					b.Text([]byte(strings.Repeat("x", n.textBytes)))
				}
			}
			vectors[i] = b.Take()
		}
		if err := out.Rows(ctx, vectors); err != nil {
			if errors.Is(err, ErrEnough) {
				return Done{}, nil
			}
			return Done{}, err
		}
	}
	return Done{}, nil
}

// listed keeps the first column of the result.
type listed struct{ values []string }

func (*listed) Columns(context.Context, []feedmill.Column) error { return nil }

func (l *listed) Rows(_ context.Context, run []columnar.Vector) error {
	for i := range run[0].Len {
		l.values = append(l.values, valueText(&run[0], i))
	}
	return nil
}

func runComputed(t *testing.T, table Table, expression string, q feedmill.Query) (string, Done, error) {
	t.Helper()
	q.Computed = []feedmill.Computed{{Name: "x", Expression: expression}}
	tree, faults := query.Resolve(q, Columns(table.Fields()))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	var out listed
	done, err := Run(t.Context(), table, tree, &out)
	return strings.Join(out.values, " "), done, err
}

func greater(name, than string) []feedmill.Condition {
	return []feedmill.Condition{{Name: name, Filters: []feedmill.Filter{{Op: feedmill.OpGt, Values: []feedmill.FilterValue{{Text: than}}}}}}
}

func TestComputedHere(t *testing.T) {
	fields := []feedmill.Field{{Name: "n"}, {Name: "x"}}
	for _, test := range []struct {
		expression string
		q          feedmill.Query
		want       string
	}{
		{"n % 10", feedmill.Query{Fields: fields, Sort: []feedmill.Sort{{Name: "x", Descending: true}}, Limit: 4, Offset: 1}, "19 29 39 8"},
		{"n * 2", feedmill.Query{Fields: fields, Where: greater("x", "9"), Limit: 3, Offset: 2}, "7 8 9"},
		{"n / 2", feedmill.Query{Fields: []feedmill.Field{{Name: "x", Aggregate: feedmill.AggregateSum}}}, "390.000000000000"},
		{"n % 2", feedmill.Query{Fields: []feedmill.Field{{Name: "n", Aggregate: feedmill.AggregateCount}, {Name: "x"}}, Sort: []feedmill.Sort{{Name: "x"}}, Where: greater("x", "0")}, "20"},
		{"n", feedmill.Query{Fields: []feedmill.Field{{Name: "n", Aggregate: feedmill.AggregateCount}}, Where: greater("x", "100")}, "0"},
	} {
		got, done, err := runComputed(t, numbered{rows: 40}, test.expression, test.q)
		if err != nil || got != test.want || done.Rows == 0 && got != "" {
			t.Errorf("%s: %s %+v %v, want %s", test.expression, got, done, err, test.want)
		}
	}
}

// Rows that do not pass the filters neither fail nor are counted, and nor are those after the limit.
func TestComputedOnlyWhereNeeded(t *testing.T) {
	fields := []feedmill.Field{{Name: "n"}, {Name: "x"}}
	q := feedmill.Query{Computed: []feedmill.Computed{{Name: "y", Expression: "n + 0"}, {Name: "x", Expression: "99999999999999999999999999999999999999 * n + 10 / (n - 1)"}}, Fields: fields, Limit: 2}
	for from, want := range map[string]string{"0": "[] overflow", "100": "[]"} {
		q.Where = greater("y", from)
		table := numbered{rows: 40}
		tree, faults := query.Resolve(q, Columns(table.Fields()))
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		var out listed
		_, err := Run(t.Context(), table, tree, &out)
		got := fmt.Sprint(out.values)
		if err != nil && strings.Contains(err.Error(), "overflow") {
			got += " overflow"
		}
		if got != want {
			t.Errorf("from %s: %s %v, want %s", from, got, err, want)
		}
	}
	got, done, err := runComputed(t, numbered{rows: 40}, "1 / (n % 5)", feedmill.Query{Fields: fields, Limit: 6})
	if err != nil || len(done.Warnings) == 0 || done.Warnings[0].Code != feedmill.WarnDivision {
		t.Errorf("%s %+v %v", got, done, err)
	}
}

func TestSortMemory(t *testing.T) {
	q := feedmill.Query{Computed: []feedmill.Computed{{Name: "x", Expression: "n + 1"}}, Fields: []feedmill.Field{{Name: "n"}, {Name: "t"}}, Sort: []feedmill.Sort{{Name: "x", Descending: true}}}
	table := numbered{rows: 100, textBytes: 1 << 10}
	for limit, want := range map[int64]string{0: "too much", 3: "99 98 97"} {
		q.Limit = limit
		tree, faults := query.Resolve(q, Columns(table.Fields()))
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		var out listed
		c := &computing{Split: split(table, tree)}
		c.finish = NewFinish(c.Outer, &out, "")
		c.finish.sorting.memory = 50 << 10
		_, err := table.Read(t.Context(), c.Inner, c)
		if err == nil {
			_, err = c.finish.End(t.Context())
		}
		got := strings.Join(out.values, " ")
		if failure, ok := errors.AsType[*feedmill.SourceFailure](err); ok && failure.Type == ProblemTooMuch {
			got, err = "too much", nil
		}
		if err != nil || got != want {
			t.Errorf("limit %d: %s %v, want %s", limit, got, err, want)
		}
	}
}
