package query

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// outputs resolves the fields, or shows every column where none is named.
func (r *resolver) outputs() []Output {
	if len(r.query.Fields) == 0 {
		all := make([]Output, len(r.columns))
		for i := range r.columns {
			all[i] = Output{Name: r.columns[i].Name, Expression: Expression{Column: Column{Column: &r.columns[i], Index: i}}}
		}
		return all
	}
	var outputs []Output
	for _, f := range r.query.Fields {
		column, ok := r.column(f.Name, f.Place)
		if !ok {
			continue
		}
		o := Output{Name: f.As, Expression: Expression{Column: column, Aggregate: f.Aggregate}}
		if o.Name == "" {
			o.Name = f.Name
		}
		switch {
		case slices.ContainsFunc(outputs, func(other Output) bool { return other.Column.Name == f.Name || other.Name == o.Name }):
			r.faults.Add(f.Place, fmt.Sprintf("the field %q is named twice", o.Name))
		case f.Aggregate != "" && !slices.Contains(aggregates[f.Aggregate], column.Type):
			r.faults.Add(f.Place, fmt.Sprintf("there is no %q of a column of type %s", f.Aggregate, column.Type))
		default:
			outputs = append(outputs, o)
		}
	}
	return outputs
}

// aggregates has the types of columns that each aggregate can be made of.
var aggregates = map[feedmill.Aggregate][]columnar.Type{
	feedmill.AggregateSum:           numeric,
	feedmill.AggregateAvg:           numeric,
	feedmill.AggregateMin:           equatable,
	feedmill.AggregateMax:           equatable,
	feedmill.AggregateCount:         columnar.Types,
	feedmill.AggregateCountDistinct: equatable,
}

// sortKeys resolves what is sorted by: an output, by its name or its column's, or
// any other column where rows are no groups.
func (r *resolver) sortKeys(tree *Tree) []Key {
	var keys []Key
	for _, s := range r.query.Sort {
		key := Key{Descending: s.Descending}
		if i := slices.IndexFunc(tree.Outputs, func(o Output) bool { return o.Column.Name == s.Name || o.Name == s.Name }); i >= 0 {
			key.Expression = tree.Outputs[i].Expression
		} else {
			column, ok := r.column(s.Name, s.Place)
			if !ok {
				continue
			}
			if tree.Grouped() {
				r.faults.Add(s.Place, fmt.Sprintf("%q is no field of this query, whose rows are groups", s.Name))
				continue
			}
			key.Column = column
		}
		if key.Aggregate == "" && key.Column.Type == columnar.TypeJSON {
			r.faults.Add(s.Place, "a column of type json has no order")
			continue
		}
		keys = append(keys, key)
	}
	return keys
}
