package compute

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/feedmill/feedmill/internal/columnar"
)

// powers are the powers of ten that values have as their scale.
var powers = sync.OnceValue(func() []*big.Int {
	all := make([]*big.Int, 3*maxDigits)
	all[0] = big.NewInt(1)
	for i := 1; i < len(all); i++ {
		all[i] = new(big.Int).Mul(all[i-1], big.NewInt(10))
	}
	return all
})

func tenTo(n int) *big.Int {
	if all := powers(); n < len(all) {
		return all[n]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// rescaled is a value without its point at a scale that is not less than its own.
func rescaled(v value, scale int) *big.Int {
	if v.scale == scale {
		return v.n
	}
	return new(big.Int).Mul(v.n, tenTo(scale-v.scale))
}

// shortened leaves out zeros at the end of the places.
func shortened(n *big.Int, scale int) (*big.Int, int) {
	ten, rest := tenTo(1), new(big.Int)
	for scale > 0 {
		q, r := new(big.Int).QuoRem(n, ten, rest)
		if r.Sign() != 0 {
			break
		}
		n, scale = q, scale-1
	}
	return n, scale
}

// float is the number that is nearest to an integer or decimal.
func float(v value) float64 {
	f, _ := new(big.Rat).SetFrac(v.n, tenTo(v.scale)).Float64()
	return f
}

// exactOf reads an integer or decimal of a vector.
func exactOf(v *columnar.Vector, i int) value {
	switch {
	case v.Offsets != nil:
		d, _ := parseDecimal(string(v.Text(i)))
		return d
	case v.Floats != nil:
		d, _ := parseDecimal(strconv.FormatFloat(v.Floats[i], 'f', -1, 64))
		return d
	case v.Wide != nil:
		n := new(big.Int).Lsh(big.NewInt(v.Wide[i].Hi), 64)
		return value{n: n.Add(n, new(big.Int).SetUint64(v.Wide[i].Lo)), scale: v.Scale}
	}
	return value{n: big.NewInt(v.Ints[i]), scale: v.Scale}
}

// parseDecimal reads a number without an exponent. It is null where the text is none.
func parseDecimal(text string) (value, bool) {
	digits := strings.TrimPrefix(text, "-")
	if len(digits) == len(text) {
		digits = strings.TrimPrefix(text, "+")
	}
	whole, places, point := strings.Cut(digits, ".")
	if whole == "" || point && places == "" || strings.Trim(whole+places, "0123456789") != "" {
		return null, false
	}
	n, _ := new(big.Int).SetString(whole+places, 10)
	if strings.HasPrefix(text, "-") {
		n.Neg(n)
	}
	return value{n: n, scale: len(places)}, true
}

// decimalText writes a number without zeros at its end.
func decimalText(v value) string {
	n, scale := shortened(v.n, v.scale)
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// exactly has the operators of integers and decimals. Divisors are not zero.
var exactly = map[string]func(a, b value) value{
	"+": func(a, b value) value {
		scale := max(a.scale, b.scale)
		return value{n: new(big.Int).Add(rescaled(a, scale), rescaled(b, scale)), scale: scale}
	},
	"-": func(a, b value) value {
		scale := max(a.scale, b.scale)
		return value{n: new(big.Int).Sub(rescaled(a, scale), rescaled(b, scale)), scale: scale}
	},
	"*": func(a, b value) value {
		return value{n: new(big.Int).Mul(a.n, b.n), scale: a.scale + b.scale}
	},
	"/": func(a, b value) value {
		// The point of the dividend is moved so that the quotient has the places.
		dividend, divisor := a.n, b.n
		if move := divisionPlaces + b.scale - a.scale; move >= 0 {
			dividend = new(big.Int).Mul(dividend, tenTo(move))
		} else {
			divisor = new(big.Int).Mul(divisor, tenTo(-move))
		}
		return value{n: divided(dividend, divisor), scale: divisionPlaces}
	},
	"%": func(a, b value) value {
		scale := max(a.scale, b.scale)
		return value{n: new(big.Int).Rem(rescaled(a, scale), rescaled(b, scale)), scale: scale}
	},
}

// divided is a quotient rounded to a whole number, halves away from zero.
func divided(a, b *big.Int) *big.Int {
	rest := new(big.Int)
	q, _ := new(big.Int).QuoRem(a, b, rest)
	if rest.Lsh(rest.Abs(rest), 1).CmpAbs(b) >= 0 {
		q.Add(q, big.NewInt(int64(a.Sign()*b.Sign())))
	}
	return q
}

// floating has the operators of numbers. Divisors are not zero.
var floating = map[string]func(a, b value) value{
	"+": func(a, b value) value { return value{f: a.f + b.f} },
	"-": func(a, b value) value { return value{f: a.f - b.f} },
	"*": func(a, b value) value { return value{f: a.f * b.f} },
	"/": func(a, b value) value { return value{f: a.f / b.f} },
	"%": func(a, b value) value { return value{f: math.Mod(a.f, b.f)} },
}

// roundedTo rounds to some places, halves away from zero.
func roundedTo(v value, places int) value {
	if v.scale <= places {
		return v
	}
	return value{n: divided(v.n, tenTo(v.scale-places)), scale: places}
}

func evalRound(c *compiler, n *Node) eval {
	a, places := c.compile(n.Args[0]), 0
	if len(n.Args) > 1 {
		places = int(n.Args[1].Number.Int64())
	}
	return func(r *row) value {
		v := a(r)
		switch {
		case v.null:
			return v
		case v.n == nil && (math.IsNaN(v.f) || math.Abs(v.f) >= 1<<53):
			return v // a whole number, or none
		case v.n == nil:
			// A number is rounded as it is written, not as it is stored.
			d, _ := parseDecimal(strconv.FormatFloat(v.f, 'f', -1, 64))
			return value{f: float(roundedTo(d, places))}
		}
		return roundedTo(v, places)
	}
}

// evalWhole is floor (-1) and ceil (1).
func evalWhole(direction int) func(*compiler, *Node) eval {
	return func(c *compiler, n *Node) eval {
		a := c.compile(n.Args[0])
		return func(r *row) value {
			v := a(r)
			switch {
			case v.null:
				return v
			case v.n == nil && direction < 0:
				return value{f: math.Floor(v.f)}
			case v.n == nil:
				return value{f: math.Ceil(v.f)}
			}
			rest := new(big.Int)
			q, _ := new(big.Int).QuoRem(v.n, tenTo(v.scale), rest)
			if rest.Sign() == direction {
				q.Add(q, big.NewInt(int64(direction)))
			}
			return value{n: q}
		}
	}
}

func evalAbs(c *compiler, n *Node) eval {
	a := c.compile(n.Args[0])
	return func(r *row) value {
		v := a(r)
		if v.n != nil {
			v.n = new(big.Int).Abs(v.n)
		}
		v.f = math.Abs(v.f)
		return v
	}
}

// convertedDigits is how many digits toDecimal accepts before the point.
const convertedDigits = maxDigits - divisionPlaces

func evalToDecimal(c *compiler, n *Node) eval {
	a, t := c.compile(n.Args[0]), n.Args[0].Type
	return func(r *row) value {
		v := a(r)
		if v.null || !n.Fails {
			return v
		}
		ok := true
		switch t.Kind {
		case columnar.TypeText:
			if ok = len(v.s) <= 2*maxDigits; ok {
				v, ok = parseDecimal(v.s)
			}
		case columnar.TypeNumber:
			v, ok = parseDecimal(strconv.FormatFloat(v.f, 'f', -1, 64)) // not of NaN
		}
		if ok {
			v.n, v.scale = shortened(v.n, v.scale)
			ok = v.scale <= divisionPlaces && v.n.CmpAbs(tenTo(convertedDigits+v.scale)) < 0
		}
		if !ok {
			r.failed = true
			return null
		}
		return v
	}
}
