package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
	"github.com/feedmill/feedmill/internal/suggest"
)

// queryFeed answers the rows that a query in the body asks for.
func (s *Server) queryFeed(c *call) (answer, error) {
	format, refusal := c.outputFormat()
	number := c.versionNumber()
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	q := readRowQuery(body)
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	f, v, err := s.feedVersion(c, number)
	if err != nil {
		return answer{}, err
	}
	if refusal != nil {
		return *refusal, nil
	}
	if q.Limit == 0 && format.paged {
		q.Limit = defaultRows
	}
	a := answer{status: http.StatusOK, contentType: format.contentType}
	a.set("Vary", "Accept")
	if format.extension != "" {
		a.set("Content-Disposition", attachment(f.Name, format.extension))
	}
	return s.sendRows(c, a, v, q, format)
}

// readRowQuery reads a query.
func readRowQuery(o *strictjson.Object) feedmill.Query {
	q := feedmill.Query{WeekStart: time.Monday, Now: now()}
	for _, field := range readObjects(o, "fields", feedmill.MaxQueryFields) {
		readQueryField(field, &q)
	}
	for _, s := range readObjects(o, "sort", feedmill.MaxQueryFields) {
		sort := feedmill.Sort{Place: feedmill.Fault{Pointer: s.Pointer + "/field"}}
		if v, ok := s.Need("field"); ok {
			sort.Name, _ = v.Text()
		}
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
	if v, ok := o.Get("timezone"); ok {
		if name, ok := v.Text(); ok {
			zone, err := time.LoadLocation(name)
			if err != nil || name == "" || name == "Local" {
				o.Fault("timezone", "There is no such time zone; write it as Europe/Paris or UTC.")
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
		o.Fault(name, "This must be an array of objects, not "+strictjson.KindName(v.Kind)+".")
		return nil
	case len(v.Items) == 0 && name == "fields", len(v.Items) > most:
		o.Fault(name, fmt.Sprintf("This must have 1 to %d elements; it has %d.", most, len(v.Items)))
		return nil
	}
	for _, item := range v.Elements() {
		if inner, ok := item.Object(); ok {
			list = append(list, inner)
		}
	}
	return list
}

// readQueryField reads a column that is wanted, and the filters on it.
func readQueryField(o *strictjson.Object, q *feedmill.Query) {
	f := feedmill.Field{Place: feedmill.Fault{Pointer: o.Pointer + "/field"}}
	if v, ok := o.Need("field"); ok {
		f.Name, _ = v.Text()
	}
	if v, ok := o.Get("as"); ok {
		f.As, _ = v.Label(feedmill.MaxNameLen)
	}
	if v, ok := o.Get("aggregate"); ok && v.Kind == '[' {
		f.Aggregates = readAggregates(v)
		if _, named := o.Get("as"); named {
			o.Fault("as", "Each aggregate of a list has its own; leave this one out.")
		}
	} else if ok {
		aggregate, _ := v.Choice(words(feedmill.Aggregates)...)
		f.Aggregate = feedmill.Aggregate(aggregate)
	}
	condition := feedmill.Condition{Name: f.Name, Place: feedmill.Fault{Pointer: o.Pointer}}
	if v, ok := o.Get("filterOption"); ok {
		option, _ := v.Choice("all", "any")
		condition.Any = option == "any"
	}
	for _, filter := range readObjects(o, "filters", feedmill.MaxFilters) {
		condition.Filters = append(condition.Filters, readFilter(filter))
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
		list.Fault(fmt.Sprintf("This must have 1 to %d elements; it has %d.", len(feedmill.Aggregates), n))
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
			v.Fault("This field is required where a field has several aggregates: it is what this one is called in the answer.")
		}
		o.RefuseUnknown()
		all = append(all, a)
	}
	return all
}

func readAggregateName(v strictjson.Field) feedmill.Aggregate {
	name, ok := v.Text()
	known := words(feedmill.Aggregates)
	if ok && !slices.Contains(known, name) {
		detail := "This must be one of " + strings.Join(known, ", ") + "."
		if near := suggest.Nearest(name, known); len(near) > 0 {
			detail += " Did you mean " + strings.Join(near, " or ") + "?"
		}
		v.Fault(detail)
	}
	return feedmill.Aggregate(name)
}

// readFilter reads a test of one value.
func readFilter(o *strictjson.Object) (f feedmill.Filter) {
	if v, ok := o.Need("op"); ok {
		op, _ := v.Text()
		f.Op = feedmill.FilterOp(op)
	}
	if v, ok := o.Get("inverted"); ok {
		f.Inverted, _ = v.Boolean()
	}
	if v, ok := o.Get("caseSensitive"); ok {
		f.CaseSensitive, _ = v.Boolean()
	}
	if v, ok := o.Get("values"); ok {
		if v.Kind != '[' || len(v.Items) > feedmill.MaxFilterValues {
			o.Fault("values", fmt.Sprintf("This must be an array of at most %d values.", feedmill.MaxFilterValues))
		} else {
			for _, item := range v.Elements() {
				f.Values = append(f.Values, readFilterValue(item))
			}
		}
	}
	o.RefuseUnknown()
	return f
}

// readFilterValue reads what a filter compares with. The column's type says later
// what its text means.
func readFilterValue(v strictjson.Field) (out feedmill.FilterValue) {
	switch v.Kind {
	case 'n':
		out.Null = true
	case '"':
		out.Text, _ = v.Text()
	case 't', 'f', '0':
		out.Text = string(v.Raw)
	case '{':
		p, _ := v.Object()
		out.Period = readPeriod(p)
	default:
		v.Fault("This must be a text, a number, a boolean, null, or a period such as {\"n\":7,\"unit\":\"day\"}.")
	}
	return out
}

func readPeriod(o *strictjson.Object) *feedmill.Period {
	p := &feedmill.Period{N: 1}
	if v, ok := o.Get("n"); ok {
		p.N, _ = v.Integer(1, feedmill.MaxPeriod)
	}
	if v, ok := o.Need("unit"); ok {
		unit, _ := v.Choice(words(feedmill.PeriodUnits)...)
		p.Unit = feedmill.PeriodUnit(unit)
	}
	if v, ok := o.Get("includeCurrent"); ok {
		p.IncludeCurrent, _ = v.Boolean()
	}
	o.RefuseUnknown()
	return p
}

// words are names of the domain as plain texts.
func words[T ~string](names []T) []string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return texts
}
