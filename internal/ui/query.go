package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill/client"
)

// queryPage builds a query: a service, a view, its fields, filters, and the proof. All of
// it stands in the address, so that every step can be kept and sent.
type queryPage struct {
	Services            []client.Service
	Views               []client.View
	MoreViews           bool
	Service, View, Find string
	ViewLabel           string
	Joins               []queryJoin
	Fields              []queryField
	Computed            []queryComputed
	// Any says that one of the filters of all fields is enough.
	Any                 bool
	Filters             []queryFilter
	Having              []queryHaving
	Sorts               []querySort
	TimeZone, WeekStart string
	Name, Every, Limit  string
	Spec                string
	Preview             *client.QueryPreview
	Rows                [][]gridCell
	// Faults are the errors by field of the form; places maps pointers of the request to
	// these fields.
	Faults map[string]string
	places map[string]string
	Ready  bool
}

type queryField struct {
	client.ViewField
	// From is the alias of its join, empty for the first view, and Key is its name in the form.
	From, Key string
	Chosen    bool
	// Group is the period that its values are grouped by.
	Group string
	// ChosenAggregates are what becomes of the values of all rows of a group, none where
	// the field is a part of what groups them.
	ChosenAggregates []string
	// Any says that one of several filters of the field is enough.
	Any bool
	// As are the names that its columns are given in the feed: by aggregate, and under no
	// name where there is none or one.
	As map[string]string
}

// newQueryField reads what the form has about a field.
func newQueryField(q url.Values, f client.ViewField, from string, chosen bool) queryField {
	key := fieldKey(from, f.Name)
	return queryField{f, from, key, chosen, q.Get("group." + key), distinctTexts(q["agg."+key]), q.Get("match."+key) == "any", asOf(q, key)}
}

// Columns are the columns that a chosen field makes, each with the name that it is given and
// the one that it has otherwise.
func (p queryPage) Columns(f queryField) []namedColumn {
	if len(f.ChosenAggregates) < 2 {
		return []namedColumn{{"as." + f.Key, f.Key, f.As[""], p.plainName(f)}}
	}
	var all []namedColumn
	for _, fn := range f.ChosenAggregates {
		all = append(all, namedColumn{"as." + f.Key + "." + fn, f.Key + ", " + fn, f.As[fn], p.aggregateName(f, fn)})
	}
	return all
}

// plainName is what the column of a field is called that the form gives no name: that of the field,
// with the alias before it where a field before it has the same name.
func (p queryPage) plainName(f queryField) string {
	for _, other := range p.Fields {
		switch {
		case other.Key == f.Key:
			return f.Name
		case other.Chosen && other.Name == f.Name && f.From != "":
			return f.From + "_" + f.Name
		}
	}
	return f.Name
}

// namedColumn is a field of the form for the name of a column.
type namedColumn struct{ Input, Of, As, Otherwise string }

// asOf reads the names that the columns of a field are given.
func asOf(q url.Values, field string) map[string]string {
	as := map[string]string{"": strings.TrimSpace(q.Get("as." + field))}
	for _, a := range aggregates {
		as[a.Op] = strings.TrimSpace(q.Get("as." + field + "." + a.Op))
	}
	return as
}

// aggregates are all of them, in the order in which they are offered.
var aggregates = []operator{{"sum", "sum"}, {"avg", "average"}, {"min", "least"}, {"max", "greatest"}, {"count", "count"}, {"countDistinct", "distinct"}}

// OfferedAggregates are those that the field can have.
func (f queryField) OfferedAggregates() []operator {
	return slices.DeleteFunc(slices.Clone(aggregates), func(o operator) bool { return !slices.Contains(f.Aggregates, o.Op) })
}

// MoreAggregates are those that the field can have besides the chosen ones.
func (f queryField) MoreAggregates() []operator {
	return slices.DeleteFunc(f.OfferedAggregates(), func(o operator) bool { return slices.Contains(f.ChosenAggregates, o.Op) })
}

// Aggregated reports whether rows are grouped.
func (p queryPage) Aggregated() bool {
	return len(p.Having) > 0 || slices.ContainsFunc(p.Fields, func(f queryField) bool { return f.Chosen && (len(f.ChosenAggregates) > 0 || f.Group != "") })
}

// ChosenCount is how many fields are chosen.
func (p queryPage) ChosenCount() (n int) {
	for _, f := range p.Fields {
		if f.Chosen {
			n++
		}
	}
	return n
}

// listedViews is how many views the page has; the search finds the others.
const listedViews = 60

