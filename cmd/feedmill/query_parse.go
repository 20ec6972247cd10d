package main

import (
	"errors"
	"strings"

	"github.com/feedmill/feedmill"
)

// addJoin adds a join of a kind; see [feedmill.ParseJoin].
func (q *queryBody) addJoin(kind feedmill.JoinKind, text string) error {
	j, err := feedmill.ParseJoin(text)
	if err != nil {
		return err
	}
	join := queryJoin{View: j.View, As: j.As, Kind: kind}
	for _, p := range j.On {
		join.On = append(join.On, queryPair{p.Left, p.Right})
	}
	q.Joins = append(q.Joins, join)
	return nil
}

// cutAlias cuts the alias of a join and its dot from a field such as c.country.
func (q *queryBody) cutAlias(text string) (from, rest string) {
	for _, j := range q.Joins {
		if rest, ok := strings.CutPrefix(text, j.As+"."); ok {
			return j.As, rest
		}
	}
	return "", text
}

// addField adds a field of the form NAME, NAME=ALIAS, or NAME:AGGREGATE=ALIAS.
func (q *queryBody) addField(text string) error {
	from, text := q.cutAlias(text)
	name, rest, err := feedmill.ScanItem(text, ":=")
	if err != nil || name.Text == "" {
		return errors.Join(err, errors.New("must be NAME, NAME=ALIAS or NAME:AGGREGATE=ALIAS"))
	}
	f := queryField{Field: name.Text, From: from}
	rest, f.As, _ = strings.Cut(rest, "=")
	if fn, ok := strings.CutPrefix(rest, ":"); ok {
		f.Aggregate, f.As = []queryAggregate{{fn, f.As}}, ""
		for i := range q.Fields {
			if old := &q.Fields[i]; old.Field == f.Field && old.From == from && len(old.Aggregate) > 0 {
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
	from, rest := q.cutAlias(rest)
	name, rest, err := feedmill.ScanItem(rest, "=")
	if err != nil || unit == "" || name.Text == "" {
		return errors.Join(err, errors.New("must be UNIT:FIELD or UNIT:FIELD=ALIAS, such as month:created_at"))
	}
	q.Fields = append(q.Fields, queryField{Field: name.Text, From: from, Group: unit, As: strings.TrimPrefix(rest, "=")})
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
	rest, inverted := strings.CutPrefix(text, "!")
	from, rest := q.cutAlias(rest)
	if inverted {
		rest = "!" + rest
	}
	condition, err := feedmill.ParseFilter(rest)
	if err != nil {
		return err
	}
	filter, err := newFilter(condition.Filters[0])
	if err != nil {
		return err
	}
	f := q.field(from, condition.Name)
	f.Filters = append(f.Filters, filter)
	return nil
}

// addHaving adds a filter on an aggregate of a field, which need not be selected.
func (q *queryBody) addHaving(text string) error {
	fn, rest, _ := strings.Cut(text, "(")
	from, rest := q.cutAlias(rest)
	name, having, err := feedmill.ParseHaving(fn + "(" + rest)
	if err != nil {
		return err
	}
	filter, err := newFilter(having.Filter)
	if err != nil {
		return err
	}
	f := q.field(from, name)
	f.Having = append(f.Having, queryHaving{having.Fn, filter})
	return nil
}

// field returns the entry of a field. It adds one that is not selected if there is none.
func (q *queryBody) field(from, name string) *queryField {
	for i := range q.Fields {
		if q.Fields[i].Field == name && q.Fields[i].From == from {
			return &q.Fields[i]
		}
	}
	q.Fields = append(q.Fields, queryField{Field: name, From: from, Select: new(bool)})
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

// addSort adds columns to sort by.
func (q *queryBody) addSort(text string) error {
	items, err := feedmill.ParseList(text, "-")
	if err != nil {
		return usagef("--sort: %w", err)
	}
	for _, item := range items {
		from, name := "", item.Text
		if !item.Quoted {
			if from, name = q.cutAlias(name); strings.HasPrefix(name, `"`) {
				quoted, _, err := feedmill.ScanItem(name, "")
				if err != nil {
					return usagef("--sort: %w", err)
				}
				name = quoted.Text
			}
		}
		sort := map[string]string{"field": name, "order": map[bool]string{false: "asc", true: "desc"}[item.Signed]}
		if from != "" {
			sort["from"] = from
		}
		q.Sort = append(q.Sort, sort)
	}
	return nil
}

// queryFlagJoin is a join as a flag has it.
type queryFlagJoin struct {
	kind feedmill.JoinKind
	text string
}

// joinsValue collects joins of a kind, in the order of all of them.
type joinsValue struct {
	to   *queryFlags
	kind feedmill.JoinKind
}

func (v *joinsValue) String() string { return "" }

func (v *joinsValue) Type() string { return "join" }

func (v *joinsValue) Set(text string) error {
	v.to.joins = append(v.to.joins, queryFlagJoin{v.kind, text})
	return nil
}
