package database

import (
	"context"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/query"
)

// joined is what the views of a query with joins are. It is empty for a query of one view.
type joined struct {
	// places are where the joined views are, and ends are where the columns of each view end
	// among those of all, the first view included.
	places []feedmill.PinnedView
	ends   []int
	// tables are the joined views by themselves, and steps are the views up to each of them.
	tables []Table
	steps  []Joinable
	// opening is the join whose view is being opened, counted from 1; 0 is the first view.
	opening int
	place   feedmill.Fault
}

// openJoined finds the tables of a definition with joins, and joins them.
func (d *definition) openJoined(ctx context.Context, db Database, pins feedmill.Pins, origin string, rules feedmill.Rules) (Table, error) {
	d.joined = joined{}
	first, err := d.openFirst(ctx, db, pins, origin, rules)
	if err != nil {
		return nil, err
	}
	d.joined.ends = []int{len(first.Fields())}
	table, ok := first.(Joinable)
	if !ok {
		return nil, feedmill.Invalid("", feedmill.Fault{Pointer: "/query/joins", Detail: "joins are not supported for the views of this service. Create feeds from the views, and join the feeds: serviceName feeds."})
	}
	alias := freeAlias(d.query.Joins)
	for i, j := range d.query.Joins {
		d.joined.opening, d.joined.place = i+1, j.Place
		view := j.View
		at := slices.IndexFunc(pins.Joins, func(p feedmill.PinnedView) bool { return p.As == j.As })
		if at >= 0 && pins.Joins[at].Schema != "" && pins.Origin == origin {
			view = QualifiedName(pins.Joins[at].Schema, pins.Joins[at].View)
		}
		other, err := describe(ctx, db, view, rules)
		if err != nil {
			return nil, err
		}
		if at >= 0 && pins.Joins[at].SQLView != other.SQLView() {
			return nil, swapped(j.View, "the view of the join")
		}
		schema, name := other.At()
		d.joined.places = append(d.joined.places, feedmill.PinnedView{As: j.As, Schema: schema, View: name, SQLView: other.SQLView()})
		table = table.Join(alias, j.As, other).(Joinable)
		d.joined.ends = append(d.joined.ends, len(table.Fields()))
		d.joined.tables, d.joined.steps = append(d.joined.tables, other), append(d.joined.steps, table)
	}
	return table, nil
}

// freeAlias is an alias for the first view that no join has.
func freeAlias(joins []feedmill.Join) string {
	alias := "t"
	for i := 0; i < len(joins); i++ {
		if strings.EqualFold(joins[i].As, alias) {
			alias += "_"
			i = -1
		}
	}
	return alias
}

// pointer is the position of the view that was opened last.
func (j *joined) pointer() string {
	if j.opening == 0 {
		return "/viewName"
	}
	return j.place.Pointer + "/view"
}

// views divides columns into those of each view.
func (j *joined) views(joins []feedmill.Join, columns []feedmill.Column) []query.View {
	if len(j.ends) == 0 {
		return []query.View{{Columns: columns}}
	}
	views, first := make([]query.View, len(j.ends)), 0
	for i, end := range j.ends {
		views[i].Columns = columns[first:end]
		if i > 0 {
			views[i].As = joins[i-1].As
		}
		first = end
	}
	return views
}

// check notes columns that the database cannot compare exactly.
func (j *joined) check(joins []feedmill.Join, tree *query.Tree, faults *query.Faults) {
	if len(j.steps) == 0 {
		return
	}
	if at, pair, err := j.steps[len(j.steps)-1].CanJoin(tree.Joins); err != nil {
		place := joins[at].Place
		if pair < len(joins[at].On) {
			place = joins[at].On[pair].Place
		}
		faults.Add(place, err.Error())
	}
}
