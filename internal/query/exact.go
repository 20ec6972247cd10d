package query

import (
	"math"
	"math/big"

	"github.com/feedmill/feedmill/internal/columnar"
)

// compareExact compares a column of integers or decimals with any number: also
// one between two values that the column can hold, or beyond all of them. It
// is then compared with the nearest, so that a database can tell by the bounds of
// a block of rows that the block has no such value. Where the digits of a column
// have no bound it can hold every number.
func compareExact(c Column, comparison Comparison, n *big.Rat) Predicate {
	if c.Type == columnar.TypeDecimal && c.Precision == 0 {
		return Compare{c, comparison, n}
	}
	scaled := new(big.Rat).Mul(n, new(big.Rat).SetInt(tenTo(c.Scale)))
	bound := new(big.Int).Div(scaled.Num(), scaled.Denom()) // rounds down, as the denominator is positive
	if !scaled.IsInt() {
		switch comparison {
		case Equal:
			return Any{}
		case GreaterOrEqual, Less:
			// At least n is at least the first value that is above it.
			bound.Add(bound, big.NewInt(1))
		}
	}
	low, high := bounds(c)
	below, above := bound.Cmp(low) < 0, bound.Cmp(high) > 0
	switch {
	case !below && !above:
		return Compare{c, comparison, new(big.Rat).SetFrac(bound, tenTo(c.Scale))}
	case below && (comparison == Greater || comparison == GreaterOrEqual),
		above && (comparison == Less || comparison == LessOrEqual):
		return Not{IsNull{c}}
	}
	return Any{}
}

// bounds are the least and the greatest value that the column can hold, without
// the point.
func bounds(c Column) (low, high *big.Int) {
	if c.Type == columnar.TypeInteger {
		return big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	}
	high = new(big.Int).Sub(tenTo(c.Precision), big.NewInt(1))
	return new(big.Int).Neg(high), high
}

func tenTo(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
