package query

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// MaxAhead is how far ahead a time may be to count as the greatest that was fetched. A
// position beyond it, such as 9999-12-31, would hide everything that comes later.
const MaxAhead = 24 * time.Hour

// since adds the bound of a query for what is new.
func (r *resolver) since(tree *Tree) {
	s := r.query.Since
	if s == nil {
		return
	}
	field, lookback := s.Place, s.Place
	field.Pointer += "/field"
	lookback.Pointer += "/lookback"
	column, ok := r.column("", s.Field, field)
	switch {
	case !ok:
		return
	case tree.Formulas.Of(column) >= 0:
		r.faults.Add(field, "a computed field cannot be used; use a field of the view")
		return
	case !slices.Contains(ordered, column.Type):
		r.faults.Add(field, fmt.Sprintf("a column of type %s cannot be used; use one of %s", column.Type, list(ordered)))
		return
	case tree.Grouped():
		r.faults.Add(field, "a query with aggregates reads all rows and cannot be incremental")
		return
	case s.Lookback != 0 && !slices.Contains(temporal, column.Type):
		r.faults.Add(lookback, fmt.Sprintf("applies only to dates and timestamps; %q has the type %s", s.Field, column.Type))
		return
	}
	tree.Latest = &column
	if slices.Contains(temporal, column.Type) && !r.query.Now.IsZero() {
		tree.Ahead = r.query.Now.Add(MaxAhead)
	}
	if s.From == "" {
		return
	}
	f := &filter{Filter: feedmill.Filter{Values: []feedmill.FilterValue{{Text: s.From}}}, column: column, zone: time.UTC}
	p, err := f.compare(GreaterOrEqual, 0)
	if err != nil {
		r.faults.Add(field, fmt.Sprintf("the value %q that was reached %s", s.From, err))
		return
	}
	if c, ok := p.(Compare); ok {
		if t, ok := c.Value.(time.Time); ok {
			c.Value = t.Add(-s.Lookback)
			p = c
		}
		tree.Since = &c
	}
	if s.Nulls {
		p = Any{p, IsNull{column}}
	}
	tree.Where = append(tree.Where, p)
}
