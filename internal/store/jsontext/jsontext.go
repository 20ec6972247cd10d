// Package jsontext lets the engines keep lists and small records in one column,
// as JSON text. What it makes is both an argument of a statement and a place to
// scan a column into.
package jsontext

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"github.com/feedmill/feedmill"
)

// Text is a value as JSON text.
type Text[T any] struct{ of *T }

// Of is the text of what v points at. To scan it writes there.
func Of[T any](v *T) Text[T] { return Text[T]{v} }

// Value makes the text.
func (t Text[T]) Value() (driver.Value, error) {
	text, err := json.Marshal(t.of)
	return string(text), err
}

// Scan reads the text.
func (t Text[T]) Scan(from any) error {
	*t.of = *new(T)
	switch text := from.(type) {
	case string:
		return json.Unmarshal([]byte(text), t.of)
	case []byte:
		return json.Unmarshal(text, t.of)
	}
	return fmt.Errorf("JSON text is a %T", from)
}

// ColumnsText is a list of columns as JSON text.
type ColumnsText struct{ of *[]feedmill.Column }

// Columns is the text of the columns that v points at. It has all that there is
// to them, also what their public JSON leaves out.
func Columns(v *[]feedmill.Column) ColumnsText { return ColumnsText{v} }

// column is a column with the fields that its public JSON leaves out.
type column struct {
	feedmill.Column
	Precision int `json:"precision,omitzero"`
	Scale     int `json:"scale,omitzero"`
}

// Value makes the text.
func (t ColumnsText) Value() (driver.Value, error) {
	kept := make([]column, len(*t.of))
	for i, c := range *t.of {
		kept[i] = column{c, c.Precision, c.Scale}
	}
	return Of(&kept).Value()
}

// Scan reads the text.
func (t ColumnsText) Scan(from any) error {
	var kept []column
	if err := Of(&kept).Scan(from); err != nil {
		return err
	}
	*t.of = make([]feedmill.Column, len(kept))
	for i, c := range kept {
		(*t.of)[i] = c.Column
		(*t.of)[i].Precision, (*t.of)[i].Scale = c.Precision, c.Scale
	}
	return nil
}