func showQuery(v *visit) error {
	p, err := queryOf(v, v.r.URL.Query())
	if err != nil {
		return err
	}
	if p.Ready && len(p.Faults) == 0 {
		if err := p.preview(v); err != nil {
			return err
		}
	}
	return v.render(http.StatusOK, "query", "Build a query", p)
}

// queryOf reads the form and what there is to choose from.
func queryOf(v *visit, q url.Values) (*queryPage, error) {
	ctx := v.r.Context()
	p := &queryPage{Service: q.Get("service"), View: q.Get("view"), Find: strings.TrimSpace(q.Get("find")), Any: q.Get("match") == "any", TimeZone: strings.TrimSpace(q.Get("timezone")), WeekStart: q.Get("weekStart"), Name: strings.TrimSpace(q.Get("name")), Every: q.Get("every"), Limit: strings.TrimSpace(q.Get("limit"))}
	var err error
	if p.Services, err = v.api.Services(ctx); err != nil || p.Service == "" {
		return p, err
	}
	v.api.PageSize = listedViews
	for view, err := range v.api.Views(ctx, p.Service, client.ViewQuery{Text: p.Find}) {
		if p.refuse(err) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		if view.Name == p.View {
			p.ViewLabel = view.Label
		}
		if len(p.Views) == listedViews {
			p.MoreViews = true
			break
		}
		p.Views = append(p.Views, view)
	}
	if p.View == "" {
		return p, nil
	}
	return p, p.readForm(v, q)
}

// readForm reads the parts of the query.
func (p *queryPage) readForm(v *visit, q url.Values) error {
	fields, err := v.api.Fields(v.r.Context(), p.Service, p.View)
	if p.refuse(err) {
		return nil
	}
	if err != nil {
		return err
	}
	chosen, submitted := q["field"], q.Get("chosen") != ""
	for i, f := range fields {
		p.Fields = append(p.Fields, newQueryField(q, f, "", slices.Contains(chosen, f.Name) || !submitted && i < 50))
	}
	if err := p.readJoins(v, q, chosen); err != nil {
		return err
	}
	p.readComputed(q, chosen)
	p.readFilters(q)
	p.readGroups(q)
	p.readSorts(q)
	p.Ready = true
	return nil
}

// readFilters reads the filters of rows.
func (p *queryPage) readFilters(q url.Values) {
	for i, name := range q["f.field"] {
		f := queryFilter{Field: name, Op: at(q["f.op"], i), Value: at(q["f.value"], i)}
		switch {
		case f.Field == "" && strings.TrimSpace(f.Value) != "":
			p.Faults = map[string]string{fmt.Sprintf("filter.%d.field", len(p.Filters)): "Choose a field."}
			fallthrough
		case f.Field != "" && f.Op != "":
			p.Filters = append(p.Filters, f)
		}
	}
}

