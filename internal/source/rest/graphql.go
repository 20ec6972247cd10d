package rest

import (
	"strings"

	"github.com/feedmill/feedmill/internal/strictjson"
)

// Where an answer of GraphQL says what is wrong. Its status is 200 all the same.
var (
	graphQLErrors  = mustPath("$.errors")
	graphQLMessage = mustPath("$.errors[0].message")
)

// readGraphQL reads a body with a query and its variables.
func readGraphQL(in *object) strictjson.Value {
	body := strictjson.Value{Kind: '{'}
	body.Set("query", strictjson.String(in.needText("query")))
	if f, ok := in.Given("variables"); ok && f.Kind != '{' {
		f.Fault("This must be an object with the values of the variables.")
	} else if ok {
		in.checkBody("variables", f.Value)
		body.Set("variables", *f.Value)
	}
	return body
}

// home is where parameters stand if nothing is said.
func (b *body) home() string {
	if b != nil && b.kind == bodyGraphQL {
		return inBody
	}
	return inQuery
}

// member is the name under which a parameter is put into a body: a name, or a JSON
// Pointer.
func (b *body) member(name string) string {
	if b.kind != bodyGraphQL {
		return name
	}
	parts := strings.Split(name, ".")
	for i := range parts {
		parts[i] = strictjson.EscapePointer(parts[i])
	}
	return "/" + strings.Join(parts, "/")
}
