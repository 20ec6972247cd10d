package app

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
)

// generator draws requests that the document allows.
type generator struct {
	*document
	known *resources
	depth int // the levels of the value that is being drawn
}

// draft is a generated request whose parts can still be changed.
type draft struct {
	op     operation
	params map[string]string // path parameters
	query  [][2]string
	header [][2]string
	media  mediaType
	body   any // a tree as encoding/json makes it; nil where there is no body
	raw    string
}

// request is the draft as it is sent.
func (d draft) request() request {
	path := d.op.path
	for name, value := range d.params {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	var query []string
	for _, kv := range d.query {
		query = append(query, url.QueryEscape(kv[0])+"="+url.QueryEscape(kv[1]))
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	q := request{method: d.op.method, path: path, header: d.header, body: d.raw}
	if d.media.name != "" {
		q.header = append(slices.Clone(q.header), [2]string{"Content-Type", d.media.name})
		if d.raw == "" {
			q.body = toJSON(d.body)
		}
	}
	return q
}

// draft draws a request of the operation.
func (g *generator) draft(t *rapid.T, op operation) draft {
	d := draft{op: op, params: g.pathParams(t, op)}
	for _, p := range op.with("query") {
		if slices.Contains(specials[op.id].undrawn, p.name) || !p.required && !rapid.Bool().Draw(t, "with "+p.name) {
			continue
		}
		if p.name == "cursor" {
			// A cursor is whatever the server gave out, and goes with what it was given out for.
			if next := g.known.next[op.path]; next != nil {
				d.query = slices.Clone(next)
				break
			}
			continue
		}
		if fixed, ok := specials[op.id].fixed[p.name]; ok {
			d.query = append(d.query, [2]string{p.name, fixed})
			continue
		}
		schema := maps.Clone(p.schema)
		if schema["type"] == "string" && schema["pattern"] == nil && schema["enum"] == nil && schema["format"] == nil {
			schema["pattern"] = `^[^\x00]*$` // what a query can carry
		}
		switch v := g.named(t, p.name, schema).(type) {
		case []any:
			for _, item := range v {
				d.query = append(d.query, [2]string{p.name, fmt.Sprint(item)})
			}
		default:
			d.query = append(d.query, [2]string{p.name, fmt.Sprint(v)})
		}
	}
	for _, p := range op.with("header") {
		if !p.required && !rapid.Bool().Draw(t, "with "+p.name) {
			continue
		}
		schema := maps.Clone(p.schema)
		if schema["type"] == "string" && schema["pattern"] == nil {
			schema["pattern"] = `^[!-~]+$` // what a header can carry
		}
		d.header = append(d.header, [2]string{p.name, fmt.Sprint(g.value(t, p.name, schema))})
	}
	if len(op.bodies) > 0 {
		g.drawBody(t, &d)
	}
	return d
}

// drawBody draws a body: of JSON by its schema or from the examples, of any
// other format from the examples alone.
func (g *generator) drawBody(t *rapid.T, d *draft) {
	d.media = rapid.SampledFrom(drawnBodies(d.op)).Draw(t, "media type")
	examples := d.media.examples
	if d.media.isJSON() && !(len(examples) > 0 && (specials[d.op.id].examplesOnly || rapid.IntRange(0, 4).Draw(t, "example") == 0)) {
		d.body = g.value(t, "body", d.media.schema)
		return
	}
	if len(examples) == 0 {
		t.Fatalf("%s: give the body %s an example in the document", d.op.id, d.media.name)
	}
	d.body = rapid.SampledFrom(examples).Draw(t, "body")
	if text, ok := d.body.(string); ok && !d.media.isJSON() {
		d.raw = text
	}
}

// drawnBodies are the formats of a body but for those that need more than their
// name in the header, and a parameter, and those that are no text.
func drawnBodies(op operation) []mediaType {
	return slices.DeleteFunc(slices.Clone(op.bodies), func(m mediaType) bool {
		return m.name == "multipart/form-data" || m.name == "application/octet-stream" || strings.HasPrefix(m.name, "application/vnd.") ||
			slices.Contains([]string{"application/zip", "application/gzip", "application/zstd"}, m.name) ||
			specials[op.id].data && m.name == "application/yaml" // which is for definitions
	})
}

// pathParams draws the path's parameters: those of a resource that is there, a number, or
// any text.
func (g *generator) pathParams(t *rapid.T, op operation) map[string]string {
	params := make(map[string]string)
	for _, p := range op.with("path") {
		if p.schema["type"] == "integer" {
			params[p.name] = fmt.Sprint(g.value(t, p.name, p.schema))
			continue
		}
		params[p.name] = g.known.draw(t)
		if params[p.name] == "" || rapid.IntRange(0, 3).Draw(t, "any text") == 0 {
			params[p.name] = rapid.StringMatching(`[^/.\x00-\x1f][^/\x00-\x1f]{0,40}`).Draw(t, p.name)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "a real one") > 0 {
		maps.Copy(params, g.known.of(op.path))
	}
	return params
}

// named draws the value of a field or parameter. One that is called an id is
// often that of a resource that is there.
func (g *generator) named(t *rapid.T, name string, schema map[string]any) any {
	if isIDName(name) && rapid.Bool().Draw(t, "real id") {
		pattern, _ := g.flat(t, schema)["pattern"].(string)
		if id := g.known.draw(t); id != "" && regexp.MustCompile(pattern).MatchString(id) {
			return id
		}
	}
	return g.value(t, name, schema)
}

func isIDName(name string) bool { return name == "id" || strings.HasSuffix(name, "Id") }

// value draws a value of the schema, in the part of JSON Schema that the
// document uses.
func (g *generator) value(t *rapid.T, label string, schema map[string]any) any {
	g.depth++
	defer func() { g.depth-- }()
	schema = g.flat(t, schema)
	if c, ok := schema["const"]; ok {
		return c
	}
	if enum, ok := schema["enum"].([]any); ok {
		return rapid.SampledFrom(enum).Draw(t, label)
	}
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]any); ok {
		kind = rapid.SampledFrom(kinds).Draw(t, label+" type").(string)
	}
	switch kind {
	case "object":
		return g.object(t, label, schema)
	case "array":
		least, most := bounds(schema, "minItems", "maxItems", 0, 4)
		if g.deep() {
			most = least
		}
		list := make([]any, rapid.IntRange(least, min(most, least+3)).Draw(t, label+" length"))
		for i := range list {
			list[i] = g.value(t, label, g.resolve(schema["items"]))
		}
		return list
	case "string":
		return text(t, label, schema)
	case "integer":
		least, most := bounds(schema, "minimum", "maximum", -1000, 1000)
		return rapid.IntRange(least, most).Draw(t, label)
	case "number":
		least, most := bounds(schema, "minimum", "maximum", -1000, 1000)
		return rapid.Float64Range(float64(least), float64(most)).Draw(t, label)
	case "boolean":
		return rapid.Bool().Draw(t, label)
	case "null":
		return nil
	}
	return rapid.SampledFrom([]any{nil, true, 1.5, "text", []any{1.0, "x"}, map[string]any{"a": map[string]any{}}}).Draw(t, label)
}

// deep reports whether a value has enough levels. Schemas that contain themselves would
// otherwise have values without end.
func (g *generator) deep() bool { return g.depth > 8 }

func (g *generator) object(t *rapid.T, label string, schema map[string]any) any {
	object := make(map[string]any)
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || !g.deep() && rapid.Bool().Draw(t, label+" with "+name) {
			object[name] = g.named(t, name, g.resolve(properties[name]))
		}
	}
	if schema["additionalProperties"] == false || schema["unevaluatedProperties"] == false {
		return object
	}
	more := g.resolve(schema["additionalProperties"])
	least, most := bounds(schema, "minProperties", "maxProperties", 0, 2)
	for range rapid.IntRange(max(0, least-len(object)), max(0, min(most-len(object), 2))).Draw(t, label+" more") {
		name := rapid.StringMatching(`[A-Za-z][A-Za-z0-9_-]{0,20}`).Draw(t, label+" name")
		if _, ok := properties[name]; !ok {
			object[name] = g.value(t, label+" value", more)
		}
	}
	return object
}

