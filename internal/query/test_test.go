package query_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/query"
)

// rowsOf is a vector of some values, the last of which is null.
func rowsOf(v columnar.Vector, n int) columnar.Vector {
	v.Len, v.Valid = n+1, []uint64{1<<n - 1}
	return v
}

// textRows are texts and a null.
func textRows(as columnar.Type, texts ...string) columnar.Vector {
	v := columnar.Vector{Type: as, Offsets: []uint32{0}}
	for _, text := range append(texts, "") {
		v.Bytes = append(v.Bytes, text...)
		v.Offsets = append(v.Offsets, uint32(len(v.Bytes)))
	}
	return rowsOf(v, len(texts))
}

// TestTests says which rows pass a predicate. Null passes none but those that are about
// it, and all that are the opposite of one.
func TestTests(t *testing.T) {
	rat := func(text string) *big.Rat {
		n, _ := new(big.Rat).SetString(text)
		return n
	}
	day := func(text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	micros := func(text string) int64 { return day(text).UnixMicro() }
	texts := textRows(columnar.TypeText, "", "Berlin", "berlin", "Paris", "ÖL")
	documents := textRows(columnar.TypeJSON, `""`, ` [ ] `, `{}`, `[1]`, `"x"`, `{"a":1}`, `1`)
	integers := rowsOf(columnar.Vector{Type: columnar.TypeInteger, Ints: []int64{-1, 0, 1, 2, 0}}, 4)
	decimals := rowsOf(columnar.Vector{Type: columnar.TypeDecimal, Scale: 2, Precision: 9, Ints: []int64{150, 151, 0}}, 2)
	wide := rowsOf(columnar.Vector{Type: columnar.TypeDecimal, Scale: 2, Precision: 38, Wide: []columnar.Int128{{Lo: 150}, {Hi: 1}, {Hi: -1, Lo: math.MaxUint64}, {}}}, 3)
	rounded := rowsOf(columnar.Vector{Type: columnar.TypeNumber, Floats: []float64{1.5, 2, 0}}, 2)
	numbers := rowsOf(columnar.Vector{Type: columnar.TypeNumber, Floats: []float64{math.NaN(), 1.5, math.Inf(1), 0}}, 3)
	truths := rowsOf(columnar.Vector{Type: columnar.TypeBoolean, Ints: []int64{0, 1, 0}}, 2)
	days := rowsOf(columnar.Vector{Type: columnar.TypeDate, Ints: []int64{-1, 0, 20454, 0}}, 3) // 2026-01-01
	times := rowsOf(columnar.Vector{Type: columnar.TypeTimestamp, Ints: []int64{micros("2026-01-01"), micros("2026-01-02") - 1, micros("2026-01-02"), 0}}, 3)
	compare := func(c query.Comparison, v query.Value) func(query.Column) query.Predicate {
		return func(of query.Column) query.Predicate { return query.Compare{Column: of, Comparison: c, Value: v} }
	}
	match := func(op feedmill.FilterOp, text string, caseSensitive bool) func(query.Column) query.Predicate {
		return func(of query.Column) query.Predicate {
			return query.Match{Column: of, Op: op, Text: text, CaseSensitive: caseSensitive}
		}
	}
	isNull := func(of query.Column) query.Predicate { return query.IsNull{Column: of} }
	isEmpty := func(of query.Column) query.Predicate { return query.IsEmpty{Column: of} }
	not := func(p func(query.Column) query.Predicate) func(query.Column) query.Predicate {
		return func(of query.Column) query.Predicate { return query.Not{Predicate: p(of)} }
	}
	for i, c := range []struct {
		rows      columnar.Vector
		predicate func(query.Column) query.Predicate
		want      string
	}{
		{texts, isNull, "[5]"},
		{texts, isEmpty, "[0 5]"},
		{integers, isEmpty, "[4]"},
		{documents, isEmpty, "[0 1 2 7]"},
		{texts, not(isNull), "[0 1 2 3 4]"},
		{texts, compare(query.Equal, "berlin"), "[2]"},
		{texts, compare(query.Greater, "Paris"), "[2 4]"},
		{texts, not(compare(query.Equal, "berlin")), "[0 1 3 4 5]"},
		{integers, compare(query.Equal, rat("1")), "[2]"},
		{integers, compare(query.Greater, rat("0")), "[2 3]"},
		{integers, compare(query.GreaterOrEqual, rat("0")), "[1 2 3]"},
		{integers, compare(query.Less, rat("0")), "[0]"},
		{integers, compare(query.LessOrEqual, rat("0")), "[0 1]"},
		{integers, compare(query.Greater, rat("0.5")), "[2 3]"},
		{decimals, compare(query.Greater, rat("1.5")), "[1]"},
		{decimals, compare(query.Equal, rat("1.5")), "[0]"},
		{wide, compare(query.Equal, rat("1.5")), "[0]"},
		{wide, compare(query.Equal, rat("184467440737095516.16")), "[1]"},
		{wide, compare(query.Equal, rat("-0.01")), "[2]"},
		{rounded, compare(query.Equal, rat("1.5")), "[0]"},
		{numbers, compare(query.Equal, 1.5), "[1]"},
		{numbers, compare(query.Greater, 1.5), "[0 2]"},
		{numbers, compare(query.Equal, math.NaN()), "[0]"},
		{numbers, compare(query.Less, math.NaN()), "[1 2]"},
		{truths, compare(query.Equal, true), "[1]"},
		{truths, compare(query.Equal, false), "[0]"},
		{days, compare(query.Equal, day("1970-01-01")), "[1]"},
		{days, compare(query.LessOrEqual, day("1969-12-31")), "[0]"},
		{days, compare(query.Greater, day("2025-12-31")), "[2]"},
		{times, compare(query.Equal, day("2026-01-02")), "[2]"},
		{times, func(of query.Column) query.Predicate {
			return query.Range{Column: of, From: day("2026-01-01"), To: day("2026-01-02")}
		}, "[0 1]"},
		{texts, match(feedmill.OpContains, "ERL", false), "[1 2]"},
		{texts, match(feedmill.OpContains, "ERL", true), "[]"},
		{texts, match(feedmill.OpStartsWith, "B", true), "[1]"},
		{texts, match(feedmill.OpStartsWith, "B", false), "[1 2]"},
		{texts, match(feedmill.OpEndsWith, "S", false), "[3]"},
		{texts, match(feedmill.OpEndsWith, "öl", false), "[4]"},
		{texts, match(feedmill.OpMatches, "^[bB]er", true), "[1 2]"},
		{integers, func(of query.Column) query.Predicate {
			return query.All{compare(query.Greater, rat("-1"))(of), compare(query.Less, rat("2"))(of)}
		}, "[1 2]"},
		{integers, func(of query.Column) query.Predicate {
			return query.Any{compare(query.Less, rat("0"))(of), isNull(of)}
		}, "[0 4]"},
		{integers, func(query.Column) query.Predicate { return query.Any{} }, "[]"},
		{integers, func(query.Column) query.Predicate { return query.All{} }, "[0 1 2 3 4]"},
	} {
		column := query.Column{Column: &feedmill.Column{Type: c.rows.Type}, Index: 3}
		test := query.NewTest(c.predicate(column), func(of query.Column) int { return of.Index - 3 })
		got := []int{}
		for row := range c.rows.Len {
			if test([]columnar.Vector{c.rows}, row) {
				got = append(got, row)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d: %+v passes rows %v, want %s", i, c.predicate(column), got, c.want)
		}
	}
}
