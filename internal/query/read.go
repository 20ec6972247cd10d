package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
	"github.com/feedmill/feedmill/internal/suggest"
)

// Read reads the query object of a request, whose periods count from now. What is
// wrong is noted where the object notes it; members that are not known are left to
// the caller.
func Read(o *strictjson.Object, now time.Time) feedmill.Query {
	q := feedmill.Query{WeekStart: time.Monday, Now: now, Joins: readJoins(o)}
	q.Computed = readComputed(o)
	for _, field := range readObjects(o, "fields", feedmill.MaxQueryFields) {
		readField(field, &q)
	}
	for _, s := range readObjects(o, "sort", feedmill.MaxQueryFields) {
		sort := feedmill.Sort{Place: feedmill.Fault{Pointer: s.Pointer + "/field"}}
		if v, ok := s.Need("field"); ok {
			sort.Name, _ = v.Text()
		}
		sort.From = readFrom(s)
		if v, ok := s.Get("order"); ok {
			order, _ := v.Choice("asc", "desc")
			sort.Descending = order == "desc"
		}
		s.RefuseUnknown()
		q.Sort = append(q.Sort, sort)
	}
	if v, ok := o.Get("limit"); ok {
		n, _ := v.Integer(1, feedmill.MaxQueryRows)
		q.Limit = int64(n)
	}
	if v, ok := o.Get("offset"); ok {
		n, _ := v.Integer(0, feedmill.MaxQueryRows)
		q.Offset = int64(n)
		if n > 0 && len(q.Sort) == 0 {
			o.Fault("offset", "offset requires sort, because rows have no order without it. Add sort or remove offset.")
		}
	}
	if v, ok := o.Given("where"); ok {
		q.Tree = readWhere(v)
	}
	if v, ok := o.Get("timezone"); ok {
		if name, ok := v.Text(); ok {
			zone, err := time.LoadLocation(name)
			if err != nil || name == "" || name == "Local" {
				o.Fault("timezone", "timezone is not a known time zone; use an IANA name such as Europe/Paris or UTC.")
			}
			q.Zone = zone
		}
	}
	if v, ok := o.Get("weekStart"); ok {
		if day, ok := v.Choice(weekdays...); ok {
			for i, name := range weekdays {
				if name == day {
					q.WeekStart = time.Weekday(i)
				}
			}
		}
	}
	return q
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// readObjects reads an array of objects, if there is one.
func readObjects(o *strictjson.Object, name string, most int) (list []*strictjson.Object) {
	v, ok := o.Get(name)
	switch {
	case !ok:
		return nil
	case v.Kind != '[':
		o.Fault(name, "Must be an array of objects, not "+strictjson.KindName(v.Kind)+".")
		return nil
	case len(v.Items) == 0 && name == "fields", len(v.Items) > most:
		o.Fault(name, fmt.Sprintf("Must have 1 to %d elements; it has %d.", most, len(v.Items)))
		return nil
	}
	for _, item := range v.Elements() {
		if inner, ok := item.Object(); ok {
			list = append(list, inner)
		}
	}
	return list
}

// readField reads a column that is wanted, and the filters on it.
func readField(o *strictjson.Object, q *feedmill.Query) {
	f := feedmill.Field{Place: feedmill.Fault{Pointer: o.Pointer + "/field"}}
	if v, ok := o.Need("field"); ok {
		f.Name, _ = v.Text()
	}
	f.From = readFrom(o)
	if v, ok := o.Get("as"); ok {
		f.As, _ = v.Label(feedmill.MaxNameLen)
	}
	if v, ok := o.Get("select"); ok {
		selected, ok := v.Boolean()
		f.FilterOnly = ok && !selected
	}
	if v, ok := o.Get("group"); ok {
		group, _ := v.Choice(texts(groupUnits)...)
		f.Group = feedmill.PeriodUnit(group)
		if o.Has("aggregate") {
			o.Fault("group", "group cannot be combined with aggregate. Remove one of them.")
		}
	}
	if v, ok := o.Get("aggregate"); ok && v.Kind == '[' {
		f.Aggregates = readAggregates(v)
		if _, named := o.Get("as"); named {
			o.Fault("as", "Remove this member; each aggregate in a list has its own.")
		}
	} else if ok {
		aggregate, _ := v.Choice(texts(feedmill.Aggregates)...)
		f.Aggregate = feedmill.Aggregate(aggregate)
	}
	condition := feedmill.Condition{From: f.From, Name: f.Name, Place: feedmill.Fault{Pointer: o.Pointer}}
	for _, filter := range readObjects(o, "filters", feedmill.MaxFilters) {
		condition.Filters = append(condition.Filters, readFilter(filter))
	}
	// Without filters there is nothing to combine, and whatever stands here is let be.
	if v, ok := o.Get("filterOption"); ok && len(condition.Filters) > 0 {
		option, _ := v.Choice("all", "any")
		condition.Any = option == "any"
	}
	f.Having = readHaving(o)
	if f.FilterOnly {
		for _, name := range []string{"as", "aggregate", "group"} {
			if o.Has(name) {
				o.Fault(name, "Remove this member; a field with \"select\": false only filters.")
			}
		}
	}
	o.RefuseUnknown()
	q.Fields = append(q.Fields, f)
	if len(condition.Filters) > 0 {
		q.Where = append(q.Where, condition)
	}
}

// readAggregates reads a list of aggregates of one field. Where there are several
// each has a name.
func readAggregates(list strictjson.Field) (all []feedmill.NamedAggregate) {
	n := len(list.Items)
	if n < 1 || n > len(feedmill.Aggregates) {
		list.Fault(fmt.Sprintf("Must have 1 to %d elements; it has %d.", len(feedmill.Aggregates), n))
		return nil
	}
	for _, item := range list.Elements() {
		o, ok := item.Object()
		if !ok {
			continue
		}
		a := feedmill.NamedAggregate{Place: feedmill.Fault{Pointer: o.Pointer}}
		if v, ok := o.Need("fn"); ok {
			a.Fn = readAggregateName(v)
		}
		if v, ok := o.Get("as"); ok {
			a.As, _ = v.Label(feedmill.MaxNameLen)
		} else if n > 1 {
			v.Fault("as is required for a field with several aggregates; it names this aggregate in the result.")
		}
		o.RefuseUnknown()
		all = append(all, a)
	}
	return all
}

func readAggregateName(v strictjson.Field) feedmill.Aggregate {
	name, ok := v.Text()
	known := texts(feedmill.Aggregates)
	if ok && !slices.Contains(known, name) {
		detail := "Must be one of " + strings.Join(known, ", ") + "."
		if near := suggest.Nearest(name, known); len(near) > 0 {
			detail += " Did you mean " + strings.Join(near, " or ") + "?"
		}
		v.Fault(detail)
	}
	return feedmill.Aggregate(name)
}