// flat makes one schema of a schema and those that it is composed of, with one
// choice for each oneOf and anyOf.
func (g *generator) flat(t *rapid.T, schema map[string]any) map[string]any {
	flat := maps.Clone(g.resolve(schema))
	parts, _ := flat["allOf"].([]any)
	for _, choice := range []string{"oneOf", "anyOf"} {
		if of, ok := flat[choice].([]any); ok {
			parts = append(slices.Clone(parts), rapid.SampledFrom(of).Draw(t, choice))
		}
	}
	if len(parts) == 0 {
		return flat
	}
	delete(flat, "allOf")
	delete(flat, "oneOf")
	delete(flat, "anyOf")
	for _, part := range parts {
		merge(flat, g.flat(t, g.resolve(part)))
	}
	return flat
}

func merge(into, from map[string]any) {
	for key, v := range from {
		switch key {
		case "properties":
			both := maps.Clone(v.(map[string]any))
			if own, ok := into[key].(map[string]any); ok {
				maps.Copy(both, own)
			}
			into[key] = both
		case "required":
			own, _ := into[key].([]any)
			into[key] = append(slices.Clone(own), v.([]any)...)
		default:
			if _, ok := into[key]; !ok {
				into[key] = v
			}
		}
	}
}

func bounds(schema map[string]any, least, most string, low, high int) (int, int) {
	if v, ok := schema[least].(float64); ok {
		low = int(v)
		high = max(high, low+1000)
	}
	if v, ok := schema[most].(float64); ok {
		high = int(v)
		low = min(low, high)
	}
	return low, high
}

