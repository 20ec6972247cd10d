package query

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/suggest"
)

// Resolve checks a query against the columns of a table. Where there are faults
// the tree lacks what is at fault, so that a caller can look for faults of its own
// in the rest and tell of all of them together.
func Resolve(q feedmill.Query, columns []feedmill.Column) (*Tree, *Faults) {
	r := &resolver{query: &q, columns: columns, zone: cmp.Or(q.Zone, time.UTC), faults: new(Faults)}
	tree := &Tree{Limit: q.Limit, Where: r.where(), Outputs: r.outputs(), Filters: r.placed, Bounds: r.bounds}
	tree.Sort = r.sortKeys(tree)
	r.since(tree)
	return tree, r.faults
}

// resolver makes a tree of one query.
type resolver struct {
	query   *feedmill.Query
	columns []feedmill.Column
	zone    *time.Location
	faults  *Faults
	// bounds are the ranges that periods were found to be.
	bounds []Bound
	// placed are the filters that were resolved.
	placed []Placed
}

// column finds a column by its name. One that is not there is a fault.
func (r *resolver) column(name string, place feedmill.Fault) (Column, bool) {
	all := make([]string, len(r.columns))
	for i := range r.columns {
		if r.columns[i].Name == name {
			return Column{Column: &r.columns[i], Index: i}, true
		}
		all[i] = r.columns[i].Name
	}
	detail := fmt.Sprintf("there is no column %q", name)
	if near := suggest.Nearest(name, all); len(near) > 0 {
		detail += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	r.faults.Add(place, detail)
	return Column{}, false
}

// where resolves the conditions.
func (r *resolver) where() All {
	var where All
	for _, c := range r.query.Where {
		column, ok := r.column(c.Name, c.Place)
		if !ok {
			continue
		}
		var tests []Predicate
		for i, f := range c.Filters {
			test, err := r.filter(column, f, c.Place)
			if err != nil {
				r.addFilterFault(c.Place, i, err)
				continue
			}
			tests = append(tests, test)
			r.placed = append(r.placed, Placed{Column: column, Op: f.Op, Inverted: f.Inverted, Test: len(where)})
			r.addBound(column, f.Op, test)
		}
		switch {
		case len(tests) == 0:
		case c.Any:
			where = append(where, Any(tests))
		default:
			where = append(where, All(tests))
		}
	}
	return where
}

// addFilterFault adds a fault of a filter, or of one of its values.
func (r *resolver) addFilterFault(place feedmill.Fault, filter int, err error) {
	if place.Parameter == "" {
		place.Pointer += "/filters/" + strconv.Itoa(filter)
		if e, ok := errors.AsType[*valueError](err); ok {
			place.Pointer += "/values/" + strconv.Itoa(e.value)
		} else if e, ok := errors.AsType[*memberError](err); ok {
			place.Pointer += "/" + e.member
		}
	}
	r.faults.Add(place, err.Error())
}

// memberError is a fault of a member of a filter.
type memberError struct{ member, detail string }

func (e *memberError) Error() string { return e.detail }

// valueError is a fault of one value of a filter, by its place.
type valueError struct {
	value  int
	detail string
}

func (e *valueError) Error() string { return e.detail }
