package ui

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// queryJoin is a row of the form of joins, with the fields of its view.
type queryJoin struct {
	Kind, View, As, Left, Right string
	Fields                      []client.ViewField
}

// queryComputed is a row of the form of computed fields.
type queryComputed struct{ Name, Expression string }

// queryHaving is a row of the form of filters on groups.
type queryHaving struct{ Field, Fn, Op, Value string }

// querySort is a column that the rows are sorted by.
type querySort struct{ Column, Order string }

// Periods are those that a field can be grouped by.
func (f queryField) Periods() []string {
	switch f.Type {
	case "timestamp":
		return []string{"hour", "day", "week", "month", "quarter", "year"}
	case "date":
		return []string{"day", "week", "month", "quarter", "year"}
	}
	return nil
}

// fieldKey is the name of a field in the form: with the alias of its join, and quoted after it where
// the name has dots or quotes.
func fieldKey(from, name string) string {
	switch {
	case from == "":
		return name
	case strings.ContainsAny(name, `."`):
		return from + `."` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return from + "." + name
}

// field finds a field by its name in the form.
func (p *queryPage) field(key string) (queryField, bool) {
	at := slices.IndexFunc(p.Fields, func(f queryField) bool { return f.Key == key })
	if at < 0 {
		return queryField{}, false
	}
	return p.Fields[at], true
}

// readJoins reads the joins, and adds the fields of their views.
func (p *queryPage) readJoins(v *visit, q url.Values, chosen []string) error {
	for i, view := range q["j.view"] {
		if view == "" {
			continue
		}
		j := queryJoin{Kind: at(q["j.kind"], i), View: view, As: strings.TrimSpace(at(q["j.as"], i)), Left: at(q["j.left"], i), Right: at(q["j.right"], i)}
		if j.As == "" {
			j.As = p.freeAlias(view)
		}
		fields, err := v.api.Fields(v.r.Context(), p.Service, view)
		if err != nil && !p.fault(fmt.Sprintf("join.%d", len(p.Joins)), err) {
			return err
		}
		j.Fields = fields
		p.suggestPair(&j)
		p.Joins = append(p.Joins, j)
		for _, f := range fields {
			p.Fields = append(p.Fields, newQueryField(q, f, j.As, slices.Contains(chosen, fieldKey(j.As, f.Name))))
		}
	}
	return nil
}

// fault notes an error that the user can fix at a row of the form. It reports whether err is one.
func (p *queryPage) fault(place string, err error) bool {
	faults, ok := faultsAt(err, nil)
	if ok {
		p.Faults = map[string]string{place: faults[""]}
	}
	return ok
}

// freeAlias is an alias for a view that no join has: the first letter of its name, with a number
// where that is taken.
func (p *queryPage) freeAlias(view string) string {
	name := view[strings.LastIndex(view, ".")+1:]
	letter := "j"
	if at := strings.IndexFunc(name, func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }); at >= 0 {
		letter = strings.ToLower(name[at : at+1])
	}
	alias := letter
	for n := 2; slices.ContainsFunc(p.Joins, func(j queryJoin) bool { return strings.EqualFold(j.As, alias) }); n++ {
		alias = fmt.Sprint(letter, n)
	}
	return alias
}

// suggestPair fills in the fields of a join from the foreign keys, and drops those of another view.
func (p *queryPage) suggestPair(j *queryJoin) {
	has := func(name string) bool {
		return slices.ContainsFunc(j.Fields, func(f client.ViewField) bool { return f.Name == name })
	}
	if _, ok := p.field(j.Left); !ok {
		j.Left = ""
	}
	if !has(j.Right) {
		j.Right = ""
	}
	if j.Left != "" || j.Right != "" {
		return
	}
	for _, f := range p.Fields {
		if f.References != nil && f.References.View == j.View && has(f.References.Field) {
			j.Left, j.Right = f.Key, f.References.Field
			return
		}
	}
	for _, f := range j.Fields {
		for _, other := range p.Fields {
			if f.References != nil && f.References.View == p.viewOf(other.From) && f.References.Field == other.Name {
				j.Left, j.Right = other.Key, f.Name
				return
			}
		}
	}
}

// viewOf is the view of an alias.
func (p *queryPage) viewOf(alias string) string {
	for _, j := range p.Joins {
		if alias != "" && j.As == alias {
			return j.View
		}
	}
	return p.View
}

// readComputed reads the computed fields, and adds them to the fields. A new one is chosen.
func (p *queryPage) readComputed(q url.Values, chosen []string) {
	for i, name := range q["c.name"] {
		c := queryComputed{Name: strings.TrimSpace(name), Expression: strings.TrimSpace(at(q["c.expression"], i))}
		if c.Name == "" && c.Expression == "" {
			continue
		}
		p.Computed = append(p.Computed, c)
		if c.Name == "" {
			continue
		}
		f := client.ViewField{Name: c.Name, Type: "computed", Filterable: true}
		for _, a := range aggregates {
			f.Aggregates = append(f.Aggregates, a.Op)
		}
		isChosen := slices.Contains(chosen, c.Name) || !slices.Contains(q["c.was"], c.Name)
		p.Fields = append(p.Fields, newQueryField(q, f, "", isChosen))
	}
}

// readGroups reads the filters on groups.
func (p *queryPage) readGroups(q url.Values) {
	for i, field := range q["h.field"] {
		if field != "" {
			p.Having = append(p.Having, queryHaving{field, at(q["h.fn"], i), at(q["h.op"], i), at(q["h.value"], i)})
		}
	}
}

