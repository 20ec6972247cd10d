package feedmill

import (
	"errors"
	"strings"
)

// The limits of the conditions of a query.
const (
	// MaxWhereFilters is the maximum number of filters of a condition tree, and
	// MaxWhereDepth that of its levels.
	MaxWhereFilters = 200
	MaxWhereDepth   = 10
	// MaxHaving is the maximum number of filters on aggregates of a field.
	MaxHaving = 20
)

// WhereNode is a condition on rows: a filter of a field, or a list of conditions of which
// all or any must match.
type WhereNode struct {
	// All and Any are the conditions of a list; both are nil for a filter.
	All, Any []WhereNode
	// Name is the field of a filter, and From the alias of its view; empty for the first view.
	From   string
	Name   string
	Filter Filter
	// Place is the position in the request. Faults have pointers below it, such as
	// /values/1.
	Place Fault
}

// Leaves calls visit for every filter of the tree.
func (n *WhereNode) Leaves(visit func(*WhereNode)) {
	if n == nil {
		return
	}
	for _, list := range [][]WhereNode{n.All, n.Any} {
		for i := range list {
			list[i].Leaves(visit)
		}
	}
	if n.All == nil && n.Any == nil {
		visit(n)
	}
}

// Having is a filter on an aggregate of a field. It selects groups.
type Having struct {
	// Fn is empty for the only aggregate of the field.
	Fn     Aggregate
	Filter Filter
	// Place is the position in the request. Faults have pointers below it.
	Place Fault
}

// ParseHaving reads a filter on an aggregate, of the form fn(field):op:value,value, after a "!"
// if it is inverted. The field may be in quotes.
func ParseHaving(text string) (field string, h Having, err error) {
	rest, inverted := strings.CutPrefix(text, "!")
	h.Filter.Inverted = inverted
	fn, rest, found := strings.Cut(rest, "(")
	item, rest, err := ScanItem(rest, ")")
	if err != nil {
		return "", h, err
	}
	rest, ok := strings.CutPrefix(rest, "):")
	if !found || !ok || fn == "" || item.Text == "" {
		return "", h, errors.New("must have the form fn(field):op:value,value, such as sum(amount):gt:1000")
	}
	h.Fn = Aggregate(fn)
	return item.Text, h, h.Filter.parse(rest)
}
