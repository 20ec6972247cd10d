package publish

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/feedmill/feedmill"
)

// Schemas validates the data of events against the JSON Schemas of their types.
type Schemas struct {
	byType map[string]*jsonschema.Schema
}

// NewSchemas compiles the schemas of a catalogue. A schema that refers to another document
// is an error: nothing is fetched.
func NewSchemas(c *feedmill.Catalogue) (*Schemas, error) {
	s := &Schemas{byType: make(map[string]*jsonschema.Schema)}
	for _, t := range c.Types() {
		schema, err := compileSchema(t)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
		}
		s.byType[t.Name] = schema
	}
	return s, nil
}

func compileSchema(t feedmill.EventType) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(t.Schema))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	location := "/schemas/" + t.Name
	if err := compiler.AddResource(location, doc); err != nil {
		return nil, err
	}
	return compiler.Compile(location)
}

type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("a schema must not refer to other documents")
}

// check validates data, which is JSON or empty, against the schema of a type.
func (s *Schemas) check(name string, data []byte) error {
	if len(data) == 0 {
		data = []byte("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	var invalid *jsonschema.ValidationError
	if err := s.byType[name].Validate(value); !errors.As(err, &invalid) {
		return err
	}
	refusal := &feedmill.Error{Kind: feedmill.ErrInvalid, Type: "schema-mismatch", Detail: "The data of an event does not match the schema of its type. GET /events/types returns the schemas."}
	faultsOf(invalid, &refusal.Faults)
	slices.SortFunc(refusal.Faults, func(a, b feedmill.Fault) int { return strings.Compare(a.Pointer, b.Pointer) })
	return refusal
}

var english = message.NewPrinter(language.English)

// faultsOf collects the leaves of a tree of validation errors.
func faultsOf(e *jsonschema.ValidationError, faults *[]feedmill.Fault) {
	for _, c := range e.Causes {
		faultsOf(c, faults)
	}
	if len(e.Causes) > 0 {
		return
	}
	pointer := "/data"
	for _, token := range e.InstanceLocation {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
	}
	*faults = append(*faults, feedmill.Fault{Pointer: pointer, Detail: "The value does not match the schema: " + e.ErrorKind.LocalizedString(english) + "."})
}
