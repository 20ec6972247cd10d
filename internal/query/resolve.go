package query

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
)

// View is a view that a query reads, with its alias. The first view has none.
type View struct {
	As      string
	Columns []feedmill.Column
}

// Resolve checks a query against the columns of a table. Where there are faults
// the tree lacks what is at fault, so that a caller can look for faults of its own
// in the rest and tell of all of them together.
func Resolve(q feedmill.Query, columns []feedmill.Column) (*Tree, *Faults) {
	return ResolveViews(q, []View{{Columns: columns}})
}

// ResolveViews is [Resolve] for a query with joins. There is a view for each join, in the same
// order, after the first view. The columns of the tree are those of all views, one after the
// other.
func ResolveViews(q feedmill.Query, views []View) (*Tree, *Faults) {
	r := &resolver{query: &q, zone: cmp.Or(q.Zone, time.UTC), faults: new(Faults)}
	r.addViews(views)
	tree := &Tree{Limit: q.Limit, Offset: q.Offset, Joins: r.joins(), Formulas: r.computed()}
	tree.Where, tree.Outputs = r.where(), r.outputs()
	tree.Having = r.having()
	tree.Filters, tree.Bounds = r.placed, r.bounds
	tree.Sort = r.sortKeys(tree)
	r.since(tree)
	return tree, r.faults
}

// resolver makes a tree of one query.
type resolver struct {
	query *feedmill.Query
	// columns are those of all views, one after the other.
	columns []feedmill.Column
	views   []placedView
	zone    *time.Location
	faults  *Faults
	// failed are computed fields with faults.
	failed []string
	// bounds are the ranges that periods were found to be.
	bounds []Bound
	// placed are the filters that were resolved.
	placed []Placed
}

// column finds a column by the alias of its view and its name. One that is not there is a fault.
func (r *resolver) column(from, name string, place feedmill.Fault) (Column, bool) {
	if from == "" && slices.Contains(r.failed, name) {
		return Column{}, false
	}
	v, ok := r.view(from, place)
	if !ok {
		return Column{}, false
	}
	if c, ok := r.find(v, name); ok {
		return c, true
	}
	r.faults.Add(place, r.noColumn(v, name))
	return Column{}, false
}

// where resolves the conditions.
func (r *resolver) where() All {
	var where All
	for _, c := range r.query.Where {
		column, ok := r.column(c.From, c.Name, c.Place)
		if !ok {
			continue
		}
		var tests []Predicate
		for i, f := range c.Filters {
			place := c.Place
			if place.Parameter == "" {
				place.Pointer += "/filters/" + strconv.Itoa(i)
			}
			if test, ok := r.test(column, f, place, len(where)); ok {
				tests = append(tests, test)
			}
		}
		switch {
		case len(tests) == 0:
		case c.Any:
			where = append(where, Any(tests))
		default:
			where = append(where, All(tests))
		}
	}
	return append(where, r.tree(len(where))...)
}

// test resolves a filter that is a part of a test. What is wrong with it is noted.
func (r *resolver) test(column Column, f feedmill.Filter, place feedmill.Fault, test int) (Predicate, bool) {
	p, err := r.filter(column, f, place)
	if err != nil {
		r.addFilterFault(place, err)
		return nil, false
	}
	r.placed = append(r.placed, Placed{Column: column, Op: f.Op, Inverted: f.Inverted, Test: test})
	r.addBound(column, f.Op, p)
	return p, true
}

// addFilterFault adds a fault of a filter, or of one of its values.
func (r *resolver) addFilterFault(place feedmill.Fault, err error) {
	if place.Parameter == "" {
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
