package lake

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// number is how a number is written: as JSON has it. Exponents of more than
// three digits are numbers that no column holds, and would take long to work out.
var number = regexp.MustCompile(`^[-+]?[0-9]{1,400}(\.[0-9]{1,400})?([eE][-+]?[0-9]{1,3})?$`)

func parseNumber(text string) (*big.Rat, error) {
	if !number.MatchString(text) {
		return nil, errors.New("must be a number")
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, errors.New("must be a number")
	}
	return n, nil
}

// compareExact compares a column of integers or decimals with any number: also
// one between two values that the column can hold, or beyond all of them. It
// is then compared with the nearest, so that the bounds of row groups still
// tell which of them have no such value.
func (b *builder) compareExact(c *column, op feedmill.FilterOp, n *big.Rat) string {
	scaled := new(big.Rat).Mul(n, new(big.Rat).SetInt(tenTo(c.Scale)))
	floor := new(big.Int).Div(scaled.Num(), scaled.Denom()) // rounds down, as the denominator is positive
	ceil := new(big.Int).Set(floor)
	if !scaled.IsInt() {
		ceil.Add(ceil, big.NewInt(1))
	}
	low, high := c.range128()
	const none = "FALSE"
	all := c.sql + " IS NOT NULL"
	var bound *big.Int
	switch op {
	case feedmill.OpEq:
		if !scaled.IsInt() || floor.Cmp(low) < 0 || floor.Cmp(high) > 0 {
			return none
		}
		bound = floor
	case feedmill.OpGt, feedmill.OpLte:
		// Greater than n is greater than the last value that is not.
		above, below := none, all
		if op == feedmill.OpGt {
			above, below = all, none
		}
		if floor.Cmp(low) < 0 {
			return above
		}
		if floor.Cmp(high) >= 0 {
			return below
		}
		bound = floor
	default:
		above, below := none, all
		if op == feedmill.OpGte {
			above, below = all, none
		}
		if ceil.Cmp(low) <= 0 {
			return above
		}
		if ceil.Cmp(high) > 0 {
			return below
		}
		bound = ceil
	}
	return c.sql + sign[op] + "CAST(" + b.bind(decimalText(bound, c.Scale)) + " AS " + c.sqlType() + ")"
}

// range128 is the least and the greatest value that the column can hold,
// without the point.
func (c *column) range128() (low, high *big.Int) {
	if c.Type == columnar.TypeInteger {
		return big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	}
	high = new(big.Int).Sub(tenTo(c.Precision), big.NewInt(1))
	return new(big.Int).Neg(high), high
}

func tenTo(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func decimalText(n *big.Int, scale int) string {
	return new(big.Rat).SetFrac(n, tenTo(scale)).FloatString(scale)
}

// instants are the ways to write a time, with or without the zone.
var instants = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", time.DateOnly}

func parseInstant(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range instants {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("must be a time such as 2026-01-31T08:30:00Z or a date such as 2026-01-31")
}
