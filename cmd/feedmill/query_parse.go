package main

import (
	"errors"
	"strings"

	"github.com/feedmill/feedmill"
)

// addField adds a field of the form NAME, NAME=ALIAS, or NAME:AGGREGATE=ALIAS.
func (q *queryBody) addField(text string) error {
	name, rest, err := feedmill.ScanItem(text, ":=")
	if err != nil || name.Text == "" {
		return errors.Join(err, errors.New("must be NAME, NAME=ALIAS or NAME:AGGREGATE=ALIAS"))
	}
	f := queryField{Field: name.Text}
	rest, f.As, _ = strings.Cut(rest, "=")
	if fn, ok := strings.CutPrefix(rest, ":"); ok {
		f.Aggregate, f.As = []queryAggregate{{fn, f.As}}, ""
		for i := range q.Fields {
			if old := &q.Fields[i]; old.Field == f.Field && len(old.Aggregate) > 0 {
				old.Aggregate = append(old.Aggregate, f.Aggregate...)
				return nil
			}
		}
	}
	q.Fields = append(q.Fields, f)
	return nil
}

// addGroup adds a period of the form UNIT:FIELD or UNIT:FIELD=ALIAS.
func (q *queryBody) addGroup(text string) error {
	unit, rest, _ := strings.Cut(text, ":")
	name, rest, err := feedmill.ScanItem(rest, "=")
	if err != nil || unit == "" || name.Text == "" {
		return errors.Join(err, errors.New("must be UNIT:FIELD or UNIT:FIELD=ALIAS, such as month:created_at"))
	}
	q.Fields = append(q.Fields, queryField{Field: name.Text, Group: unit, As: strings.TrimPrefix(rest, "=")})
	return nil
}

// addComputed adds a computed field of the form NAME=EXPRESSION.
func (q *queryBody) addComputed(text string) error {
	name, rest, err := feedmill.ScanItem(text, "=")
	expression := strings.TrimSpace(strings.TrimPrefix(rest, "="))
	if err != nil || name.Text == "" || expression == "" {
		return errors.Join(err, errors.New("must be NAME=EXPRESSION, such as margin=price-cost"))
	}
	q.Computed = append(q.Computed, queryComputed{strings.TrimSpace(name.Text), expression})
	return nil
}

// addFilter adds a condition on a field, which need not be wanted for itself.
func (q *queryBody) addFilter(text string) error {
	condition, err := feedmill.ParseFilter(text)
	if err != nil {
		return err
	}
	filter, err := newFilter(condition.Filters[0])
	if err != nil {
		return err
	}
	f := q.field(condition.Name)
	f.Filters = append(f.Filters, filter)
	return nil
}

// addHaving adds a filter on an aggregate of a field, which need not be selected.
func (q *queryBody) addHaving(text string) error {
	name, having, err := feedmill.ParseHaving(text)
	if err != nil {
		return err
	}
	filter, err := newFilter(having.Filter)
	if err != nil {
		return err
	}
	f := q.field(name)
	f.Having = append(f.Having, queryHaving{having.Fn, filter})
	return nil
}

// field returns the entry of a field. It adds one that is not selected if there is none.
func (q *queryBody) field(name string) *queryField {
	for i := range q.Fields {
		if q.Fields[i].Field == name {
			return &q.Fields[i]
		}
	}
	q.Fields = append(q.Fields, queryField{Field: name, Select: new(bool)})
	return &q.Fields[len(q.Fields)-1]
}

func newFilter(given feedmill.Filter) (queryFilter, error) {
	filter := queryFilter{Op: given.Op, Inverted: given.Inverted}
	for _, v := range given.Values {
		value, err := filterValue(given.Op, v)
		if err != nil {
			return filter, err
		}
		filter.Values = append(filter.Values, value)
	}
	return filter, nil
}

// filterValue is a value as the service takes it. That of last, next, current and
// toDate is a time such as "7 days" or "month".
func filterValue(op feedmill.FilterOp, v feedmill.FilterValue) (any, error) {
	if op.TakesPeriod() {
		p, err := feedmill.ParsePeriod(v.Text)
		return map[string]any{"n": p.N, "unit": p.Unit}, err
	}
	if v.Null {
		return nil, nil
	}
	return v.Text, nil
}
