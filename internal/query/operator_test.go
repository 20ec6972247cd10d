package query

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

func TestOperatorsOfTypes(t *testing.T) {
	const ordered = "between, eq, gt, gte, isEmpty, isNull, lt, lte"
	for kind, want := range map[columnar.Type]string{
		columnar.TypeText:      "between, contains, endsWith, eq, gt, gte, isEmpty, isNull, lt, lte, matches, startsWith",
		columnar.TypeInteger:   ordered,
		columnar.TypeDecimal:   ordered,
		columnar.TypeNumber:    ordered,
		columnar.TypeBoolean:   "eq, isEmpty, isFalse, isNull, isTrue",
		columnar.TypeDate:      "between, current, eq, gt, gte, isEmpty, isNull, last, lt, lte, next, toDate",
		columnar.TypeTimestamp: "between, current, eq, gt, gte, isEmpty, isNull, last, lt, lte, next, toDate",
		columnar.TypeJSON:      "isEmpty, isNull",
	} {
		if got := list(Operators(kind)); got != want {
			t.Errorf("%s has %s, want %s", kind, got, want)
		}
	}
}

// examples are values of each type as texts.
var examples = map[columnar.Type][]string{
	columnar.TypeText:      {"", "a", "ab", "b"},
	columnar.TypeInteger:   {"-1", "0", "0.5", "1e30", "7"},
	columnar.TypeDecimal:   {"-1.25", "0", "0.005", "1e30", "7"},
	columnar.TypeNumber:    {"-1.25", "0", "1e30", "7"},
	columnar.TypeBoolean:   {"true", "false"},
	columnar.TypeDate:      {"2024-02-28", "2024-02-29", "2024-03-01"},
	columnar.TypeTimestamp: {"2024-02-28", "2024-02-29T12:30:00Z", "2024-02-29T23:30:00"},
}

// cells are values that a column of each type can hold.
var cells = map[columnar.Type][]any{
	columnar.TypeText:      {nil, "", "a", "ab", "b"},
	columnar.TypeJSON:      {nil, "[]", "{}", `""`, "[1]"},
	columnar.TypeInteger:   {nil, big.NewRat(-1, 1), big.NewRat(0, 1), big.NewRat(7, 1)},
	columnar.TypeDecimal:   {nil, big.NewRat(-5, 4), big.NewRat(0, 1), big.NewRat(1, 100), big.NewRat(7, 1)},
	columnar.TypeNumber:    {nil, -1.25, 0.0, 7.0},
	columnar.TypeBoolean:   {nil, true, false},
	columnar.TypeDate:      {nil, date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1)},
	columnar.TypeTimestamp: {nil, date(2024, 2, 28), time.Date(2024, 2, 29, 12, 30, 0, 0, time.UTC), date(2024, 3, 1)},
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func drawFilter(t *rapid.T, op *operator, kind columnar.Type) feedmill.Filter {
	f := feedmill.Filter{Op: op.name, CaseSensitive: true}
	for range rapid.IntRange(op.least, min(op.most, 3)).Draw(t, "values") {
		switch {
		case op.period:
			f.Values = append(f.Values, feedmill.FilterValue{Period: &feedmill.Period{
				N: rapid.IntRange(1, 9).Draw(t, "n"), Unit: rapid.SampledFrom(feedmill.PeriodUnits[2:]).Draw(t, "unit"),
				IncludeCurrent: rapid.Bool().Draw(t, "current"),
			}})
		case op.nulls == nullIfListed && rapid.IntRange(0, 2).Draw(t, "null") == 0:
			f.Values = append(f.Values, feedmill.FilterValue{Null: true})
		default:
			f.Values = append(f.Values, feedmill.FilterValue{Text: rapid.SampledFrom(examples[kind]).Draw(t, "value")})
		}
	}
	return f
}

