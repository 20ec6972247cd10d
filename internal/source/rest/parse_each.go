package rest

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
func readEach(o *object, s *Spec, maxBytes int64) *each {
	in := o.object("each")
	if in == nil {
		return nil
	}
	e := &each{as: in.needText("as")}
	if e.as != "" && (!variableName.MatchString(e.as) || slices.Contains([]string{"today", "yesterday", "now", "cursor", "to", "job"}, e.as)) {
		in.Fault("as", "This is a word for the row in tokens such as {{repo.name}}: letters, digits and _, and none of the words that tokens have already.")
	}
	for _, f := range in.elements("include", maxIncluded) {
		if name, ok := f.Text(); ok && name != "" {
			e.include = append(e.include, name)
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
		name, isRow := strings.CutPrefix(used, e.as+".")
		if used == e.as {
			name, isRow = "", true
		}
		if isRow && !slices.Contains(e.uses, name) {
			e.uses = append(e.uses, name)
		}
	}
	if len(e.uses) == 0 && e.as != "" {
		in.Fault("as", "The request contains no token such as {{"+e.as+".name}}, so it would be the same for every row.")
	}
	for _, name := range e.include {
		if !slices.Contains(e.uses, name) {
			e.uses = append(e.uses, name)
		}
	}
	return e
}

// includeValues has a value itself included where the list is one of values that are no
// objects: it goes by the name of the row.
func (e *each) includeValues(in *object) {
	if len(e.values) == 0 || slices.ContainsFunc(e.values, func(v strictjson.Value) bool { return v.Kind == '{' }) {
		return
	}
	for i, name := range e.include {
		if name != e.as {
			in.Fault("include", "The values are not objects, so they have no columns. Write "+e.as+" for the value itself, or use objects.")
			return
		}
		e.include[i] = ""
	}
}

// readIn reads where the rows come from.
func (e *each) readIn(of *object, maxBytes int64) {
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
		e.feed = id
	}
	for _, f := range of.elements("values", maxEachValues) {
		e.values = append(e.values, *f.Value)
	}
	if request := of.object("request"); request != nil {
		variables := of.r.variables
		of.r.variables = nil // A list is not repeated itself.
		list := &parentList{spec: &Spec{auth: noAuth{}, definedUnder: of.r.rules, request: readRequest(request, "GET")}}
		of.r.variables = variables
		list.path = of.path("path", false)
		list.spec.pagination = readPagination(of, &list.spec.request, maxBytes)
		list.spec.paths = list.spec.lookedFor()
		e.list = list
	}
	of.RefuseUnknown()
}

// readShape reads how rows are made of records.
func (o *object) readShape(response *object) (s shape) {
	s.keep = o.choice("otherColumns", "keep", "keep", "drop") == "keep"
	s.columns = o.readColumns()
	if !s.keep && len(s.columns) == 0 {
		o.Fault("otherColumns", "With drop, only the columns that entries of columns pick by their path are kept. Add at least one.")
	}
	if response == nil {
		return s
	}
	for _, f := range response.elements("names", maxColumns) {
		s.names = append(s.names, pathOf(f))
	}
	for _, f := range response.elements("values", maxColumns) {
		s.values = append(s.values, pathOf(f))
	}
	if (len(s.names) == 0) != (len(s.values) == 0) {
		response.unreadable("names", "names and values must both be set, with one name for each value.")
	}
	s.keyAs, _ = response.text("keyAs")
	return s
}

// setNulls has the columns take the texts of response.nulls for no value.
func (s *shape) setNulls(nulls string) {
	if nulls == "" || nulls == "none" {
		return
	}
	for i := range s.columns {
		s.columns[i].nulls = strings.Split(nulls, ",")
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
