package spec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

const (
	maxEachValues = 10_000
	maxIncluded   = 100
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// readVariables notes which tokens a request may have besides those of time: it is
// called before the request is read.
func readVariables(o *object) {
	if each := o.Value.Member("each"); each != nil && each.Kind == '{' {
		if as := each.Member("as"); as != nil && as.Kind == '"' {
			o.r.variables = append(o.r.variables, as.Text())
		}
	}
}

// readEach reads what the request is repeated for.
func readEach(o *object, s *Spec, maxBytes int64) *Each {
	in := o.object("each")
	if in == nil {
		return nil
	}
	e := &Each{As: in.needText("as")}
	if e.As != "" && (!variableName.MatchString(e.As) || slices.Contains([]string{"today", "yesterday", "now", "cursor", "to", "job"}, e.As)) {
		in.Fault("as", "This is a word for the row in tokens such as {{repo.name}}: letters, digits and _, and none of the words that tokens have already.")
	}
	for _, f := range in.elements("include", maxIncluded) {
		if name, ok := f.Text(); ok && name != "" {
			e.Include = append(e.Include, name)
		}
	}
	if of := in.object("in"); of != nil {
		e.readIn(of, maxBytes)
	} else if !in.Has("in") {
		in.unreadable("in", `Say what the request is repeated for: {"feedId": "df_…"}, {"values": […]} or {"request": {…}, "path": "$…"}.`)
	}
	e.includeValues(in)
	in.RefuseUnknown()
	for _, used := range o.r.used {
		name, isRow := strings.CutPrefix(used, e.As+".")
		if used == e.As {
			name, isRow = "", true
		}
		if isRow && !slices.Contains(e.Uses, name) {
			e.Uses = append(e.Uses, name)
		}
	}
	if len(e.Uses) == 0 && e.As != "" {
		in.Fault("as", "The request contains no token such as {{"+e.As+".name}}, so it would be the same for every row.")
	}
	for _, name := range e.Include {
		if !slices.Contains(e.Uses, name) {
			e.Uses = append(e.Uses, name)
		}
	}
	return e
}

// includeValues has a value itself included where the list is one of values that are no
// objects: it goes by the name of the row.
func (e *Each) includeValues(in *object) {
	if len(e.Values) == 0 || slices.ContainsFunc(e.Values, func(v strictjson.Value) bool { return v.Kind == '{' }) {
		return
	}
	for i, name := range e.Include {
		if name != e.As {
			in.Fault("include", "The values are not objects, so they have no columns. Write "+e.As+" for the value itself, or use objects.")
			return
		}
		e.Include[i] = ""
	}
}

// readIn reads where the rows come from.
func (e *Each) readIn(of *object, maxBytes int64) {
	given := 0
	for _, name := range []string{"feedId", "values", "request"} {
		if of.Has(name) {
			given++
		}
	}
	if given != 1 {
		of.unreadable("feedId", "Set one of feedId, values and request.")
	}
	if text, ok := of.text("feedId"); ok {
		id, err := feedmill.ParseID(feedmill.PrefixDataFeed, text)
		if err != nil {
			of.unreadable("feedId", "Must be the id of a feed, such as df_….")
		}
		e.Feed = id
	}
	for _, f := range of.elements("values", maxEachValues) {
		e.Values = append(e.Values, *f.Value)
	}
	if request := of.object("request"); request != nil {
		variables := of.r.variables
		of.r.variables = nil // A list is not repeated itself.
		list := &ParentList{Spec: &Spec{Auth: noAuth{}, DefinedUnder: of.r.rules, Request: readRequest(request, "GET")}}
		of.r.variables = variables
		list.Path = of.path("path", false)
		list.Spec.Pagination = readPagination(of, &list.Spec.Request, maxBytes)
		list.Spec.Paths = list.Spec.lookedFor()
		e.List = list
	}
	of.RefuseUnknown()
}

// readShape reads how rows are made of records.
func (o *object) readShape(response *object) (s Shape) {
	s.Keep = o.choice("otherColumns", "keep", "keep", "drop") == "keep"
	s.Columns = o.readColumns()
	if !s.Keep && len(s.Columns) == 0 {
		o.Fault("otherColumns", "With drop, only the columns that entries of columns pick by their path are kept. Add at least one.")
	}
	if response == nil {
		return s
	}
	for _, f := range response.elements("names", maxColumns) {
		s.Names = append(s.Names, pathOf(f))
	}
	for _, f := range response.elements("values", maxColumns) {
		s.Values = append(s.Values, pathOf(f))
	}
	if (len(s.Names) == 0) != (len(s.Values) == 0) {
		response.unreadable("names", "names and values must both be set, with one name for each value.")
	}
	s.KeyAs, _ = response.text("keyAs")
	return s
}

// setNulls has the columns take the texts of response.nulls for no value.
func (s *Shape) setNulls(nulls string) {
	if nulls == "" || nulls == "none" {
		return
	}
	for i := range s.Columns {
		s.Columns[i].Nulls = strings.Split(nulls, ",")
	}
}

const maxColumns = 1000

// pathOf reads an element that is a JSONPath.
func pathOf(f strictjson.Field) *jsonpath.Path {
	text, ok := f.Text()
	if !ok {
		return nil
	}
	path, err := jsonpath.Parse(text)
	if err != nil {
		f.Fault("Not a valid JSONPath: " + err.Error() + ".")
	}
	return path
}

// Each is what the request is repeated for.
type Each struct {
	As string
	// One of feed, values and list is set: the rows of a feed, a list, or what a
	// request of its own brings.
	Feed   feedmill.ID
	Values []strictjson.Value
	List   *ParentList
	// Include are the columns of a parent that its records get.
	Include []string
	// Uses are all that is needed of a parent; the empty name is the value itself.
	Uses []string
}

// ParentList is a request whose records are parents.
type ParentList struct {
	Spec *Spec
	Path *jsonpath.Path
}
