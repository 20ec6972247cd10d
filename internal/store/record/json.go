package record

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// Text is the field of a value that is kept as JSON text.
type Text[T any] struct{ of *T }

// JSON is the field of what v points at.
func JSON[T any](v *T) Text[T] { return Text[T]{v} }

// Value makes the text.
func (t Text[T]) Value() (driver.Value, error) {
	text, err := json.Marshal(t.of)
	return string(text), err
}

// Scan reads the text; NULL is the zero value.
func (t Text[T]) Scan(from any) error {
	*t.of = *new(T)
	switch text := from.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(text), t.of)
	case []byte:
		return json.Unmarshal(text, t.of)
	}
	return fmt.Errorf("JSON text is a %T", from)
}
