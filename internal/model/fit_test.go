package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

func schemaOf(t *testing.T, text string) (*Schema, *columnar.Cells) {
	t.Helper()
	names, cells := tableCells(t, text)
	inference := New(Options{})
	inference.Block(cells)
	schema, _ := inference.Decide(names, feedmill.Findings{})
	return schema, cells
}

func TestWiden(t *testing.T) {
	column := func(as columnar.Type, precision, scale int, format string) feedmill.Column {
		return feedmill.Column{ID: "c1", Name: "a", Type: as, Precision: precision, Scale: scale, Format: format}
	}
	plain := func(as columnar.Type) feedmill.Column { return column(as, 0, 0, "") }
	for _, test := range []struct {
		name      string
		old, new  feedmill.Column
		want      feedmill.Column
		symmetric bool
	}{
		{"the same", plain(columnar.TypeInteger), plain(columnar.TypeInteger), plain(columnar.TypeInteger), true},
		{"integer and decimal", plain(columnar.TypeInteger), column(columnar.TypeDecimal, 5, 2, ""), column(columnar.TypeDecimal, 21, 2, ""), true},
		{"integer and a long fraction", plain(columnar.TypeInteger), column(columnar.TypeDecimal, 30, 25, ""), plain(columnar.TypeText), true},
		{"decimals", column(columnar.TypeDecimal, 5, 4, ""), column(columnar.TypeDecimal, 5, 1, ""), column(columnar.TypeDecimal, 8, 4, ""), true},
		{"decimals of 38 digits", column(columnar.TypeDecimal, 37, 0, ""), column(columnar.TypeDecimal, 2, 1, ""), column(columnar.TypeDecimal, 38, 1, ""), true},
		{"decimals beyond 38 digits", column(columnar.TypeDecimal, 38, 0, ""), column(columnar.TypeDecimal, 2, 1, ""), plain(columnar.TypeText), true},
		{"the same currency", column(columnar.TypeDecimal, 3, 2, "€"), column(columnar.TypeDecimal, 5, 2, "€"), column(columnar.TypeDecimal, 5, 2, "€"), true},
		{"two currencies", column(columnar.TypeDecimal, 3, 2, "€"), column(columnar.TypeDecimal, 3, 2, "$"), plain(columnar.TypeText), true},
		{"decimal and number", column(columnar.TypeDecimal, 3, 2, ""), plain(columnar.TypeNumber), plain(columnar.TypeText), true},
		{"date and timestamp", plain(columnar.TypeDate), plain(columnar.TypeTimestamp), plain(columnar.TypeTimestamp), true},
		{"dates written in two ways", column(columnar.TypeDate, 0, 0, "dd/mm/yyyy"), plain(columnar.TypeDate), plain(columnar.TypeDate), true},
		{"boolean and integer", plain(columnar.TypeBoolean), plain(columnar.TypeInteger), plain(columnar.TypeText), true},
		{"json takes everything", plain(columnar.TypeJSON), plain(columnar.TypeInteger), plain(columnar.TypeJSON), false},
		{"text takes everything", plain(columnar.TypeText), plain(columnar.TypeJSON), plain(columnar.TypeText), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Widen(test.old, test.new)); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
			if test.symmetric {
				if diff := cmp.Diff(test.want, Widen(test.new, test.old)); diff != "" {
					t.Errorf("the other way round differs (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestWidenKeepsNulls(t *testing.T) {
	for _, nullable := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		old, new := feedmill.Column{Type: columnar.TypeText, Nullable: nullable[0]}, feedmill.Column{Type: columnar.TypeText, Nullable: nullable[1]}
		if got := Widen(old, new).Nullable; got != (nullable[0] || nullable[1]) {
			t.Errorf("nulls before and now %v: nullable is %v", nullable, got)
		}
	}
}

// More digits before the point are a change that is told of, too.
func TestFitTellsOfMoreDigits(t *testing.T) {
	decimal := func(precision int) []feedmill.Column {
		return []feedmill.Column{{ID: "c1", Name: "a", SourceName: "a", Type: columnar.TypeDecimal, Precision: precision, Scale: 2}}
	}
	for precision, want := range map[int]int{4: 0, 5: 0, 6: 1} {
		if f := Fit(decimal(5), decimal(precision), 0, 1); len(f.Changes) != want {
			t.Errorf("decimal(5,2) that gets decimal(%d,2): %v", precision, f.Changes)
		}
	}
}

func TestFit(t *testing.T) {
	first, _ := schemaOf(t, "id,amount,gone,day\n1,5,x,2026-01-01\n2,7,y,2026-01-02\n")
	later, cells := schemaOf(t, "day,id,amount,added,gone_too\n,3,7.5,true,1\n,4,8.25,false,2\n")
	warnings := later.Fit(first.Columns, 0)

	var columns, codes []string
	for _, c := range later.Columns {
		columns = append(columns, c.ID+" "+c.Name+" "+typeName(c))
	}
	for _, w := range warnings {
		codes = append(codes, w.Code+" "+w.Column)
	}
	if diff := cmp.Diff([]string{
		"c1 id integer", "c2 amount decimal(21,2)", "c3 gone text", "c4 day date", "c5 added boolean", "c6 gone_too integer",
	}, columns); diff != "" {
		t.Errorf("columns differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"widened-column amount", "missing-column gone", "added-column added", "added-column gone_too"}, codes); diff != "" {
		t.Errorf("warnings differ (-want +got):\n%s", diff)
	}
	vectors := make([]columnar.Vector, len(later.Columns))
	if err := later.Convert(cells, vectors); err != nil {
		t.Fatal(err)
	}
	var row []any
	for i := range vectors {
		if err := vectors[i].Check(); err != nil {
			t.Error(err)
		}
		row = append(row, valueOf(&vectors[i], 0))
	}
	if diff := cmp.Diff("[3 7.50 <nil> <nil> true 1]", sprint(row)); diff != "" {
		t.Errorf("the row differs (-want +got):\n%s", diff)
	}
}

// Numbers of columns that were removed are not used again.
func TestFitUsesNoNumberAgain(t *testing.T) {
	column := func(id string) feedmill.Column {
		return feedmill.Column{ID: id, Name: "old " + id, SourceName: "old " + id}
	}
	data := []feedmill.Column{{SourceName: "x", Name: "x"}, {SourceName: "y", Name: "y"}}
	for _, test := range []struct {
		kept []string
		last int
		want []string
	}{
		{[]string{"c1", "c2"}, 2, []string{"c1", "c2", "c3", "c4"}},
		{[]string{"c1", "c4"}, 4, []string{"c1", "c4", "c5", "c6"}},
		{[]string{"c1"}, 9, []string{"c1", "c10", "c11"}},
		{[]string{"c7", "c3"}, 0, []string{"c7", "c3", "c8", "c9"}}, // an earlier release did not count
	} {
		var kept []feedmill.Column
		for _, id := range test.kept {
			kept = append(kept, column(id))
		}
		var got []string
		for _, c := range Fit(kept, data, test.last, 1).Columns {
			got = append(got, c.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v after %d (-want +got):\n%s", test.kept, test.last, diff)
		}
	}
}

// Data that is another table has the columns that it has, and is told of nothing that
// it lacks.
func TestDropMissing(t *testing.T) {
	column := func(name string) feedmill.Column { return feedmill.Column{ID: name, Name: name} }
	f := Fitting{
		Columns: []feedmill.Column{column("a"), column("gone"), column("b")}, From: []int{1, -1, 0},
		Changes: []feedmill.Warning{{Code: feedmill.WarnMissing, Column: "gone"}, {Code: feedmill.WarnAdded, Column: "b"}},
	}
	f.DropMissing()
	if diff := cmp.Diff(Fitting{
		Columns: []feedmill.Column{column("a"), column("b")}, From: []int{1, 0},
		Changes: []feedmill.Warning{{Code: feedmill.WarnAdded, Column: "b"}},
	}, f); diff != "" {
		t.Errorf("what is left differs (-want +got):\n%s", diff)
	}
}

// TestFitTyped holds columns that have types already to those of a feed.
func TestFitTyped(t *testing.T) {
	kept, _ := Name([]feedmill.Column{
		{SourceName: "id", Type: columnar.TypeInteger},
		{SourceName: "amount", Type: columnar.TypeInteger},
		{SourceName: "gone", Type: columnar.TypeText},
		{SourceName: "rate", Type: columnar.TypeNumber},
	})
	data, renamed := Name([]feedmill.Column{
		{SourceName: "rate", Type: columnar.TypeInteger},
		{SourceName: "", Type: columnar.TypeBoolean},
		{SourceName: "amount", Type: columnar.TypeDecimal, Precision: 5, Scale: 2, Nullable: true},
		{SourceName: "id", Type: columnar.TypeInteger},
	})
	if data[1].Name != "column_2" || len(renamed) != 1 || renamed[0].Code != feedmill.WarnHeader {
		t.Errorf("%+v, %+v", data, renamed)
	}
	f := Fit(kept, data, 0, 9)
	var fitted, labelled []string
	for i, c := range f.Columns {
		fitted = append(fitted, fmt.Sprint(f.From[i], " ", c.ID, " ", c.Name, " ", typeName(c), " ", c.Nullable))
	}
	if diff := cmp.Diff([]string{
		"3 c1 id integer false", "2 c2 amount decimal(21,2) true", "-1 c3 gone text true", "0 c4 rate text false", "1 c5 column_2 boolean true",
	}, fitted); diff != "" {
		t.Errorf("columns differ (-want +got):\n%s", diff)
	}
	for _, c := range f.Label(data) {
		labelled = append(labelled, c.ID+" "+c.Name+" "+typeName(c))
	}
	if diff := cmp.Diff([]string{"c4 rate integer", "c5 column_2 boolean", "c2 amount decimal(5,2)", "c1 id integer"}, labelled); diff != "" {
		t.Errorf("labels differ (-want +got):\n%s", diff)
	}
	var changes []string
	for _, w := range f.Changes {
		changes = append(changes, fmt.Sprint(w.Code, " ", w.Column, " ", w.Count))
	}
	if diff := cmp.Diff([]string{"widened-column amount 1", "missing-column gone 9", "widened-column rate 1", "added-column column_2 1"}, changes); diff != "" {
		t.Errorf("changes differ (-want +got):\n%s", diff)
	}
}

// A column that was made text keeps new values as they are written.
func TestFitIntoText(t *testing.T) {
	first, _ := schemaOf(t, "code\n007\n")
	later, cells := schemaOf(t, "code\n1.50\n")
	if warnings := later.Fit(first.Columns, 0); len(warnings) > 0 {
		t.Errorf("warnings %v", warnings)
	}
	vectors := make([]columnar.Vector, 1)
	if err := later.Convert(cells, vectors); err != nil || string(vectors[0].Text(0)) != "1.50" {
		t.Errorf("%q, %v", vectors[0].Bytes, err)
	}
}

// retype gives the columns of a schema types by the wish of somebody.
func retype(t *testing.T, schema *Schema, cells *columnar.Cells, types ...columnar.Type) {
	t.Helper()
	for i, as := range types {
		schema.Columns[i].Retype = as
	}
	if _, err := schema.Retype(t.Context(), oneBlock{cells: cells}); err != nil {
		t.Fatal(err)
	}
}

// oneBlock is a table of one run.
type oneBlock struct {
	columnar.PlainColumns
	cells *columnar.Cells
}

func (oneBlock) Blocks() int                           { return 1 }
func (oneBlock) Names() []string                       { return nil }
func (oneBlock) Warnings() ([]feedmill.Warning, error) { return nil, nil }
func (oneBlock) Found() (f feedmill.Findings)          { return f }
func (b oneBlock) Each(_ context.Context, _ int, fn func(*columnar.Cells) error) error {
	return fn(b.cells)
}

func (b oneBlock) Read(_ context.Context, _, _ int, fn func(*columnar.Cells) error) error {
	return fn(b.cells)
}

func TestMisfits(t *testing.T) {
	const table = "n,d\n1,2026-01-01\nx,2026-01-02\n3,never\ny,z\n5,2026-01-05\n"
	retyped := func() (*Schema, *columnar.Cells) {
		schema, cells := schemaOf(t, table)
		retype(t, schema, cells, columnar.TypeInteger, columnar.TypeDate)
		return schema, cells
	}
	vectors := make([]columnar.Vector, 2)

	schema, cells := retyped()
	err := schema.Convert(cells, vectors)
	misfit, ok := errors.AsType[*Misfit](err)
	if !ok || !errors.Is(err, feedmill.ErrUnprocessable) || !cmp.Equal(*misfit, Misfit{Row: 2, Column: "n", Type: columnar.TypeInteger, Sample: "x"}) {
		t.Errorf("got %v", err)
	}

	sorted := func(policy feedmill.MisfitPolicy) (told []string) {
		for i := range schema.Columns {
			schema.Columns[i].OnMisfit = policy
		}
		for _, m := range schema.ConvertSorting(cells, vectors) {
			told = append(told, strings.TrimSpace(fmt.Sprint(m.Row, " ", m.Column, " ", m.Sample, " ", string(bytes.Join(m.Record, []byte("|"))))))
		}
		return told
	}
	if diff := cmp.Diff([]string{"2 n x", "3 d never", "4 n y", "4 d z"}, sorted(feedmill.MisfitsNull)); diff != "" {
		t.Errorf("nulled differs (-want +got):\n%s", diff)
	}
	if vectors[0].Len != 5 || vectors[0].Nulls() != 2 || vectors[1].Nulls() != 2 || vectors[0].Ints[1] != 0 {
		t.Errorf("vectors %+v", vectors)
	}

	rejected := sorted(feedmill.MisfitsReject)
	if diff := cmp.Diff([]string{`2 n x "x"|"2026-01-02"`, `3 d never "3"|"never"`, `4 n y "y"|"z"`}, rejected); diff != "" {
		t.Errorf("rejected differs (-want +got):\n%s", diff)
	}
	if got := vectors[0].Ints; vectors[0].Len != 2 || got[0] != 1 || got[1] != 5 || vectors[0].Valid != nil {
		t.Errorf("vectors %+v", vectors)
	}
	if stored := int64(vectors[0].Len); schema.Rows != stored+int64(len(rejected)) {
		t.Errorf("%d rows, %d stored, %d rejected", schema.Rows, stored, len(rejected))
	}
}

func TestRetypeToDecimal(t *testing.T) {
	schema, cells := schemaOf(t, "n\n1\n2.50\nx\n")
	retype(t, schema, cells, columnar.TypeDecimal)
	vectors := make([]columnar.Vector, 1)
	misfits := len(schema.ConvertSorting(cells, vectors))
	if err := vectors[0].Check(); err != nil || misfits != 1 || vectors[0].Scale != 2 || vectors[0].Ints[1] != 250 {
		t.Errorf("%d misfits, %+v, %v", misfits, vectors[0], err)
	}
}

// A decimal has at most 38 digits, of which one stands before the point.
func TestRetypeToTheWidestDecimal(t *testing.T) {
	schema, cells := schemaOf(t, "n\n0."+strings.Repeat("7", 40)+"\nx\n")
	retype(t, schema, cells, columnar.TypeDecimal)
	if c := schema.Columns[0]; c.Precision != columnar.WideDigits || c.Scale != columnar.WideDigits-1 {
		t.Errorf("it is %s", typeName(c))
	}
}

// A column that stays text has no unit: it is in the text.
func TestAmountsOfTooManyDigitsStayText(t *testing.T) {
	schema, _ := schemaOf(t, "n\n€0."+strings.Repeat("7", 40)+"\n€2.50\n")
	if c := schema.Columns[0]; c.Type != columnar.TypeText || c.Format != "" {
		t.Errorf("it is %s in %q", typeName(c), c.Format)
	}
}

// Vectors are made anew in the memory of the last ones, whatever they held.
func TestConvertReusesVectors(t *testing.T) {
	full, many := schemaOf(t, "a,b\n1,x\n,\n3,z\n")
	few := split(many, 1)[0]
	vectors := make([]columnar.Vector, 2)
	for _, cells := range []*columnar.Cells{many, few, many} {
		if err := full.Convert(cells, vectors); err != nil {
			t.Fatal(err)
		}
		for i := range vectors {
			if err := vectors[i].Check(); err != nil {
				t.Error(err)
			}
		}
		if nulls := vectors[0].Nulls() + vectors[1].Nulls(); vectors[0].Len != cells.Rows || nulls != 2*min(1, cells.Rows-1) {
			t.Errorf("%d rows with %d nulls", vectors[0].Len, nulls)
		}
	}
	if allocations := testing.AllocsPerRun(10, func() {
		if err := full.Convert(many, vectors); err != nil {
			t.Fatal(err)
		}
	}); allocations > 8 {
		t.Errorf("a conversion allocates %v times", allocations)
	}
}