// readSorts reads the columns to sort by. One that is called otherwise by now is dropped.
func (p *queryPage) readSorts(q url.Values) {
	names := p.SortNames()
	for i, column := range q["sort"] {
		isTaken := slices.ContainsFunc(p.Sorts, func(s querySort) bool { return s.Column == column })
		if slices.Contains(names, column) && !isTaken {
			p.Sorts = append(p.Sorts, querySort{column, at(q["order"], i)})
		}
	}
}

// JoinRows are the joins, and an empty row for another one.
func (p queryPage) JoinRows() []queryJoin {
	return withEmpty(p.Joins, feedmill.MaxJoins)
}

// ComputedRows are the computed fields, and an empty row for another one.
func (p queryPage) ComputedRows() []queryComputed {
	return withEmpty(p.Computed, feedmill.MaxComputed)
}

// HavingRows are the filters on groups, and an empty row for another one.
func (p queryPage) HavingRows() []queryHaving { return append(slices.Clip(p.Having), queryHaving{}) }

// SortRows are the columns to sort by, and an empty row for another one.
func (p queryPage) SortRows() []querySort { return append(slices.Clip(p.Sorts), querySort{}) }

func withEmpty[T any](rows []T, most int) []T {
	if len(rows) >= most {
		return rows
	}
	var empty T
	return append(slices.Clip(rows), empty)
}

// JoinViews are the views that a join can have: the listed ones, and its own.
func (p queryPage) JoinViews(j queryJoin) []client.View {
	views := p.Views
	if j.View != "" && !slices.ContainsFunc(views, func(v client.View) bool { return v.Name == j.View }) {
		views = append([]client.View{{Name: j.View}}, views...)
	}
	return views
}

// LeftFields are the fields before a join.
func (p queryPage) LeftFields(j queryJoin) []queryField {
	end := slices.IndexFunc(p.Fields, func(f queryField) bool { return f.From == j.As || f.IsComputed() })
	if end < 0 {
		return p.Fields
	}
	return p.Fields[:end]
}

// IsComputed reports whether a field is computed by the query.
func (f queryField) IsComputed() bool { return f.Type == "computed" }

// HavingAggregates are those that a field can have, and a filter on groups can test.
func (p queryPage) HavingAggregates() []operator {
	return slices.DeleteFunc(slices.Clone(aggregates), func(o operator) bool {
		return !slices.ContainsFunc(p.Fields, func(f queryField) bool { return slices.Contains(f.Aggregates, o.Op) })
	})
}

// WeekStarts are the days that a week can start on.
func (queryPage) WeekStarts() []operator {
	return []operator{{"", "Monday"}, {"tuesday", "Tuesday"}, {"wednesday", "Wednesday"}, {"thursday", "Thursday"}, {"friday", "Friday"}, {"saturday", "Saturday"}, {"sunday", "Sunday"}}
}

// partsSpec adds the parts of the query that are not its fields.
func (p *queryPage) partsSpec(query map[string]any) {
	var joins, computed, sorts []any
	for i, j := range p.Joins {
		p.places[fmt.Sprintf("query/joins/%d", i)] = fmt.Sprintf("join.%d", i)
		kind := "inner"
		if j.Kind == "left" {
			kind = "left"
		}
		joins = append(joins, map[string]any{"view": j.View, "as": j.As, "kind": kind, "on": []any{map[string]any{"left": j.Left, "right": j.Right}}})
	}
	for i, c := range p.Computed {
		p.places[fmt.Sprintf("query/computed/%d", i)] = fmt.Sprintf("computed.%d", i)
		computed = append(computed, map[string]any{"name": c.Name, "expression": c.Expression})
	}
	for i, s := range p.Sorts {
		p.places[fmt.Sprintf("query/sort/%d", i)] = "sort"
		sort := map[string]any{"field": s.Column, "order": "asc"}
		if f, ok := p.field(s.Column); ok {
			sort["field"] = f.Name
			if f.From != "" {
				sort["from"] = f.From
			}
		}
		if s.Order == "desc" {
			sort["order"] = "desc"
		}
		sorts = append(sorts, sort)
	}
	for name, list := range map[string][]any{"joins": joins, "computed": computed, "sort": sorts} {
		if len(list) > 0 {
			query[name] = list
		}
	}
	if p.AnyFilter() {
		query["where"] = map[string]any{"any": p.whereSpec()}
	}
	for name, text := range map[string]string{"timezone": p.TimeZone, "weekStart": p.WeekStart} {
		if text != "" {
			query[name] = text
		}
	}
	if p.Limit != "" {
		query["limit"] = count(p.Limit)
	}
}

// AnyFilter reports whether one of the filters of all fields is enough.
func (p queryPage) AnyFilter() bool { return p.Any && len(p.Filters) > 0 }

// whereSpec are the filters of all fields, of which one is enough.
func (p *queryPage) whereSpec() (conditions []any) {
	for i, filter := range p.Filters {
		place := fmt.Sprintf("query/where/any/%d", i)
		p.places[place] = fmt.Sprintf("filter.%d", i)
		p.places[place+"/op"] = fmt.Sprintf("filter.%d.op", i)
		condition := p.filterSpec(filter)
		condition["field"] = filter.Field
		if f, ok := p.field(filter.Field); ok {
			condition["field"] = f.Name
			if f.From != "" {
				condition["from"] = f.From
			}
		}
		conditions = append(conditions, condition)
	}
	return conditions
}

// havingSpec are the filters on groups of a field. It records the rows of the form.
func (p *queryPage) havingSpec(f queryField, pointer string) (all []any) {
	for row, h := range p.Having {
		if h.Field == f.Key {
			p.places[fmt.Sprintf("%s/having/%d", pointer, len(all))] = fmt.Sprintf("having.%d", row)
			filter := p.filterSpec(queryFilter{Field: h.Field, Op: h.Op, Value: h.Value})
			filter["fn"] = h.Fn
			all = append(all, filter)
		}
	}
	return all
}
