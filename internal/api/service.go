package api

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/columnar"
)

func (s *Server) listServices(c *call) (answer, error) {
	list := c.wholeList()
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	services, err := s.Connections.Services(c.ctx(), c.who.Workspace)
	if err != nil {
		return answer{}, err
	}
	views := make([]client.Service, len(services))
	for i, of := range services {
		views[i] = client.Service{ServiceName: of.Name, Title: of.Title, Connector: of.Connector, Status: of.Status}
	}
	return wholeAnswer(c, list, views, func(v client.Service) string { return v.ServiceName })
}

// listViews answers a page of the views of a service, in the order of their names,
// which is also where the next page begins.
func (s *Server) listViews(c *call) (answer, error) {
	anew := c.boolParameter("refresh")
	limit := c.pageLimit()
	after := c.nameCursor()
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	var views []feedmill.ServiceView
	var err error
	if q := c.query["q"]; q != "" {
		views, err = s.Connections.Search(c.ctx(), c.who.Workspace, c.r.PathValue("serviceName"), q, anew)
	} else {
		views, err = s.Connections.Views(c.ctx(), c.who.Workspace, c.r.PathValue("serviceName"), anew)
	}
	if err != nil {
		return answer{}, err
	}
	page, more := pickViews(views, after, limit)
	var list jsonList
	for _, v := range page {
		if !list.add(v) {
			more = true
			break
		}
	}
	a := list.answer()
	if more {
		c.linkAfter(&a, page[list.n-1].Name)
	}
	return a, nil
}

// pickViews picks the next views, and says whether there are more.
func pickViews(views []feedmill.ServiceView, after string, limit int) (page []client.View, more bool) {
	page = []client.View{}
	from, _ := slices.BinarySearchFunc(views, after, func(v feedmill.ServiceView, name string) int { return strings.Compare(v.Name, name) })
	for _, v := range views[from:] {
		if v.Name == after && after != "" {
			continue
		}
		if len(page) == limit {
			return page, true
		}
		view := client.View{Name: v.Name, Label: v.Label, Description: v.Description, Kind: v.Kind, MatchedFields: v.MatchedFields}
		if view.Label == "" {
			view.Label = v.Name
		}
		if v.RowEstimate >= 0 {
			view.RowEstimate = &v.RowEstimate
		}
		page = append(page, view)
	}
	return page, false
}

const noCursor = "cursor is not valid. Use the cursor from the previous page's Link header."

// nameCursor reads the cursor of a list that goes by names.
func (c *call) nameCursor() string {
	text, given := c.query["cursor"]
	if !given {
		return ""
	}
	name, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(name) == 0 {
		c.fault(feedmill.Fault{Parameter: "cursor", Detail: noCursor})
	}
	return string(name)
}

// fieldView is a column of a view.
type fieldView struct {
	Name       string               `json:"name"`
	Label      string               `json:"label"`
	Type       columnar.Type        `json:"type"`
	NativeType string               `json:"nativeType"`
	Nullable   bool                 `json:"nullable"`
	Filterable bool                 `json:"filterable"`
	Operators  []feedmill.FilterOp  `json:"operators"`
	Pushdown   []feedmill.FilterOp  `json:"pushdown"`
	Aggregates []feedmill.Aggregate `json:"aggregates"`
	PrimaryKey bool                 `json:"primaryKey"`
	// References is null for a field without a foreign key.
	References *client.FieldReference `json:"references"`
	Samples    []jsontext.Value       `json:"samples"`
}

func (s *Server) listFields(c *call) (answer, error) {
	anew := c.boolParameter("refresh")
	list := c.wholeList()
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	fields, err := s.Connections.Fields(c.ctx(), c.who.Workspace, c.r.PathValue("serviceName"), c.r.PathValue("viewName"), anew)
	if err != nil {
		return answer{}, err
	}
	views := make([]fieldView, len(fields))
	for i, f := range fields {
		views[i] = fieldView{
			Name: f.Name, Label: f.Label, Type: f.Type, NativeType: f.Native, Nullable: f.Nullable, Filterable: len(f.Operators) > 0,
			PrimaryKey: f.PrimaryKey, Samples: []jsontext.Value{},
			Operators: slices.Concat([]feedmill.FilterOp{}, f.Operators), Pushdown: slices.Concat([]feedmill.FilterOp{}, f.Pushdown), Aggregates: slices.Concat([]feedmill.Aggregate{}, f.Aggregates),
		}
		if f.Label == "" {
			views[i].Label = f.Name
		}
		for _, value := range f.Samples {
			views[i].Samples = append(views[i].Samples, value)
		}
		if r := f.References; r != nil {
			views[i].References = &client.FieldReference{View: r.View, Field: r.Field}
		}
	}
	return wholeAnswer(c, list, views, func(v fieldView) string { return v.Name })
}

// listValues answers distinct values of a field.
func (s *Server) listValues(c *call) (answer, error) {
	limit := c.pageLimit()
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	values, err := s.Connections.Values(c.ctx(), c.who.Workspace, c.r.PathValue("serviceName"), c.r.PathValue("viewName"), c.r.PathValue("field"), c.query["q"], limit)
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, slices.Concat([]jsontext.Value{}, values)), nil
}

// queryPreviewView is what a query would bring.
type queryPreviewView struct {
	Columns    []columnView         `json:"columns"`
	Rows       jsontext.Value       `json:"rows"`
	Warnings   []warningView        `json:"warnings"`
	SQL        string               `json:"sql"`
	Parameters []string             `json:"parameters"`
	Bounds     []client.QueryBounds `json:"bounds"`
	// Filters are those of the query and where they ran.
	Filters     []client.RanFilter   `json:"filters"`
	GroupedHere bool                 `json:"groupedHere"`
	Computed    []client.RanComputed `json:"computed"`
	Requests    []tracedView         `json:"requests"`
	Duration    client.Milliseconds  `json:"durationMs"`
}

// previewQuery answers the first rows of a query and how they were asked for.
func (s *Server) previewQuery(c *call) (answer, error) {
	n, err := s.readFetched(c, feedmill.ConnectedType())
	if err != nil {
		return answer{}, err
	}
	began := time.Now()
	p, err := s.Feeds.PreviewFetched(c.ctx(), c.who.Workspace, n)
	if err != nil {
		return answer{}, inSentences(err)
	}
	view := queryPreviewView{
		Columns: viewColumns(p.Columns), Rows: p.Rows, Warnings: viewWarnings(p.Warnings), Parameters: []string{}, Bounds: []client.QueryBounds{}, Filters: []client.RanFilter{}, Computed: []client.RanComputed{},
		Requests: viewTrace(p.Trace), Duration: inMilliseconds(time.Since(began)),
	}
	if plan := p.Plan; plan != nil {
		view.SQL, view.Parameters = plan.SQL, append(view.Parameters, plan.Parameters...)
		for _, b := range plan.Bounds {
			view.Bounds = append(view.Bounds, client.QueryBounds{Field: b.Field, Op: string(b.Op), From: b.From, To: b.To})
		}
		for _, f := range plan.Filters {
			view.Filters = append(view.Filters, client.RanFilter{Field: f.Field, Fn: string(f.Fn), Op: string(f.Op), Inverted: f.Inverted, RanIn: f.RanIn})
		}
		for _, c := range plan.Computed {
			view.Computed = append(view.Computed, client.RanComputed(c))
		}
		view.GroupedHere = plan.GroupedHere
	}
	return jsonAnswer(http.StatusOK, resource{Data: view}), nil
}
