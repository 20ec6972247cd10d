package database

import (
	"bytes"
	"cmp"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// pick copies some rows of a vector.
func pick(v *columnar.Vector, rows []int) columnar.Vector {
	out := columnar.Vector{Type: v.Type, Len: len(rows), Precision: v.Precision, Scale: v.Scale}
	if v.Valid != nil {
		out.Valid = make([]uint64, (len(rows)+63)/64)
		for i, row := range rows {
			if !v.Null(row) {
				out.Valid[i>>6] |= 1 << (i & 63)
			}
		}
	}
	switch {
	case v.Offsets != nil:
		out.Offsets = make([]uint32, 1, len(rows)+1)
		for _, row := range rows {
			out.Bytes = append(out.Bytes, v.Text(row)...)
			out.Offsets = append(out.Offsets, uint32(len(out.Bytes)))
		}
	case v.Floats != nil:
		out.Floats = pickValues(v.Floats, rows)
	case v.Wide != nil:
		out.Wide = pickValues(v.Wide, rows)
	default:
		out.Ints = pickValues(v.Ints, rows)
	}
	return out
}

func pickValues[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = values[row]
	}
	return out
}

// compareRows compares two values of a type, neither of which is null.
func compareRows(a *columnar.Vector, i int, b *columnar.Vector, j int) int {
	switch {
	case a.Offsets != nil:
		return bytes.Compare(a.Text(i), b.Text(j))
	case a.Floats != nil:
		return query.CompareNumbers(a.Floats[i], b.Floats[j])
	case a.Wide != nil:
		return a.Wide[i].Compare(b.Wide[j])
	}
	return cmp.Compare(a.Ints[i], b.Ints[j])
}
