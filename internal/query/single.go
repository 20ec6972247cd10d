package query

import (
	"math"
	"strconv"
)

// Single is the number that a float of 4 bytes is shown as: its shortest decimal, 0.1 and not
// 0.10000000149011612. Floats are in the order of these numbers.
func Single(f float32) float64 {
	exact := float64(f)
	if exact == math.Trunc(exact) && math.Abs(exact) < 1<<24 {
		return exact
	}
	var text [24]byte
	n, _ := strconv.ParseFloat(string(strconv.AppendFloat(text[:0], exact, 'g', -1, 32)), 64)
	return n
}

// OfSingles is a comparison with the numbers of a column of 4-byte floats (see [Single]) as one with the
// floats themselves. It is false for one that no float passes.
func (p Compare) OfSingles() (Compare, bool) {
	value := p.Value.(float64)
	nearest := float32(value)
	p.Value = float64(nearest)
	after := p.Comparison == Greater || p.Comparison == GreaterOrEqual
	switch shown := CompareNumbers(Single(nearest), value); {
	case shown == 0:
	case p.Comparison == Equal:
		return p, false
	case shown > 0 && after: // the nearest is the least that passes
		p.Comparison = GreaterOrEqual
	case shown > 0:
		p.Comparison = Less
	case after:
		p.Comparison = Greater
	default:
		p.Comparison = LessOrEqual
	}
	return p, true
}
