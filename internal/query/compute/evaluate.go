package compute

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
)

// value is the value of an expression for one row.
type value struct {
	null bool
	// i is a boolean as 0 or 1, a day, or a number of microseconds; f is a number.
	i int64
	f float64
	// n is an integer or decimal without its point, which has scale digits after it.
	n     *big.Int
	scale int
	s     string
}

var null = value{null: true}

func truth(b bool) value {
	if b {
		return value{i: 1}
	}
	return value{}
}

// true reports whether a condition holds. Null does not.
func (v value) true() bool { return !v.null && v.i == 1 }

// row is a row for which expressions are evaluated.
type row struct {
	vectors []columnar.Vector
	at      int
	// divided and failed say that something was null because of a division by zero or a failed
	// conversion.
	divided, failed bool
	err             error
}

// eval is an expression that was made ready for rows.
type eval func(r *row) value

// compiler makes expressions ready.
type compiler struct {
	zone *time.Location
	// at are the vectors of fields.
	at func(field int) int
}

// ErrOverflow is the error of a value with too many digits, or of a text that is too long.
var ErrOverflow = errors.New("overflow")

func (c *compiler) compile(n *Node) eval {
	e := c.plain(n)
	switch {
	case !n.Overflows:
		return e
	case n.Type.Kind == columnar.TypeNumber:
		return finite(e)
	case n.Type.exact():
		return bounded(e, n.Type)
	}
	return e
}

// finite fails where numbers leave their range.
func finite(e eval) eval {
	return func(r *row) value {
		v := e(r)
		if !v.null && math.IsInf(v.f, 0) && r.err == nil {
			r.err = fmt.Errorf("%w: a value exceeds the range of a number", ErrOverflow)
		}
		return v
	}
}

// bounded fails where values have more digits than a type has.
func bounded(e eval, t Type) eval {
	limit := tenTo(t.Digits)
	if t.Open {
		limit = tenTo(maxDigits)
	}
	return func(r *row) value {
		v := e(r)
		switch {
		case v.null:
			return v
		case t.Open:
			v.n, v.scale = shortened(v.n, v.scale)
		case v.scale < t.Scale:
			v.n, v.scale = rescaled(v, t.Scale), t.Scale
		}
		if (v.n.CmpAbs(limit) >= 0 || v.scale > maxDigits) && r.err == nil {
			r.err = fmt.Errorf("%w: a value has more than %d digits", ErrOverflow, maxDigits)
		}
		return v
	}
}

func (c *compiler) plain(n *Node) eval {
	switch n.Op {
	case "field":
		return c.field(n)
	case "text":
		return constant(value{s: n.Text})
	case "number":
		return constant(value{n: n.Number, scale: n.Type.Scale})
	case "date":
		day, _ := parseDate(n.Text)
		return constant(value{i: day.Unix() / daySeconds})
	case "true", "false":
		return constant(truth(n.Op == "true"))
	case "null":
		return constant(null)
	case "and":
		a, b := c.compile(n.Args[0]), c.compile(n.Args[1])
		return func(r *row) value { return truth(a(r).true() && b(r).true()) }
	case "or":
		a, b := c.compile(n.Args[0]), c.compile(n.Args[1])
		return func(r *row) value { return truth(a(r).true() || b(r).true()) }
	case "not":
		a := c.compile(n.Args[0])
		return func(r *row) value { return truth(!a(r).true()) }
	case "=", "!=", "<", "<=", ">", ">=":
		return c.comparison(n)
	case "negative", "+", "-", "*", "/", "%":
		return c.arithmetic(n)
	case "toNumber":
		a := c.compile(n.Args[0])
		return func(r *row) value {
			v := a(r)
			if !v.null {
				v = value{f: float(v)}
			}
			return v
		}
	}
	return findFunction(n.Op).eval(c, n)
}

func constant(v value) eval { return func(*row) value { return v } }

// field reads a value of a vector, whose type can be another than that of the field: decimals
// come as digits, or as numbers that are the same.
func (c *compiler) field(n *Node) eval {
	at, t := c.at(n.Field), n.Type
	return func(r *row) value {
		v := &r.vectors[at]
		i := r.at
		switch {
		case v.Null(i):
			return null
		case t.exact():
			return exactOf(v, i)
		case v.Offsets != nil:
			return value{s: string(v.Text(i))}
		case v.Floats != nil:
			return value{f: v.Floats[i]}
		case t.Kind == columnar.TypeNumber:
			return value{f: float(exactOf(v, i))}
		}
		return value{i: v.Ints[i]}
	}
}

// comparison compares two values. Null is equal to nothing, and neither less nor greater.
func (c *compiler) comparison(n *Node) eval {
	a, b := c.compile(n.Args[0]), c.compile(n.Args[1])
	order := orderOf(n.Args[0].Type)
	holds := map[string]func(int) bool{
		"=":  func(c int) bool { return c == 0 },
		"!=": func(c int) bool { return c != 0 },
		"<":  func(c int) bool { return c < 0 },
		"<=": func(c int) bool { return c <= 0 },
		">":  func(c int) bool { return c > 0 },
		">=": func(c int) bool { return c >= 0 },
	}[n.Op]
	return func(r *row) value {
		x, y := a(r), b(r)
		return truth(!x.null && !y.null && holds(order(x, y)))
	}
}

func orderOf(t Type) func(a, b value) int {
	switch {
	case t.exact():
		return func(a, b value) int {
			scale := max(a.scale, b.scale)
			return rescaled(a, scale).Cmp(rescaled(b, scale))
		}
	case t.Kind == columnar.TypeNumber:
		return func(a, b value) int { return compareNumbers(a.f, b.f) }
	case t.Kind == columnar.TypeText:
		return func(a, b value) int { return strings.Compare(a.s, b.s) }
	}
	return func(a, b value) int { return cmp.Compare(a.i, b.i) }
}

// compareNumbers is the order of numbers, in which NaN is the greatest.
func compareNumbers(a, b float64) int {
	if math.IsNaN(a) || math.IsNaN(b) {
		return -cmp.Compare(a, b)
	}
	return cmp.Compare(a, b)
}

func (c *compiler) arithmetic(n *Node) eval {
	a := c.compile(n.Args[0])
	if n.Op == "negative" {
		return func(r *row) value {
			v := a(r)
			if !v.null && v.n != nil {
				v.n = new(big.Int).Neg(v.n)
			}
			v.f = -v.f
			return v
		}
	}
	b := c.compile(n.Args[1])
	calculate := exactly[n.Op]
	if n.Type.Kind == columnar.TypeNumber {
		calculate = floating[n.Op]
	}
	divides := n.Op == "/" || n.Op == "%"
	return func(r *row) value {
		x, y := a(r), b(r)
		switch {
		case x.null || y.null:
			return null
		case divides && (y.n != nil && y.n.Sign() == 0 || y.n == nil && y.f == 0):
			r.divided = true
			return null
		}
		return calculate(x, y)
	}
}
