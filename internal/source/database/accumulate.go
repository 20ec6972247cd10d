package database

import (
	"math"
	"math/big"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// accumulator is an aggregate of every group.
type accumulator struct {
	fn     feedmill.Aggregate
	groups []accumulated
	key    []byte
}

// accumulated is what there is of one group.
type accumulated struct {
	count int64
	exact *big.Int // the sum of integers and decimals, without the point
	scale int
	// float is the sum of numbers, and scaled that of their 2^64th parts, which stays within the range.
	float, scaled float64
	best          *columnar.Vector // one value
	seen          map[string]struct{}
}

func (a *accumulator) grow() { a.groups = append(a.groups, accumulated{}) }

// add takes a value that is not null, and returns about how much more memory it
// takes.
func (a *accumulator) add(group int, v *columnar.Vector, i int) (memory int) {
	g := &a.groups[group]
	g.count++
	switch a.fn {
	case feedmill.AggregateSum, feedmill.AggregateAvg:
		if v.Floats != nil {
			g.float += v.Floats[i]
			g.scaled += v.Floats[i] * 0x1p-64
			return 0
		}
		if g.exact == nil {
			g.exact, memory = new(big.Int), 60
		}
		g.scale = v.Scale
		g.exact.Add(g.exact, digits(v, i))
	case feedmill.AggregateMin, feedmill.AggregateMax:
		if g.best != nil {
			c := compareRows(v, i, g.best, 0)
			if c == 0 || c > 0 == (a.fn == feedmill.AggregateMin) {
				return 0
			}
		}
		best := pick(v, []int{i})
		g.best, memory = &best, 200+len(best.Bytes)
	case feedmill.AggregateCountDistinct:
		if g.seen == nil {
			g.seen = make(map[string]struct{})
		}
		a.key = appendKey(a.key[:0], v, i)
		if _, ok := g.seen[string(a.key)]; !ok {
			g.seen[string(a.key)] = struct{}{}
			memory = 50 + len(a.key)
		}
	}
	return memory
}

// digits is a number without its point.
func digits(v *columnar.Vector, i int) *big.Int {
	if v.Wide == nil {
		return big.NewInt(v.Ints[i])
	}
	n := new(big.Int).Lsh(big.NewInt(v.Wide[i].Hi), 64)
	return n.Add(n, new(big.Int).SetUint64(v.Wide[i].Lo))
}

// end hands the values of all groups to a builder.
func (a *accumulator) end(to *Builder) error {
	for i := range a.groups {
		g := &a.groups[i]
		switch a.fn {
		case feedmill.AggregateCount:
			to.Int(g.count)
			continue
		case feedmill.AggregateCountDistinct:
			to.Int(int64(len(g.seen)))
			continue
		}
		if g.count == 0 {
			to.Null()
			continue
		}
		switch a.fn {
		case feedmill.AggregateAvg:
			to.Float(g.sum() / float64(g.count))
		case feedmill.AggregateSum:
			if g.exact == nil {
				to.Float(g.sum())
			} else if n, ok := Int128(g.exact); ok {
				to.Wide(n)
			} else {
				return TooManyDigits(string(a.fn))
			}
		default:
			to.copy(g.best, 0)
		}
	}
	return nil
}

// sum is the sum as a number.
func (g *accumulated) sum() float64 {
	if g.exact == nil && (math.IsInf(g.float, 0) || math.IsNaN(g.float)) {
		return g.scaled * 0x1p64
	}
	if g.exact == nil {
		return g.float
	}
	n, _ := new(big.Rat).SetFrac(g.exact, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(g.scale)), nil)).Float64()
	return n
}

var mostDigits = new(big.Int).Exp(big.NewInt(10), big.NewInt(columnar.WideDigits), nil)

// Int128 is a whole number of up to 38 digits.
func Int128(n *big.Int) (columnar.Int128, bool) {
	if n.CmpAbs(mostDigits) >= 0 {
		return columnar.Int128{}, false
	}
	bytes := new(big.Int).Abs(n).FillBytes(make([]byte, 16))
	slices.Reverse(bytes)
	var out columnar.Int128
	for i := range 8 {
		out.Lo |= uint64(bytes[i]) << (8 * i)
		out.Hi |= int64(bytes[8+i]) << (8 * i)
	}
	if n.Sign() < 0 {
		out = out.Neg()
	}
	return out, true
}

// TooManyDigits is the failure of a decimal that no column holds.
func TooManyDigits(of string) error {
	return Fail(ProblemStatement, "A value of "+of+" has more than 38 digits, the maximum of a decimal. Leave the field out, or shorten its values in the view.", nil)
}
