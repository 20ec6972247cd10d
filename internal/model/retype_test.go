package model

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// What somebody has said a column is may be written in ways that prove nothing by
// themselves.
func TestRetype(t *testing.T) {
	for name, c := range map[string]struct {
		table   string
		as      columnar.Type
		format  string
		want    []any
		misfits int
	}{
		"zeros and signs":    {"n\n007\n+12\n-3\n0\n", columnar.TypeInteger, "", []any{int64(7), int64(12), int64(-3), int64(0)}, 0},
		"a comma":            {"n,m\n\"1,5\",x\nx,y\n\"2,25\",z\n", columnar.TypeDecimal, "", []any{json.RawMessage("1.50"), nil, json.RawMessage("2.25")}, 1},
		"tokens":             {"n\n1\nN/A\nmany\n", columnar.TypeInteger, "", []any{int64(1), nil, nil}, 1},
		"an order by format": {"d\n03/04/2026\n05/06/2026\n", columnar.TypeDate, "dd/mm/yyyy", []any{"2026-04-03", "2026-06-05"}, 0},
		"no order":           {"d\n03/04/2026\n05/06/2026\n", columnar.TypeDate, "", []any{nil, nil}, 2},
		"answers":            {"b\n1\nno\nTRUE\nmaybe\n", columnar.TypeBoolean, "", []any{true, false, true, nil}, 1},
		"text as it stands":  {"n\n1.50\n2\n", columnar.TypeText, "", []any{"1.50", "2"}, 0},
		"json":               {"j\n\"[1,2]\"\nx\n", columnar.TypeJSON, "", []any{json.RawMessage("[1,2]"), nil}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			schema, cells := schemaOf(t, c.table)
			schema.Columns[0].Format = c.format
			retype(t, schema, cells, c.as)
			_, cells = tableCells(t, c.table) // which are read again
			vectors := make([]columnar.Vector, len(schema.Columns))
			misfits := schema.ConvertSorting(cells, vectors)
			var got []any
			for row := range cells.Rows {
				got = append(got, valueOf(&vectors[0], row))
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(misfits) != c.misfits || vectors[0].Check() != nil {
				t.Errorf("%d misfits, %v; differs (-want +got):\n%s", len(misfits), vectors[0].Check(), diff)
			}
		})
	}
}

// TestRetypeNotesTokens sets the types of two columns. One token makes its column nullable, with
// a warning; the other column has neither.
func TestRetypeNotesTokens(t *testing.T) {
	schema, cells := schemaOf(t, "n,m\n1,x1\nN/A,x2\n3,x3\n")
	for i := range schema.Columns {
		schema.Columns[i].Retype, schema.Columns[i].Nullable = columnar.TypeDecimal, false
	}
	warnings, err := schema.Retype(t.Context(), oneBlock{cells: cells})
	if err != nil || len(warnings) != 1 || warnings[0].Code != feedmill.WarnTokens || warnings[0].Column != "n" || warnings[0].Count != 1 {
		t.Errorf("the warnings are %+v, %v; want one about the token of n", warnings, err)
	}
	if !schema.Columns[0].Nullable || schema.Columns[1].Nullable {
		t.Errorf("nullable is %v and %v, want only that of the column with the token", schema.Columns[0].Nullable, schema.Columns[1].Nullable)
	}
}
