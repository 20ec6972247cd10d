package query

import (
	"fmt"
	"slices"

	"github.com/feedmill/feedmill"
)

// having resolves the filters on aggregates.
func (r *resolver) having() (having All) {
	for i := range r.query.Fields {
		f := &r.query.Fields[i]
		if len(f.Having) == 0 {
			continue
		}
		column, ok := r.known(f.From, f.Name)
		if !ok {
			continue // which the field is refused for
		}
		for _, h := range f.Having {
			fn := h.Place
			fn.Pointer += "/fn"
			e := Expression{Column: column, Aggregate: h.Fn}
			if h.Fn == "" {
				e.Aggregate = onlyAggregate(f)
			}
			switch {
			case e.Aggregate == "" && len(f.Aggregates) > 1:
				r.faults.Add(fn, "fn is required for a field with several aggregates")
			case e.Aggregate == "":
				r.faults.Add(fn, "fn is required for a field without an aggregate")
			case !slices.Contains(aggregates[e.Aggregate], column.Type):
				r.faults.Add(fn, fmt.Sprintf("%q does not apply to a column of type %s", e.Aggregate, column.Type))
			default:
				if p, ok := r.test(Derive(e), h.Filter, h.Place, 0); ok {
					having = append(having, p)
				}
			}
		}
	}
	return having
}

// onlyAggregate returns the aggregate of a field that has one.
func onlyAggregate(f *feedmill.Field) feedmill.Aggregate {
	if len(f.Aggregates) == 1 {
		return f.Aggregates[0].Fn
	}
	return f.Aggregate
}

// Having writes the clause that selects groups, empty where all are. The function writes an
// aggregate.
func (w *Writer) Having(t *Tree, aggregate func(Expression) string) string {
	if len(t.Having) == 0 {
		return ""
	}
	plain := w.column
	defer func() { w.column = plain }()
	w.column = func(c Column) string {
		if c.Derived == nil {
			return plain(c)
		}
		return t.Bounded(*c.Derived, aggregate(*c.Derived))
	}
	return " HAVING " + w.Predicate(t.Having)
}