// refuse shows an error that the user can fix, or that the service is unavailable, at the
// fields of the form. It reports whether err is such an error.
func (p *queryPage) refuse(err error) bool {
	if detail, ok := unavailable(err); ok {
		p.Faults = map[string]string{"": detail}
		return true
	}
	if _, ok := refused(err); !ok {
		return false
	}
	p.Faults, _ = faultsAt(err, p.places)
	return true
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// spec returns the query as the API expects it. It also records the field of the form for
// each part of the query.
func (p *queryPage) spec() map[string]any {
	filters := make(map[string][]any)
	for _, f := range p.Filters {
		if !p.Any {
			filters[f.Field] = append(filters[f.Field], p.filterSpec(f))
		}
	}
	p.places = map[string]string{"query/fields": "fields", "query/sort": "sort", "query/limit": "limit", "query/timezone": "timezone", "query/weekStart": "weekStart", "name": "name", "schedule": "every"}
	fields := []any{}
	for _, f := range p.Fields {
		pointer := fmt.Sprintf("query/fields/%d", len(fields))
		having := p.havingSpec(f, pointer)
		if !f.Chosen && filters[f.Key] == nil && having == nil {
			continue
		}
		p.placeField(f, pointer)
		field := p.fieldSpec(f)
		if having != nil {
			field["having"] = having
		}
		if filters[f.Key] != nil {
			field["filters"] = filters[f.Key]
		}
		if f.Any && len(filters[f.Key]) > 1 {
			field["filterOption"] = "any"
		}
		fields = append(fields, field)
	}
	query := map[string]any{"fields": fields}
	p.partsSpec(query)
	return map[string]any{"serviceName": p.Service, "viewName": p.View, "query": query}
}

// fieldSpec is a field without its filters.
func (p *queryPage) fieldSpec(f queryField) map[string]any {
	field := map[string]any{"field": f.Name}
	if f.From != "" {
		field["from"] = f.From
	}
	switch {
	case !f.Chosen:
		field["select"] = false
		return field
	case len(f.ChosenAggregates) > 0:
		field["aggregate"] = p.aggregateSpec(f)
	case f.Group != "":
		field["group"] = f.Group
	}
	if as := cmp.Or(f.As[""], p.plainName(f)); as != f.Name && len(f.ChosenAggregates) < 2 {
		field["as"] = as
	}
	return field
}

// placeField records where the form has the parts of a field of the query.
func (p *queryPage) placeField(f queryField, pointer string) {
	p.places[pointer] = "field." + f.Key
	if f.Chosen {
		p.places[pointer+"/as"] = "as." + f.Key
		for i, fn := range f.ChosenAggregates {
			if len(f.ChosenAggregates) > 1 {
				p.places[fmt.Sprintf("%s/aggregate/%d/as", pointer, i)] = "as." + f.Key + "." + fn
			}
		}
	}
	rows := make([]string, len(p.Filters))
	for i, filter := range p.Filters {
		rows[i] = filter.Field
	}
	placeFilters(p.places, f.Key, pointer, rows)
}

// placeFilters records the rows of a form that have the filters of a field.
func placeFilters(places map[string]string, field, pointer string, rows []string) {
	n := 0
	for row, of := range rows {
		if of == field {
			places[fmt.Sprintf("%s/filters/%d", pointer, n)] = fmt.Sprintf("filter.%d", row)
			places[fmt.Sprintf("%s/filters/%d/op", pointer, n)] = fmt.Sprintf("filter.%d.op", row)
			n++
		}
	}
}

// aggregateSpec is one aggregate by its name, or several, each with a name of its own.
func (p *queryPage) aggregateSpec(f queryField) any {
	if len(f.ChosenAggregates) == 1 {
		return f.ChosenAggregates[0]
	}
	var all []any
	for _, fn := range f.ChosenAggregates {
		all = append(all, map[string]any{"fn": fn, "as": p.columnName(f, fn)})
	}
	return all
}

// aggregateName is what one of several aggregates of a field is called: nothing that a
// field is called already.
func (p *queryPage) aggregateName(f queryField, fn string) string {
	as := p.plainName(f) + "_" + fn
	for slices.ContainsFunc(p.Fields, func(other queryField) bool { return other.Name == as }) {
		as += "_"
	}
	return as
}

// columnName is what one of several aggregates of a field is called in the feed.
func (p *queryPage) columnName(f queryField, fn string) string {
	return cmp.Or(f.As[fn], p.aggregateName(f, fn))
}

// SortNames are what rows can be sorted by: a field, or each of its aggregates where there
// are several.
func (p *queryPage) SortNames() (names []string) {
	for _, f := range p.Fields {
		if !f.Chosen || len(f.ChosenAggregates) < 2 {
			names = append(names, f.Key)
			continue
		}
		for _, fn := range f.ChosenAggregates {
			names = append(names, p.columnName(f, fn))
		}
	}
	return names
}

// distinctTexts are those that are not empty, each once.
func distinctTexts(list []string) (out []string) {
	for _, text := range list {
		if text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// preview shows the first rows, and what runs.
func (p *queryPage) preview(v *visit) error {
	spec, err := json.MarshalIndent(p.spec(), "", "  ")
	if err != nil {
		return err
	}
	p.Spec = string(spec)
	preview, err := v.api.PreviewQuery(v.r.Context(), spec)
	if p.refuse(err) {
		return nil
	}
	if err != nil {
		return err
	}
	p.Preview = &preview
	p.Rows = objectRows(preview.Rows, preview.Columns)
	return nil
}

func makeQueryFeed(v *visit) error {
	p, err := queryOf(v, v.r.PostForm)
	if err != nil {
		return err
	}
	if len(p.Faults) > 0 {
		return v.render(http.StatusUnprocessableEntity, "query", "Build a query", p)
	}
	spec := p.spec()
	if p.Name != "" {
		spec["name"] = p.Name
	}
	if p.Every != "" {
		spec["schedule"] = map[string]any{"every": p.Every}
	}
	text, err := json.Marshal(spec)
	if err == nil {
		var f client.DataFeed
		if f, err = v.api.CreateQueryFeed(v.r.Context(), client.QueryFeed{Spec: text}); err == nil {
			return v.redirect(feedPagePath(f.ID) + "?did=made")
		}
	}
	if !p.refuse(err) {
		return err
	}
	return v.render(http.StatusUnprocessableEntity, "query", "Build a query", p)
}
