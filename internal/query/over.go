package query

import (
	"math/big"
	"slices"

	"github.com/feedmill/feedmill"
)

// Over is the tree over columns that stand where those do that it was resolved
// over, of which more is known now, such as the digits of decimals.
func (t *Tree) Over(columns []feedmill.Column) *Tree {
	over := *t
	over.Formulas, columns = t.Formulas.over(columns)
	o := others(columns)
	over.Joins = make([]Join, len(t.Joins))
	for i, j := range t.Joins {
		over.Joins[i] = Join{Kind: j.Kind, Exists: j.Exists}
		for _, p := range j.On {
			over.Joins[i].On = append(over.Joins[i].On, Pair{o.column(p.Left), o.column(p.Right)})
		}
	}
	over.Outputs = make([]Output, len(t.Outputs))
	for i, out := range t.Outputs {
		over.Outputs[i] = Output{o.expression(out.Expression), out.Name}
	}
	over.Sort = make([]Key, len(t.Sort))
	for i, k := range t.Sort {
		over.Sort[i] = Key{o.expression(k.Expression), k.Descending}
	}
	over.Where, over.Having = o.all(t.Where), o.all(t.Having)
	if t.Latest != nil {
		latest := o.column(*t.Latest)
		over.Latest = &latest
	}
	if t.Since != nil {
		since := *t.Since
		since.Column = o.column(since.Column)
		over.Since = &since
	}
	return &over
}

// others are columns that take the places of others.
type others []feedmill.Column

func (o others) column(c Column) Column {
	if c.Derived != nil {
		return Derive(o.expression(*c.Derived))
	}
	return Column{Column: &o[c.Index], Index: c.Index, From: c.From}
}

func (o others) expression(e Expression) Expression {
	return Expression{o.column(e.Column), e.Aggregate, e.Period}
}

func (o others) all(parts []Predicate) []Predicate {
	all := make([]Predicate, len(parts))
	for i, p := range parts {
		all[i] = o.predicate(p)
	}
	return all
}

func (o others) predicate(p Predicate) Predicate {
	switch p := p.(type) {
	case All:
		return All(o.all(p))
	case Any:
		return Any(o.all(p))
	case Not:
		return Not{o.predicate(p.Predicate)}
	case IsNull:
		p.Column = o.column(p.Column)
		return p
	case IsEmpty:
		p.Column = o.column(p.Column)
		return p
	case Compare:
		p.Column = o.column(p.Column)
		if n, ok := p.Value.(*big.Rat); ok {
			// A value between two that the digits can write, or beyond all of them, must not
			// be rounded to one of them.
			return compareExact(p.Column, p.Comparison, n)
		}
		return p
	case Range:
		p.Column = o.column(p.Column)
		return p
	case Match:
		p.Column = o.column(p.Column)
		return p
	}
	return p
}

// Tests reports whether a filter is about a column of the table.
func (t *Tree) Tests(index int) bool {
	return slices.ContainsFunc(columnsOf(t.Where), func(c Column) bool { return t.Formulas.reads(c, index) })
}

// Gives reports whether a column of the table is needed for the result, besides
// filters.
func (t *Tree) Gives(index int) bool {
	return t.Latest != nil && t.Latest.Index == index ||
		slices.ContainsFunc(t.Joins, func(j Join) bool {
			return slices.ContainsFunc(j.On, func(p Pair) bool { return p.Left.Index == index || p.Right.Index == index })
		}) ||
		slices.ContainsFunc(t.Tested(), func(e Expression) bool { return t.Formulas.reads(e.Column, index) }) ||
		slices.ContainsFunc(t.Outputs, func(o Output) bool { return t.Formulas.reads(o.Column, index) }) ||
		slices.ContainsFunc(t.Sort, func(k Key) bool { return t.Formulas.reads(k.Column, index) })
}

// WhereBefore returns the filters that are about columns before an index only.
func (t *Tree) WhereBefore(index int) (where All) {
	for _, p := range t.Where {
		if !slices.ContainsFunc(columnsOf(p), func(c Column) bool { return c.Index >= index }) {
			where = append(where, p)
		}
	}
	return where
}