func text(t *rapid.T, label string, schema map[string]any) string {
	least, most := bounds(schema, "minLength", "maxLength", 0, 60)
	if pattern, ok := schema["pattern"].(string); ok {
		fits := func(s string) bool { n := utf8.RuneCountInString(s); return n >= least && n <= most }
		s := rapid.StringMatching(pattern).Filter(fits).Draw(t, label)
		// Now and then as long as may be, in characters of two bytes.
		long := s + strings.Repeat("é", most-utf8.RuneCountInString(s))
		if regexp.MustCompile(pattern).MatchString(long) && rapid.IntRange(0, 4).Draw(t, label+" is long") == 0 {
			return long
		}
		return s
	}
	switch schema["format"] {
	case "date-time":
		return time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, label)).UTC().Format(time.RFC3339Nano)
	case "date":
		return time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, label)).UTC().Format(time.DateOnly)
	case "uri", "uri-reference":
		return "https://example.com/" + rapid.StringMatching(`[a-z]{0,20}`).Draw(t, label)
	}
	return rapid.StringN(least, most, -1).Draw(t, label)
}

// resources are those that answers have told of, as a client could know them.
type resources struct {
	ids    []string
	paths  []string               // of single resources
	next   map[string][][2]string // queries for the next pages of lists, by path
	hidden map[string]bool        // ids that are not handed out
}

var (
	anyID   = regexp.MustCompile(`\b[a-z]+_[0-7][0-9a-hjkmnp-tv-z]{25}\b`)
	nextURL = regexp.MustCompile(`^<([^?>]*)\?([^>]*)>; rel="next"$`)
)

// learn takes the ids, paths and next pages out of an answer.
func (r *resources) learn(answer reply) {
	if answer.status >= 300 {
		return
	}
	for _, id := range anyID.FindAllString(answer.body, -1) {
		if !r.hidden[id] && !slices.Contains(r.ids, id) {
			r.ids = append(r.ids, id)
		}
	}
	for _, path := range append(metaURL.FindAllString(answer.body, -1), answer.header.Get("Location")) {
		path = strings.Trim(strings.TrimPrefix(path, `"url":`), `"`)
		if anyID.MatchString(path) && !slices.Contains(r.paths, path) {
			r.paths = append(r.paths, path)
		}
	}
	if m := nextURL.FindStringSubmatch(answer.header.Get("Link")); m != nil {
		if q, err := url.ParseQuery(m[2]); err == nil {
			var next [][2]string
			for _, name := range slices.Sorted(maps.Keys(q)) {
				for _, value := range q[name] {
					next = append(next, [2]string{name, value})
				}
			}
			if r.next == nil {
				r.next = make(map[string][][2]string)
			}
			r.next[m[1]] = next
		}
	}
}

var metaURL = regexp.MustCompile(`"url":"/[^"]*"`)

// draw is one of the ids, the later ones more often; "" where there is none.
func (r *resources) draw(t *rapid.T) string {
	if len(r.ids) == 0 {
		return ""
	}
	late := r.ids[max(0, len(r.ids)-20):]
	return rapid.SampledFrom(late).Draw(t, "id")
}

// of is the parameters of the newest resource whose path begins the template,
// as /keys/{id} begins /keys/{id}/x.
func (r *resources) of(template string) map[string]string {
	for _, path := range slices.Backward(r.paths) {
		if params := matchTemplate(template, path); params != nil && !r.hidden[params["id"]] {
			return params
		}
	}
	return nil
}

func matchTemplate(template, path string) map[string]string {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	if len(have) > len(want) {
		return nil
	}
	params := make(map[string]string)
	for i, segment := range have {
		if name, ok := strings.CutPrefix(want[i], "{"); ok {
			params[strings.TrimSuffix(name, "}")] = segment
		} else if want[i] != segment {
			return nil
		}
	}
	if len(params) == 0 {
		return nil
	}
	return params
}

// forget ends a resource that was deleted.
func (r *resources) forget(path string) {
	r.paths = slices.DeleteFunc(r.paths, func(p string) bool { return p == path })
	r.ids = slices.DeleteFunc(r.ids, func(id string) bool { return strings.HasSuffix(path, "/"+id) })
}

// freshID is an id like the given one that no resource has.
func freshID(like string) string {
	prefix, _, isID := strings.Cut(like, "_")
	if !isID {
		return like // the number of a version
	}
	return string(feedmill.NewID(prefix))
}
