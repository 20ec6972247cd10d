package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// outputs resolves the fields, or shows every column that is not hidden where none is named.
func (r *resolver) outputs() []Output {
	if len(r.query.Fields) == 0 {
		var all []Output
		for _, i := range feedmill.ShownOrder(r.columns) {
			if c := &r.columns[i]; !c.Hidden {
				all = append(all, Output{Name: c.Name, Expression: Expression{Column: Column{Column: c, Index: i}}})
			}
		}
		return all
	}
	var outputs []Output
	for i, f := range r.query.Fields {
		column, ok := r.column(f.From, f.Name, f.Place)
		if !ok || r.refuseRepeated(i) || f.FilterOnly {
			continue
		}
		if len(f.Aggregates) == 0 {
			as := f.Place
			if f.As != "" {
				as = beside(as, "as")
			}
			e := Expression{Column: column, Aggregate: f.Aggregate, Period: r.calendar(&f, column)}
			outputs = r.addOutput(outputs, e, f.As, beside(f.Place, "aggregate"), as)
		}
		for _, a := range f.Aggregates {
			fn, as := a.Place, a.Place
			fn.Pointer += "/fn"
			as.Pointer += "/as"
			outputs = r.addOutput(outputs, Expression{Column: column, Aggregate: a.Fn}, a.As, fn, as)
		}
	}
	if !slices.ContainsFunc(r.query.Fields, func(f feedmill.Field) bool { return !f.FilterOnly }) {
		r.faults.Add(beside(r.query.Fields[0].Place, "select"), `every field has "select": false; select at least one field`)
	}
	return outputs
}

// beside is the place of another member of the object that names a field.
func beside(place feedmill.Fault, member string) feedmill.Fault {
	if object, ok := strings.CutSuffix(place.Pointer, "/field"); ok {
		place.Pointer = object + "/" + member
	}
	return place
}

// addOutput adds a column of the result, or a fault where its aggregate or its
// name stands.
func (r *resolver) addOutput(outputs []Output, e Expression, name string, fn, as feedmill.Fault) []Output {
	o := Output{Name: cmp.Or(name, e.Column.Name), Expression: e}
	same := slices.IndexFunc(outputs, func(other Output) bool { return other.Name == o.Name })
	switch {
	case same >= 0 && len(r.views) > 1:
		r.faults.Add(as, fmt.Sprintf("%s and %s both have the name %q in the result; set as for one of them", outputs[same].Column.Label(), e.Column.Label(), o.Name))
	case same >= 0:
		r.faults.Add(as, fmt.Sprintf("the field %q is listed twice", o.Name))
	case e.Aggregate != "" && !slices.Contains(aggregates[e.Aggregate], e.Column.Type):
		r.faults.Add(fn, fmt.Sprintf("%q does not apply to a column of type %s", e.Aggregate, e.Column.Type))
	default:
		return append(outputs, o)
	}
	return outputs
}

// refuseRepeated refuses a field that was named before.
func (r *resolver) refuseRepeated(field int) bool {
	f := &r.query.Fields[field]
	first := slices.IndexFunc(r.query.Fields, func(other feedmill.Field) bool { return other.From == f.From && other.Name == f.Name })
	if first == field {
		return false
	}
	detail := fmt.Sprintf("the field %q is listed twice", feedmill.FieldName{From: f.From, Name: f.Name})
	if isAggregated(f) && isAggregated(&r.query.Fields[first]) {
		detail += `; list it once, with a list such as "aggregate": [{"fn": "min", "as": "low"}, {"fn": "max", "as": "high"}]`
	}
	r.faults.Add(f.Place, detail)
	r.faults.repeated++
	return true
}

func isAggregated(f *feedmill.Field) bool { return f.Aggregate != "" || len(f.Aggregates) > 0 }
