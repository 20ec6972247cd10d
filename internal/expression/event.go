package expression

import (
	"bytes"
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill/internal/jstext"
)

// eventTypeName is the name of the type of the variable event.
const eventTypeName = "Event"

// eventFields are the fields of an event and their types. An expression that names another
// field does not compile.
var eventFields = map[string]*cel.Type{
	"id": cel.StringType, "type": cel.StringType, "timestamp": cel.StringType,
	"resourceId": cel.NullableType(cel.StringType), "data": cel.DynType,
}

// eventValue is an event as expressions see it.
type eventValue struct{ fields map[string]any }

// text returns a field that is a text; empty if it is null.
func (e *eventValue) text(name string) string {
	text, _ := e.fields[name].(string)
	return text
}

// parseEvent parses the payload of an event. A number is a float64; a number that a float64
// cannot hold exactly is a string of its digits.
func parseEvent(payload []byte) (*eventValue, error) {
	d := jsontext.NewDecoder(bytes.NewReader(payload))
	v, err := parseValue(d)
	if err != nil {
		return nil, fmt.Errorf("reading the event: %w", err)
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the event is not a JSON object")
	}
	return &eventValue{fields}, nil
}

func parseValue(d *jsontext.Decoder) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return types.NullValue, nil
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	case '0':
		text := token.String()
		if f, exact := jstext.Float([]byte(text)); exact {
			return f, nil
		}
		return text, nil
	case '[':
		list := []any{}
		for d.PeekKind() != ']' {
			v, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.ReadToken()
		return list, err
	}
	object := make(map[string]any)
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String()
		if object[name], err = parseValue(d); err != nil {
			return nil, err
		}
	}
	_, err = d.ReadToken()
	return object, err
}

// eventProvider knows the type of events in addition to those of CEL.
type eventProvider struct{ *types.Registry }

// FindStructType finds a type.
func (p eventProvider) FindStructType(name string) (*types.Type, bool) {
	if name == eventTypeName {
		return types.NewTypeTypeWithParam(types.NewObjectType(eventTypeName)), true
	}
	return p.Registry.FindStructType(name)
}

// FindStructFieldNames lists the fields of a type.
func (p eventProvider) FindStructFieldNames(name string) ([]string, bool) {
	if name != eventTypeName {
		return p.Registry.FindStructFieldNames(name)
	}
	return []string{"id", "type", "resourceId", "timestamp", "data"}, true
}

// FindStructFieldType finds a field of a type.
func (p eventProvider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if name != eventTypeName {
		return p.Registry.FindStructFieldType(name, field)
	}
	t, ok := eventFields[field]
	if !ok {
		return nil, false
	}
	return &types.FieldType{
		Type: t,
		IsSet: func(target any) bool {
			e, ok := target.(*eventValue)
			return ok && e.fields[field] != nil && e.fields[field] != types.NullValue
		},
		GetFrom: func(target any) (any, error) {
			e, ok := target.(*eventValue)
			if !ok {
				return nil, fmt.Errorf("no such field: %s", field)
			}
			return e.fields[field], nil
		},
	}, true
}

// NewValue refuses to construct an event.
func (p eventProvider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if name == eventTypeName {
		return types.NewErr("an event cannot be constructed")
	}
	return p.Registry.NewValue(name, fields)
}

// NativeToValue makes a map of an event.
func (p eventProvider) NativeToValue(value any) ref.Val {
	if e, ok := value.(*eventValue); ok {
		return types.NewStringInterfaceMap(p, e.fields)
	}
	return p.Registry.NativeToValue(value)
}
