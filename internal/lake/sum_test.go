package lake

import (
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// A number has the same sum in whatever type it is written, and another one has another, also where only the upper digits
// of a wide one differ.
func TestSumsOfNumbers(t *testing.T) {
	sum := func(v columnar.Vector) string {
		s := newSummer([]feedmill.Column{{ID: "c1"}})
		v.Len = 1
		s.add([]columnar.Vector{v})
		return s.String()
	}
	five := sum(columnar.Vector{Type: columnar.TypeInteger, Ints: []int64{5}})
	for name, v := range map[string]columnar.Vector{
		"a decimal":      {Type: columnar.TypeDecimal, Ints: []int64{500}, Precision: 5, Scale: 2},
		"a wide decimal": {Type: columnar.TypeDecimal, Wide: []columnar.Int128{columnar.Int128Of(50)}, Precision: 30, Scale: 1},
	} {
		if got := sum(v); got != five {
			t.Errorf("%s is %s, and an integer %s", name, got, five)
		}
	}
	seen := map[string]string{five: "five"}
	for name, v := range map[string]columnar.Vector{
		"minus five":   {Type: columnar.TypeInteger, Ints: []int64{-5}},
		"half of one":  {Type: columnar.TypeDecimal, Ints: []int64{5}, Precision: 5, Scale: 1},
		"a day":        {Type: columnar.TypeDate, Ints: []int64{5}},
		"nothing":      {Type: columnar.TypeInteger, Ints: []int64{5}, Valid: []uint64{0}},
		"wide":         {Type: columnar.TypeDecimal, Wide: []columnar.Int128{{Hi: 1, Lo: 5}}, Precision: 38},
		"wider":        {Type: columnar.TypeDecimal, Wide: []columnar.Int128{{Hi: 1 << 60, Lo: 5}}, Precision: 38},
		"wide, scaled": {Type: columnar.TypeDecimal, Wide: []columnar.Int128{{Hi: 1, Lo: 5}}, Precision: 38, Scale: 1},
	} {
		got := sum(v)
		if other, known := seen[got]; known {
			t.Errorf("%s has the sum of %s", name, other)
		}
		seen[got] = name
	}
}
