package rest

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// tokenPlace is where the token or the address of the next page is outside of JSON: in a
// header, or in an element of XML.
type tokenPlace struct {
	header string
	// element are the names of the elements from the root down, * for any, and attribute is
	// the one that has it, empty where the text does. rel is what a link is to be.
	element   []string
	attribute string
	rel       string
}

// tokenPath reads where the next page is named: a JSONPath, or an object with the name of a
// header or a path of elements.
func (o *object) tokenPath(name string) (*jsonpath.Path, *tokenPlace) {
	f, ok := o.Given(name)
	if !ok || f.Kind != '{' {
		return o.path(name, true), nil
	}
	in := o.inner(f)
	place := &tokenPlace{}
	place.header, _ = in.text("header")
	text, isXML := in.text("xml")
	if in.RefuseUnknown(); (place.header == "") == (text == "") {
		f.Fault(`This must be a JSONPath, {"header": "x-ms-continuation"} or {"xml": "/OAI-PMH/ListRecords/resumptionToken"}.`)
		return nil, place
	}
	if isXML && !place.parse(text) {
		in.Fault("xml", `Must be a path of element names from the root, such as /OAI-PMH/ListRecords/resumptionToken, or /feed/link[@rel='next']/@href.`)
	}
	return nil, place
}

// parse reads a path of elements.
func (p *tokenPlace) parse(text string) bool {
	rest, ok := strings.CutPrefix(text, "/")
	for name := range strings.SplitSeq(rest, "/") {
		if attribute, ok := strings.CutPrefix(name, "@"); ok && p.attribute == "" && len(p.element) > 0 {
			p.attribute = localName(attribute)
			continue
		}
		if base, condition, ok := strings.Cut(name, "["); ok && p.rel == "" {
			p.rel = strings.NewReplacer("@rel='", "", `@rel="`, "", "']", "", `"]`, "").Replace(condition)
			if p.rel == "" || strings.ContainsAny(p.rel, "[]@='\"") {
				return false
			}
			name = base
		}
		if name == "" || p.attribute != "" || strings.ContainsAny(name, "[]@ '\"=()") {
			return false
		}
		p.element = append(p.element, localName(name))
	}
	return ok && len(p.element) > 0 && len(p.element) <= maxTokenDepth && p.attribute != "*"
}

// maxTokenDepth is how deep the element of a token may be.
const maxTokenDepth = 20

// localName is a name without its prefix.
func localName(name string) string {
	if _, local, ok := strings.Cut(name, ":"); ok {
		return local
	}
	return name
}

// place is how the place of the next page is written.
func (p *pagination) place() string {
	switch {
	case p.outside == nil:
		return p.path.String()
	case p.outside.header != "":
		return "the header " + p.outside.header
	}
	return "/" + strings.Join(p.outside.element, "/")
}

// tokenOf is what an answer has where the next page is named.
func (p *pagination) tokenOf(a *answer) value {
	switch {
	case p.outside == nil:
		return a.at(p.path)
	case p.outside.header != "":
		return a.signalled(&signal{header: p.outside.header})
	case a.body == nil:
		return value{}
	}
	quoted := strictjson.String(p.outside.find(a))
	return value{kind: '"', raw: jsontext.Value(quoted.Raw)}
}

// find is the text of the first element at the path that has any. What is wrong with the
// document is found by whoever reads it.
func (p *tokenPlace) find(a *answer) (found string) {
	_ = walkXML(a.body, a.size, len(p.element), func(path []string, element xml.StartElement, text string) bool {
		if len(path) != len(p.element) {
			return true
		}
		for i, name := range p.element {
			if name != "*" && name != path[i] {
				return true
			}
		}
		rel := ""
		if p.attribute != "" {
			text = ""
		}
		for _, attribute := range element.Attr {
			if attribute.Name.Local == "rel" {
				rel = attribute.Value
			}
			if p.attribute != "" && attribute.Name.Local == p.attribute {
				text = attribute.Value
			}
		}
		if p.rel == "" || strings.EqualFold(rel, p.rel) {
			found = text
		}
		return found == ""
	})
	return found
}

// exclusive reports whether the token of the next page is the only argument beside the verb, as
// that of OAI-PMH is: the protocol refuses a request with both.
func (p *pagination) exclusive() bool {
	return p.in == inQuery && p.param == "resumptionToken" && p.outside != nil
}

// onlyVerb is a query of OAI-PMH without its other arguments.
func onlyVerb(query string) string {
	pairs := strings.Split(query, "&")
	return strings.Join(slices.DeleteFunc(pairs, func(pair string) bool { return !strings.HasPrefix(pair, "verb=") }), "&")
}
