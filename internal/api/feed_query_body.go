package api

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
)

// queryFeed answers the rows that a query in the body asks for.
func (s *Server) queryFeed(c *call) (answer, error) {
	format, refusal := c.outputFormat()
	number := c.versionNumber()
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	q := body.rowQuery()
	if err := body.done(); err != nil {
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

// rowQuery reads a query.
func (o *object) rowQuery() feedmill.Query {
	q := feedmill.Query{WeekStart: time.Monday, Now: now()}
	for _, field := range o.objects("fields", feedmill.MaxQueryFields) {
		field.queryField(&q)
	}
	for _, s := range o.objects("sort", feedmill.MaxQueryFields) {
		sort := feedmill.Sort{Place: feedmill.Fault{Pointer: s.at + "/field"}}
		if v, ok := s.need("field"); ok {
			sort.Name, _ = s.text("field", v)
		}
		if v, ok := s.get("order"); ok {
			order, _ := s.choice("order", v, "asc", "desc")
			sort.Descending = order == "desc"
		}
		s.refuseUnknown()
		q.Sort = append(q.Sort, sort)
	}
	if v, ok := o.get("limit"); ok {
		n, _ := o.integer("limit", v, 1, feedmill.MaxQueryRows)
		q.Limit = int64(n)
	}
	if v, ok := o.get("timezone"); ok {
		if name, ok := o.text("timezone", v); ok {
			zone, err := time.LoadLocation(name)
			if err != nil || name == "" || name == "Local" {
				o.fault("timezone", "There is no such time zone; write it as Europe/Paris or UTC.")
			}
			q.Zone = zone
		}
	}
	if v, ok := o.get("weekStart"); ok {
		if day, ok := o.choice("weekStart", v, weekdays...); ok {
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

// objects reads an array of objects, if there is one.
func (o *object) objects(name string, most int) (list []*object) {
	v, ok := o.get(name)
	switch {
	case !ok:
		return nil
	case v.kind != '[':
		o.fault(name, "This must be an array of objects, not "+kindName(v.kind)+".")
		return nil
	case len(v.items) == 0 && name == "fields", len(v.items) > most:
		o.fault(name, fmt.Sprintf("This must have 1 to %d elements; it has %d.", most, len(v.items)))
		return nil
	}
	below := &object{c: o.c, at: o.pointer(name)}
	for i, item := range v.items {
		if inner, ok := below.inner(strconv.Itoa(i), item); ok {
			list = append(list, inner)
		}
	}
	return list
}

// queryField reads a column that is wanted, and the filters on it.
func (o *object) queryField(q *feedmill.Query) {
	f := feedmill.Field{Place: feedmill.Fault{Pointer: o.at + "/field"}}
	if v, ok := o.need("field"); ok {
		f.Name, _ = o.text("field", v)
	}
	if v, ok := o.get("as"); ok {
		f.As, _ = o.label("as", v, feedmill.MaxNameLen)
	}
	if v, ok := o.get("aggregate"); ok {
		aggregate, _ := o.choice("aggregate", v, words(feedmill.Aggregates)...)
		f.Aggregate = feedmill.Aggregate(aggregate)
	}
	condition := feedmill.Condition{Name: f.Name, Place: feedmill.Fault{Pointer: o.at}}
	if v, ok := o.get("filterOption"); ok {
		option, _ := o.choice("filterOption", v, "all", "any")
		condition.Any = option == "any"
	}
	for _, filter := range o.objects("filters", feedmill.MaxFilters) {
		condition.Filters = append(condition.Filters, filter.filter())
	}
	o.refuseUnknown()
	q.Fields = append(q.Fields, f)
	if len(condition.Filters) > 0 {
		q.Where = append(q.Where, condition)
	}
}

// filter reads a test of one value.
func (o *object) filter() (f feedmill.Filter) {
	if v, ok := o.need("op"); ok {
		op, _ := o.text("op", v)
		f.Op = feedmill.FilterOp(op)
	}
	if v, ok := o.get("inverted"); ok {
		f.Inverted, _ = o.boolean("inverted", v)
	}
	if v, ok := o.get("caseSensitive"); ok {
		f.CaseSensitive, _ = o.boolean("caseSensitive", v)
	}
	if v, ok := o.get("values"); ok {
		if v.kind != '[' || len(v.items) > feedmill.MaxFilterValues {
			o.fault("values", fmt.Sprintf("This must be an array of at most %d values.", feedmill.MaxFilterValues))
		} else {
			below := &object{c: o.c, at: o.pointer("values")}
			for i, item := range v.items {
				f.Values = append(f.Values, below.filterValue(strconv.Itoa(i), item))
			}
		}
	}
	o.refuseUnknown()
	return f
}

// filterValue reads what a filter compares with. The column's type says later
// what its text means.
func (o *object) filterValue(name string, v value) (out feedmill.FilterValue) {
	switch v.kind {
	case 'n':
		out.Null = true
	case '"':
		out.Text, _ = o.text(name, v)
	case 't', 'f', '0':
		out.Text = string(v.raw)
	case '{':
		p, _ := o.inner(name, v)
		out.Period = p.period()
	default:
		o.fault(name, "This must be a text, a number, a boolean, null, or a period such as {\"n\":7,\"unit\":\"day\"}.")
	}
	return out
}

func (o *object) period() *feedmill.Period {
	p := &feedmill.Period{N: 1}
	if v, ok := o.get("n"); ok {
		p.N, _ = o.integer("n", v, 1, feedmill.MaxPeriod)
	}
	if v, ok := o.need("unit"); ok {
		unit, _ := o.choice("unit", v, words(feedmill.PeriodUnits)...)
		p.Unit = feedmill.PeriodUnit(unit)
	}
	if v, ok := o.get("includeCurrent"); ok {
		p.IncludeCurrent, _ = o.boolean("includeCurrent", v)
	}
	o.refuseUnknown()
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
