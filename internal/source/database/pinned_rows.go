package database

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// pinnedRows keeps the columns of a result numbers of the kind that they are pinned to,
// as long as every value survives.
type pinnedRows struct {
	out  Rows
	feed feedmill.ID
	// meant are the columns that a query depends on, as they are pinned; nil for others.
	meant []*feedmill.Column
	// to build the columns that are converted, nil where one stays as it comes.
	to []*Builder
}

// keepNumbers hands rows on as a query means them: in the columns that it depends on,
// whole numbers stay whole and floats stay floats.
func (f *followed) keepNumbers(out Rows) Rows {
	if f.meant == nil {
		return out
	}
	outputs := f.meant.Outputs
	p := &pinnedRows{out: out, feed: f.feed, meant: make([]*feedmill.Column, len(outputs)), to: make([]*Builder, len(outputs))}
	for i, o := range outputs {
		if f.uses[o.Column.Index] != nil {
			column := o.Type()
			p.meant[i] = &column
		}
	}
	return p
}

// Columns takes the columns as they come.
func (p *pinnedRows) Columns(ctx context.Context, columns []feedmill.Column) error {
	for i := range columns {
		c, meant := &columns[i], p.meant[i]
		switch {
		case meant == nil || c.Type == meant.Type:
			continue
		case c.Type == columnar.TypeNumber && isWhole(meant):
		case meant.Type == columnar.TypeNumber && (c.Type == columnar.TypeInteger || c.Type == columnar.TypeDecimal):
		default:
			continue
		}
		c.Type, c.Precision, c.Scale = meant.Type, meant.Precision, meant.Scale
		p.to[i] = NewBuilder(*c)
	}
	return p.out.Columns(ctx, columns)
}

// isWhole reports whether a column is one of whole numbers: integers and their sums.
func isWhole(c *feedmill.Column) bool {
	return c.Type == columnar.TypeInteger || c.Type == columnar.TypeDecimal && c.Precision > 0 && c.Scale == 0
}

// Rows takes rows. It fails where a value is not the same as a number of the pinned kind.
func (p *pinnedRows) Rows(ctx context.Context, run []columnar.Vector) error {
	converted := run
	for i, to := range p.to {
		if to == nil {
			continue
		}
		if &converted[0] == &run[0] {
			converted = append([]columnar.Vector(nil), run...)
		}
		v := &run[i]
		for row := range v.Len {
			if !addNumber(to, v, row) {
				return Fail(feedmill.ProblemTypeChanged, fmt.Sprintf("The column %s was of type %s when the query was created, and the value %s is not exact in that type. ", to.Name(), p.meant[i].Type, valueText(v, row))+howToAccept(p.feed), nil)
			}
		}
		converted[i] = to.Take()
	}
	return p.out.Rows(ctx, converted)
}

// addNumber adds a number as one of another kind, where it is the same.
func addNumber(to *Builder, v *columnar.Vector, row int) bool {
	const exact = 1 << 53 // up to here every whole number is a float
	switch {
	case v.Null(row):
		to.Null()
	case v.Floats != nil:
		n := v.Floats[row]
		if n != math.Trunc(n) || math.Abs(n) > exact {
			return false
		}
		to.Int(int64(n))
	default:
		n := new(big.Rat).SetFrac(digits(v, row), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil))
		if !survives(n) {
			return false
		}
		float, _ := n.Float64()
		to.Float(float)
	}
	return true
}
