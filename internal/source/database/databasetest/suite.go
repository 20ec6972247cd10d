package databasetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
	"github.com/feedmill/feedmill/internal/source/database"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Run tests a database whose view has [Columns] and [Rows], and whose view others has
// [OtherColumns] and [OtherRows].
func Run(t *testing.T, db database.Database, view, others string) {
	t.Logf("FEEDMILL_SEED=%d", seed)
	table := Describe(t, db, view)
	t.Run("fields", func(t *testing.T) { testFields(t, table) })
	t.Run("queries", func(t *testing.T) {
		for _, text := range specs {
			check(t, table, text)
		}
	})
	t.Run("inverse", func(t *testing.T) { testInverse(t, table) })
	t.Run("random", func(t *testing.T) { testRandom(t, table) })
	t.Run("computed", func(t *testing.T) {
		testComputed(t, table)
		testHostileComputed(t, table)
	})
	t.Run("hostile", func(t *testing.T) { testHostile(t, db, table, view) })
	t.Run("since", func(t *testing.T) { testSince(t, table) })
	t.Run("joins", func(t *testing.T) { testJoins(t, db, table, view, others) })
	t.Run("two tables", func(t *testing.T) { testTwo(t, db, view, others) })
}

// Describe describes a view that is there.
func Describe(t *testing.T, db database.Database, view string) database.Table {
	t.Helper()
	table, err := db.Table(t.Context(), view, feedmill.RulesCurrent)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func testFields(t *testing.T, table database.Table) {
	fields := table.Fields()
	if len(fields) != len(Columns) {
		t.Fatalf("%d fields", len(fields))
	}
	for i, want := range Columns {
		got := fields[i]
		if got.Name != want.Name || got.Type != want.Type || got.Precision != want.Precision || got.Scale != want.Scale || got.Nullable != want.Nullable {
			t.Errorf("field %d is %+v, want %+v", i, got.Column, want)
		}
		if got.Native == "" || len(got.Pushdown) == 0 {
			t.Errorf("%q has the type %q and the operators %s", got.Name, got.Native, got.Pushdown)
		}
	}
}

// Sink keeps what is read.
type Sink struct {
	Columns []feedmill.Column
	Rows    [][]string
	Runs    int
}

// Columns takes the columns.
func (s sink) Columns(_ context.Context, columns []feedmill.Column) error {
	s.Sink.Columns = columns
	return nil
}

func (s *Sink) names() (all []string) {
	for _, c := range s.Columns {
		all = append(all, c.Name)
	}
	return all
}

// sink adapts Sink, so that its fields can have the names of the methods.
type sink struct{ *Sink }

// Rows takes rows.
func (s sink) Rows(_ context.Context, run []columnar.Vector) error {
	s.Runs++
	for i := range run {
		if err := run[i].Check(); err != nil {
			return err
		}
	}
	for i := range run[0].Len {
		row := make([]string, len(run))
		for k := range run {
			row[k] = showRow(&run[k], i)
		}
		s.Sink.Rows = append(s.Sink.Rows, row)
	}
	return nil
}

// Read reads what a query answers, as texts.
func Read(ctx context.Context, table database.Table, q feedmill.Query) (*Sink, database.Done, error) {
	tree, faults := query.ResolveViews(q, viewsOf(table))
	if err := faults.Err(); err != nil {
		return nil, database.Done{}, err
	}
	var kept Sink
	done, err := table.Read(ctx, tree, sink{&kept})
	return &kept, done, err
}

// Parse reads a query of a request.
func Parse(t *testing.T, text string) feedmill.Query {
	t.Helper()
	note := func(pointer, detail string) bool {
		t.Fatalf("%s: %s: %s", text, pointer, detail)
		return false
	}
	v, ok := strictjson.Read([]byte(text), strictjson.Part{}, note)
	if !ok {
		t.Fatal(text)
	}
	o := strictjson.NewObject(&v, "", note)
	q := query.Read(o, Now)
	o.RefuseUnknown()
	return q
}

// check compares the answer to a query with the oracle's, and returns it.
func check(t *testing.T, table database.Table, text string) *Sink {
	t.Helper()
	q := Parse(t, text)
	got, done, err := Read(t.Context(), table, q)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return new(Sink)
	}
	compare(t, text, table, q, got, done)
	return got
}

func compare(t *testing.T, text string, table database.Table, q feedmill.Query, got *Sink, done database.Done) {
	t.Helper()
	want := expect(&q, Rows())
	for _, row := range want {
		for i, o := range outputsOf(&q) {
			if columnAt(o.column).Type == columnar.TypeJSON && o.fn == "" {
				row[i] = compact(row[i])
			}
		}
	}
	var names []string
	for _, o := range outputsOf(&q) {
		names = append(names, o.name)
	}
	rows := got.Rows
	if len(q.Sort) == 0 {
		if q.Limit > 0 && len(want) == len(rows) {
			rows = want // any of them will do
		}
		byText := func(a, b []string) int { return slices.Compare(a, b) }
		slices.SortFunc(want, byText)
		rows = slices.SortedFunc(slices.Values(rows), byText)
	}
	if diff := cmp.Diff(want, rows); diff != "" || !slices.Equal(names, got.names()) || done.Rows != int64(len(got.Rows)) {
		tree, _ := query.ResolveViews(q, viewsOf(table))
		t.Errorf("%s\n%+v\n%v, %d rows of %d (-want +got)\n%s", text, table.Explain(tree), got.names(), done.Rows, len(want), diff)
	}
}

// A filter and its inverse have every row, and none in common.
func testInverse(t *testing.T, table database.Table) {
	all := slices.Clone(filters)
	r := rand.New(rand.NewPCG(seed, 2))
	for range len(Columns) * 2 {
		if column := r.IntN(len(Columns)); column != 2 { // whose name has a space
			all = append(all, Columns[column].Name+" "+randomFilter(r, column))
		}
	}
	for _, filter := range all {
		column, rest, _ := strings.Cut(filter, " ")
		var ids [2][]string
		for i, inverted := range []bool{false, true} {
			text := fmt.Sprintf(`{"fields":[{"field":"id"},{"field":%s,"select":false,"filters":[{%s,"inverted":%v}]}]}`, Quote(column), rest, inverted)
			if column == "id" {
				text = fmt.Sprintf(`{"fields":[{"field":"id","filters":[{%s,"inverted":%v}]}]}`, rest, inverted)
			}
			got := check(t, table, text)
			for _, row := range got.Rows {
				ids[i] = append(ids[i], row[0])
			}
		}
		all := slices.Concat(ids[0], ids[1])
		slices.Sort(all)
		if n := len(slices.Compact(all)); n != len(Rows()) || len(ids[0])+len(ids[1]) != n {
			t.Errorf("%s: %d and %d of %d rows", filter, len(ids[0]), len(ids[1]), len(Rows()))
		}
	}
}

// Quote writes a text as JSON.
func Quote(text string) string {
	v := strictjson.String(text)
	return string(v.Append(nil))
}
