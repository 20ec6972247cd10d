package spec

import (
	"strings"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// TokenPlace is where the token or the address of the next page is outside of JSON: in a
// header, or in an element of XML.
type TokenPlace struct {
	Header string
	// Element are the names of the elements from the root down, * for any, and attribute is
	// the one that has it, empty where the text does. rel is what a link is to be.
	Element   []string
	Attribute string
	Rel       string
}

// tokenPath reads where the next page is named: a JSONPath, or an object with the name of a
// header or a path of elements.
func (o *object) tokenPath(name string) (*jsonpath.Path, *TokenPlace) {
	f, ok := o.Given(name)
	if !ok || f.Kind != '{' {
		return o.path(name, true), nil
	}
	in := o.inner(f)
	place := &TokenPlace{}
	place.Header, _ = in.text("header")
	text, isXML := in.text("xml")
	if in.RefuseUnknown(); (place.Header == "") == (text == "") {
		f.Fault(`This must be a JSONPath, {"header": "x-ms-continuation"} or {"xml": "/OAI-PMH/ListRecords/resumptionToken"}.`)
		return nil, place
	}
	if isXML && !place.parse(text) {
		in.Fault("xml", `Must be a path of element names from the root, such as /OAI-PMH/ListRecords/resumptionToken, or /feed/link[@rel='next']/@href.`)
	}
	return nil, place
}

// parse reads a path of elements.
func (p *TokenPlace) parse(text string) bool {
	rest, ok := strings.CutPrefix(text, "/")
	for name := range strings.SplitSeq(rest, "/") {
		if attribute, ok := strings.CutPrefix(name, "@"); ok && p.Attribute == "" && len(p.Element) > 0 {
			p.Attribute = localName(attribute)
			continue
		}
		if base, condition, ok := strings.Cut(name, "["); ok && p.Rel == "" {
			p.Rel = strings.NewReplacer("@rel='", "", `@rel="`, "", "']", "", `"]`, "").Replace(condition)
			if p.Rel == "" || strings.ContainsAny(p.Rel, "[]@='\"") {
				return false
			}
			name = base
		}
		if name == "" || p.Attribute != "" || strings.ContainsAny(name, "[]@ '\"=()") {
			return false
		}
		p.Element = append(p.Element, localName(name))
	}
	return ok && len(p.Element) > 0 && len(p.Element) <= maxTokenDepth && p.Attribute != "*"
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

// Place is how the place of the next page is written.
func (p *Pagination) Place() string {
	switch {
	case p.Outside == nil:
		return p.Path.String()
	case p.Outside.Header != "":
		return "the header " + p.Outside.Header
	}
	return "/" + strings.Join(p.Outside.Element, "/")
}

// Exclusive reports whether the token of the next page is the only argument beside the verb, as
// that of OAI-PMH is: the protocol refuses a request with both.
func (p *Pagination) Exclusive() bool {
	return p.In == InQuery && p.Param == "resumptionToken" && p.Outside != nil
}
