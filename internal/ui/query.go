package ui

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
	Fields              []queryField
	Filters             []queryFilter
	Sort, Order         string
	Name, Every, Limit  string
	Spec                string
	Preview             *client.QueryPreview
	Rows                [][]gridCell
	Fault               string
	Ready               bool
}

type queryField struct {
	client.ViewField
	Chosen bool
	// Aggregate is what becomes of the values of all rows of a group, empty where the
	// field is a part of what groups them.
	Aggregate string
}

// aggregates are those that every field has, and numberAggregates those of numbers besides.
var (
	numberAggregates = []operator{{"sum", "sum"}, {"avg", "average"}}
	aggregates       = []operator{{"min", "least"}, {"max", "greatest"}, {"count", "count"}, {"countDistinct", "distinct"}}
)

// Aggregates are those that the field can have.
func (f queryField) Aggregates() []operator {
	if numeric(f.Type) {
		return slices.Concat(numberAggregates, aggregates)
	}
	return aggregates
}

// Aggregated reports whether rows are grouped.
func (p queryPage) Aggregated() bool {
	return slices.ContainsFunc(p.Fields, func(f queryField) bool { return f.Chosen && f.Aggregate != "" })
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

// queryFilter is a row of the form of filters.
type queryFilter struct{ Field, Op, Value string }

// queryOperators are those that the form has, in words; an exclamation mark inverts.
var queryOperators = []operator{
	{"eq", "is"},
	{"!eq", "is not"},
	{"contains", "contains"},
	{"!contains", "does not contain"},
	{"startsWith", "starts with"},
	{"endsWith", "ends with"},
	{"gt", "greater than"},
	{"gte", "at least"},
	{"lt", "less than"},
	{"lte", "at most"},
	{"isNull", "is null"},
	{"!isNull", "is not null"},
	{"isTrue", "is true"},
	{"isFalse", "is false"},
	{"last day", "in the last days"},
	{"last hour", "in the last hours"},
}

// Operators are those of the form.
func (queryPage) Operators() []operator { return queryOperators }

// listedViews is how many views the page has; the search finds the others.
const listedViews = 60

func showQuery(v *visit) error {
	p, err := queryOf(v, v.r.URL.Query())
	if err != nil {
		return err
	}
	if p.Ready {
		if err := p.preview(v); err != nil {
			return err
		}
	}
	return v.render(http.StatusOK, "query", "Build a query", p)
}

// queryOf reads the form and what there is to choose from.
func queryOf(v *visit, q url.Values) (*queryPage, error) {
	ctx := v.r.Context()
	p := &queryPage{Service: q.Get("service"), View: q.Get("view"), Find: strings.TrimSpace(q.Get("find")), Sort: q.Get("sort"), Order: q.Get("order"), Name: strings.TrimSpace(q.Get("name")), Every: q.Get("every"), Limit: strings.TrimSpace(q.Get("limit"))}
	var err error
	if p.Services, err = v.api.Services(ctx); err != nil || p.Service == "" {
		return p, err
	}
	v.api.PageSize = listedViews
	for view, err := range v.api.Views(ctx, p.Service, client.ViewQuery{Text: p.Find}) {
		if detail, ok := refusedByAll(err); ok {
			p.Fault = detail
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
	fields, err := v.api.Fields(ctx, p.Service, p.View)
	if detail, ok := refusedByAll(err); ok {
		p.Fault = detail
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	chosen, said := q["field"], q.Get("chosen") != ""
	for i, f := range fields {
		p.Fields = append(p.Fields, queryField{f, slices.Contains(chosen, f.Name) || !said && i < 50, q.Get("agg." + f.Name)})
	}
	for i, name := range q["f.field"] {
		f := queryFilter{Field: name, Op: at(q["f.op"], i), Value: at(q["f.value"], i)}
		if f.Field != "" && f.Op != "" {
			p.Filters = append(p.Filters, f)
		}
	}
	p.Ready = true
	return p, nil
}

// refusedByAll is what the API says of something that a person can mend, a service that
// gives no answer among it.
func refusedByAll(err error) (string, bool) {
	if detail, ok := refused(err); ok {
		return detail, true
	}
	if detail, ok := unavailable(err); ok {
		return detail, true
	}
	return "", false
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// spec is the query as the API takes it.
func (p *queryPage) spec() map[string]any {
	filters := make(map[string][]any)
	for _, f := range p.Filters {
		op, inverted := strings.CutPrefix(f.Op, "!")
		filter := map[string]any{"op": op}
		if inverted {
			filter["inverted"] = true
		}
		if unit, ok := strings.CutPrefix(op, "last "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(f.Value))
			filter["op"], filter["values"] = "last", []any{map[string]any{"n": max(n, 1), "unit": unit}}
		} else if !slices.Contains([]string{"isNull", "isTrue", "isFalse"}, op) {
			values := []any{}
			for value := range strings.SplitSeq(f.Value, ",") {
				values = append(values, p.value(f.Field, strings.TrimSpace(value)))
			}
			if strings.HasPrefix(op, "g") || strings.HasPrefix(op, "l") {
				values = []any{p.value(f.Field, strings.TrimSpace(f.Value))}
			}
			filter["values"] = values
		}
		filters[f.Field] = append(filters[f.Field], filter)
	}
	var fields []any
	for _, f := range p.Fields {
		if !f.Chosen && filters[f.Name] == nil {
			continue
		}
		field := map[string]any{"field": f.Name}
		if !f.Chosen {
			field["select"] = false
		} else if f.Aggregate != "" {
			field["aggregate"] = f.Aggregate
		}
		if filters[f.Name] != nil {
			field["filters"] = filters[f.Name]
		}
		fields = append(fields, field)
	}
	query := map[string]any{"fields": fields}
	if p.Sort != "" {
		order := "asc"
		if p.Order == "desc" {
			order = "desc"
		}
		query["sort"] = []any{map[string]any{"field": p.Sort, "order": order}}
	}
	if n, err := strconv.Atoi(p.Limit); err == nil && n > 0 {
		query["limit"] = n
	}
	return map[string]any{"serviceName": p.Service, "viewName": p.View, "query": query}
}

// value is what a text means for a field: a number for one of numbers.
func (p *queryPage) value(field, text string) any {
	for _, f := range p.Fields {
		if f.Name == field && numeric(f.Type) {
			if json.Valid([]byte(text)) {
				return json.Number(text)
			}
		}
	}
	return text
}

// preview shows the first rows, and what runs.
func (p *queryPage) preview(v *visit) error {
	spec, err := json.MarshalIndent(p.spec(), "", "  ")
	if err != nil {
		p.Fault = "A value that is no number stands where one is wanted."
		return nil
	}
	p.Spec = string(spec)
	preview, err := v.api.PreviewQuery(v.r.Context(), spec)
	if detail, ok := refusedByAll(err); ok {
		p.Fault = detail
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
	if err := v.r.ParseForm(); err != nil {
		return err
	}
	p, err := queryOf(v, v.r.PostForm)
	if err != nil {
		return err
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
	detail, ok := refusedByAll(err)
	if !ok {
		return err
	}
	p.Fault = detail
	return v.render(http.StatusUnprocessableEntity, "query", "Build a query", p)
}
