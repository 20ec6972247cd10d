package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// sortKeys resolves what is sorted by.
func (r *resolver) sortKeys(tree *Tree) []Key {
	var keys []Key
	for _, s := range r.query.Sort {
		e, ok := r.sortedBy(tree, s)
		switch {
		case !ok:
		case e.Aggregate == "" && e.Column.Type == columnar.TypeJSON:
			r.faults.Add(s.Place, "a column of type json cannot be sorted")
		default:
			keys = append(keys, Key{Expression: e, Descending: s.Descending})
		}
	}
	return keys
}

// sortedBy finds what a key names: an output, by its name or its column's, or any
// other column where rows are no groups.
func (r *resolver) sortedBy(tree *Tree, s feedmill.Sort) (Expression, bool) {
	var names []string // of the outputs that are made of the column
	isOf := func(o Output) bool { return o.Column.From == s.From && o.Column.Name == s.Name }
	for _, o := range tree.Outputs {
		if isOf(o) {
			names = append(names, o.Name)
		}
	}
	i := slices.IndexFunc(tree.Outputs, func(o Output) bool {
		return o.Name == s.Name && s.From == "" || isOf(o) && len(names) == 1
	})
	if i >= 0 {
		return tree.Outputs[i].Expression, true
	}
	if len(names) > 0 {
		r.faults.Add(s.Place, fmt.Sprintf("the field %q has several aggregates; sort by %s", s.Name, strings.Join(names, " or ")))
		return Expression{}, false
	}
	column, ok := r.column(s.From, s.Name, s.Place)
	if ok && tree.Grouped() {
		r.faults.Add(s.Place, fmt.Sprintf("%q is not a field of this query, which groups rows", column.Label()))
		ok = false
	}
	return Expression{Column: column}, ok
}
