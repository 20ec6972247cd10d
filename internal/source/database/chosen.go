package database

import (
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Chosen is the definition of the feed that a person chose after a sign-in.
func (c *Connections) Chosen(o feedmill.SignInOffering, choice feedmill.SignInChoice) (n feedmill.FetchedFeed, err error) {
	set := func(v *strictjson.Value, name string, text string) {
		if text != "" {
			v.Set(name, strictjson.String(text))
		}
	}
	names := func(all []string) strictjson.Value {
		list := strictjson.Value{Kind: '['}
		for _, name := range all {
			list.Items = append(list.Items, strictjson.String(name))
		}
		return list
	}
	filters, err := filtersOf(choice)
	if err != nil {
		return n, err
	}
	list := strictjson.Value{Kind: '['}
	add := func(name string, selected bool) {
		field := strictjson.Value{Kind: '{'}
		field.Set("field", strictjson.String(name))
		if !selected {
			field.Set("select", strictjson.Value{Kind: 'f', Raw: []byte("false")})
		}
		if filters := filters[name]; len(filters.Items) > 0 {
			field.Set("filters", filters)
		}
		list.Items = append(list.Items, field)
	}
	chosen := map[string]bool{}
	for _, name := range choice.Fields {
		chosen[name] = true
		add(name, true)
	}
	for _, f := range choice.Filters {
		if f.Field != "" && !chosen[f.Field] {
			chosen[f.Field] = true
			add(f.Field, false)
		}
	}
	query := strictjson.Value{Kind: '{'}
	query.Set("fields", list)
	def := strictjson.Value{Kind: '{'}
	set(&def, "name", strings.TrimSpace(choice.Name))
	set(&def, "serviceName", o.ServiceName)
	set(&def, "viewName", choice.View)
	def.Set("query", query)
	if choice.Every != "" {
		schedule := strictjson.Value{Kind: '{'}
		set(&schedule, "every", choice.Every)
		def.Set("schedule", schedule)
	}
	if view := o.ChosenView(); choice.OnlyNew && view.Cursor != "" {
		incremental := strictjson.Value{Kind: '{'}
		set(&incremental, "field", view.Cursor)
		def.Set("incremental", incremental)
		if len(view.Key) > 0 {
			set(&def, "mode", string(feedmill.ModeMerge))
			def.Set("key", names(view.Key))
		}
	}
	return feedmill.FetchedFeed{Type: feedmill.FeedQuery, Body: def.Append(nil)}, nil
}

// filtersOf are the conditions of a choice, by their fields.
func filtersOf(choice feedmill.SignInChoice) (map[string]strictjson.Value, error) {
	of := make(map[string]strictjson.Value)
	for i, f := range choice.Filters {
		if f.Field == "" || f.Op == "" {
			continue
		}
		filter := strictjson.Value{Kind: '{'}
		filter.Set("op", strictjson.String(f.Op))
		values := strictjson.Value{Kind: '['}
		for value := range strings.SplitSeq(f.Value, ",") {
			if value = strings.TrimSpace(value); value != "" {
				item, err := filterValue(f, value)
				if err != nil {
					return nil, feedmill.Invalid("", feedmill.Fault{Pointer: "/filters/" + strconv.Itoa(i), Detail: "The time is not valid: " + err.Error() + "."})
				}
				values.Items = append(values.Items, item)
			}
		}
		if len(values.Items) > 0 {
			filter.Set("values", values)
		}
		list := of[f.Field]
		list.Kind = '['
		list.Items = append(list.Items, filter)
		of[f.Field] = list
	}
	return of, nil
}

// filterValue is a value of a condition.
func filterValue(f feedmill.SignInFilter, text string) (strictjson.Value, error) {
	if !feedmill.FilterOp(f.Op).TakesPeriod() {
		return strictjson.String(text), nil
	}
	p, err := feedmill.ParsePeriod(text)
	if err != nil {
		return strictjson.Value{}, err
	}
	period := strictjson.Value{Kind: '{'}
	period.Set("n", strictjson.Value{Kind: '0', Raw: strconv.AppendInt(nil, int64(p.N), 10)})
	period.Set("unit", strictjson.String(string(p.Unit)))
	return period, nil
}
