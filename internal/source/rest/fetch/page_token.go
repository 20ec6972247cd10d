package fetch

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// tokenOf is what an answer has where the next page is named.
func tokenOf(p *spec.Pagination, a *answer) find.Value {
	switch {
	case p.Outside == nil:
		return a.at(p.Path)
	case p.Outside.Header != "":
		return a.signalled(&spec.Signal{Header: p.Outside.Header})
	case a.body == nil:
		return find.Value{}
	}
	quoted := strictjson.String(findToken(p.Outside, a))
	return find.Value{Kind: '"', Raw: jsontext.Value(quoted.Raw)}
}

// findToken is the text of the first element at the path that has any. What is wrong with the
// document is found by whoever reads it.
func findToken(p *spec.TokenPlace, a *answer) (found string) {
	_ = walkXML(a.body, a.size, len(p.Element), func(path []string, element xml.StartElement, text string) bool {
		if len(path) != len(p.Element) {
			return true
		}
		for i, name := range p.Element {
			if name != "*" && name != path[i] {
				return true
			}
		}
		rel := ""
		if p.Attribute != "" {
			text = ""
		}
		for _, attribute := range element.Attr {
			if attribute.Name.Local == "rel" {
				rel = attribute.Value
			}
			if p.Attribute != "" && attribute.Name.Local == p.Attribute {
				text = attribute.Value
			}
		}
		if p.Rel == "" || strings.EqualFold(rel, p.Rel) {
			found = text
		}
		return found == ""
	})
	return found
}

// onlyVerb is a query of OAI-PMH without its other arguments.
func onlyVerb(query string) string {
	pairs := strings.Split(query, "&")
	return strings.Join(slices.DeleteFunc(pairs, func(pair string) bool { return !strings.HasPrefix(pair, "verb=") }), "&")
}
