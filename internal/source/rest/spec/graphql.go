package spec

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/find"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Where an answer of GraphQL says what is wrong. Its status is 200 all the same.
var (
	GraphQLErrors  = find.MustPath("$.errors")
	graphQLMessage = find.MustPath("$.errors[0].message")
)

// readGraphQL reads a body with a query and its variables.
func readGraphQL(in *object) strictjson.Value {
	body := strictjson.Value{Kind: '{'}
	body.Set("query", strictjson.String(in.needText("query")))
	if f, ok := in.Given("variables"); ok && f.Kind != '{' {
		f.Fault("variables must be an object with the values of the variables.")
	} else if ok {
		in.checkBody("variables", f.Value)
		body.Set("variables", *f.Value)
	}
	return body
}

// home is where parameters stand if nothing is said.
func (b *Body) home() string {
	if b != nil && b.Kind == BodyGraphQL {
		return inBody
	}
	return InQuery
}

// checkMember refuses a parameter whose place in the body is inside of a value that is no
// object, or that another parameter takes.
func (o *object) checkMember(field, name string, r *Request) {
	doc, kind := strictjson.Value{Kind: '{'}, bodyJSON
	if r.Body != nil {
		if isHidden(&r.Body.json) {
			return
		}
		doc, kind = r.Body.json.Clone(), r.Body.Kind
	}
	at := r.member(kind, name)
	for _, other := range r.placed {
		if !o.r.stored && (strings.HasPrefix(other, at+"/") || strings.HasPrefix(at, other+"/")) {
			o.Fault(field, "Another parameter is sent at the same path of the body, or at a path above or below it. Use different paths.")
			return
		}
	}
	if r.placed = append(r.placed, at); o.r.stored {
		return
	}
	if err := putMember(&doc, at, strictjson.String("")); err != nil {
		o.Fault(field, "request.body has a value that is not an object where "+name+" leads through. Dots separate the names of nested objects; write \\. for a dot in a name.")
	}
}

// member is the name under which a parameter is put into a body: a name, or a JSON
// Pointer. Dots separate the names of nested objects, \. is a dot of a name. The first
// rules nest the variables of GraphQL only.
func (q *Request) member(kind, name string) string {
	switch {
	case strings.HasPrefix(name, "/"):
		return name
	case kind == BodyGraphQL && q.rules <= feedmill.RulesFirst:
		name = strings.ReplaceAll(name, `\`, `\\`)
	case q.rules <= feedmill.RulesFirst:
		return name
	}
	pointer, part := "", strings.Builder{}
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '\\' && i+1 < len(name) && (name[i+1] == '.' || name[i+1] == '\\'):
			i++
			part.WriteByte(name[i])
		case name[i] == '.':
			pointer += "/" + strictjson.EscapePointer(part.String())
			part.Reset()
		default:
			part.WriteByte(name[i])
		}
	}
	return pointer + "/" + strictjson.EscapePointer(part.String())
}

// ChecksErrors reports whether a fetch without records is checked for errors that no rule
// describes. A rule that ignores responses shows that the user has decided what is one.
func (s *Spec) ChecksErrors() bool {
	return s.DefinedUnder > feedmill.RulesFirst && !slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Action == ActionIgnore })
}