// For every operator and type, a null passes exactly where the table says so, and
// inverted exactly those values pass that would not.
func TestOperatorAndItsInverse(t *testing.T) {
	for _, kind := range columnar.Types {
		columns := []feedmill.Column{{Name: "c", Type: kind, Precision: 6, Scale: 2}}
		if kind == columnar.TypeInteger {
			columns[0].Precision, columns[0].Scale = 0, 0
		}
		for _, op := range operators {
			if !slices.Contains(op.types, kind) {
				continue
			}
			t.Run(string(kind)+" "+string(op.name), rapid.MakeCheck(func(t *rapid.T) {
				f := drawFilter(t, &op, kind)
				inverse := f
				inverse.Inverted = true
				resolve := func(f feedmill.Filter) Predicate {
					q := feedmill.Query{Now: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), Where: []feedmill.Condition{{Name: "c", Filters: []feedmill.Filter{f}}}}
					tree, found := Resolve(q, columns)
					if err := found.Err(); err != nil {
						t.Fatal(err)
					}
					return tree.Where
				}
				plain, inverted := resolve(f), resolve(inverse)
				listed := slices.ContainsFunc(f.Values, func(v feedmill.FilterValue) bool { return v.Null })
				passes := op.nulls == nullPasses || op.nulls == nullIfListed && listed
				if got := evaluate(plain, nil) == yes; got != passes {
					t.Errorf("null passes %+v: %v", f, got)
				}
				for _, cell := range cells[kind] {
					if a, b := evaluate(plain, cell), evaluate(inverted, cell); (a == yes) == (b == yes) || b == unknown {
						t.Errorf("%v: %+v is %v, inverted %v", cell, f, a, b)
					}
				}
			}))
		}
	}
}

// An exact column can be compared with any number, and as if nothing was rounded.
func TestExactComparison(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		column := Column{Column: &feedmill.Column{Type: columnar.TypeDecimal}}
		column.Precision = rapid.IntRange(1, 38).Draw(t, "precision")
		column.Scale = rapid.IntRange(0, column.Precision).Draw(t, "scale")
		if rapid.Bool().Draw(t, "integer") {
			column.Column = &feedmill.Column{Type: columnar.TypeInteger}
		}
		low, high := bounds(column)
		steps := new(big.Int).SetInt64(rapid.Int64Range(-3, 3).Draw(t, "steps"))
		whole := rapid.SampledFrom([]*big.Int{low, high, new(big.Int)}).Draw(t, "near")
		cell := new(big.Int).Add(whole, steps)
		if cell.Cmp(low) < 0 || cell.Cmp(high) > 0 {
			cell = whole
		}
		unit := new(big.Rat).SetFrac(big.NewInt(1), tenTo(column.Scale))
		value := new(big.Rat).Mul(new(big.Rat).SetInt(cell), unit)
		n := new(big.Rat).Add(value, new(big.Rat).Mul(unit, big.NewRat(rapid.Int64Range(-9, 9).Draw(t, "quarters"), 4)))
		c := value.Cmp(n)
		for comparison, want := range map[Comparison]bool{Equal: c == 0, Greater: c > 0, GreaterOrEqual: c >= 0, Less: c < 0, LessOrEqual: c <= 0} {
			p := compareExact(column, comparison, n)
			if got := evaluate(p, value); got != known(want) {
				t.Errorf("%s %s %s is %v", value.RatString(), comparison, n.RatString(), got)
			}
			if evaluate(p, nil) == yes {
				t.Errorf("null %s %s", comparison, n.RatString())
			}
			if bound, ok := p.(Compare); ok {
				scaled := new(big.Rat).Mul(bound.Value.(*big.Rat), new(big.Rat).SetInt(tenTo(column.Scale)))
				if !scaled.IsInt() || scaled.Num().Cmp(low) < 0 || scaled.Num().Cmp(high) > 0 {
					t.Errorf("the column cannot hold %v", bound.Value)
				}
			}
		}
	})
}
