package compute

import (
	"math/big"
	"time"

	"github.com/feedmill/feedmill/internal/columnar"
)

// Sink takes the values of an expression. A method is for the types that it names.
type Sink interface {
	Null()
	// Int takes a boolean as 0 or 1, a day or a number of microseconds.
	Int(n int64)
	// Exact takes an integer, or a decimal without its point.
	Exact(n *big.Int)
	Float(f float64)
	// Text takes a text, or the digits of an open decimal.
	Text(text []byte)
}

// Evaluator computes an expression for rows.
type Evaluator struct {
	of  Type
	run eval
	row row
	// Divided and Failed count the rows in which something was null because of a division by
	// zero or a failed conversion.
	Divided, Failed int64
}

// NewEvaluator makes an expression ready for rows. At returns the vector of a field, by its place
// among those that the expression was checked with. Timestamps have their dates in the zone.
func NewEvaluator(n *Node, at func(field int) int, zone *time.Location) *Evaluator {
	c := &compiler{zone: zone, at: at}
	return &Evaluator{of: n.Type, run: c.compile(n)}
}

// Add computes the value of row i. The error is of [ErrOverflow].
func (e *Evaluator) Add(rows []columnar.Vector, i int, to Sink) error {
	e.row = row{vectors: rows, at: i}
	v := e.run(&e.row)
	switch {
	case e.row.err != nil:
		return e.row.err
	case v.null:
		to.Null()
	case e.of.exact() && e.of.Open:
		to.Text([]byte(decimalText(v)))
	case e.of.exact():
		to.Exact(rescaled(v, e.of.Scale))
	case e.of.Kind == columnar.TypeNumber:
		to.Float(v.f)
	case e.of.Kind == columnar.TypeText:
		to.Text([]byte(v.s))
	default:
		to.Int(v.i)
	}
	if e.row.divided {
		e.Divided++
	}
	if e.row.failed {
		e.Failed++
	}
	return nil
}
