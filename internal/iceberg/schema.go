package iceberg

import (
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Schema is the columns of a table at one time.
type Schema struct {
	Type   string  `json:"type"` // always "struct"
	ID     int     `json:"schema-id"`
	Fields []Field `json:"fields"`
}

// Field is a column of a schema.
type Field struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Type     string `json:"type"`
	Doc      string `json:"doc,omitempty"`
}

// fieldsOf are the fields of columns. Readers do not see hidden columns, but files have them.
func fieldsOf(columns []feedmill.Column, hidden bool) ([]Field, error) {
	fields, used := []Field{}, make(map[int]bool)
	for i := range columns {
		c := &columns[i]
		if c.Hidden && !hidden {
			continue
		}
		f := Field{ID: c.Number(), Name: c.Name, Type: typeOf(c), Doc: c.Description}
		if f.ID == 0 || used[f.ID] {
			return nil, fmt.Errorf("column %q has no field id of its own: %q", c.Name, c.ID)
		}
		used[f.ID] = true
		fields = append(fields, f)
	}
	return fields, nil
}

// typeOf is the type of a column in Iceberg's words. JSON is text to all readers.
func typeOf(c *feedmill.Column) string {
	switch c.Type {
	case columnar.TypeInteger:
		return "long"
	case columnar.TypeDecimal:
		return fmt.Sprintf("decimal(%d, %d)", c.Precision, c.Scale)
	case columnar.TypeNumber:
		return "double"
	case columnar.TypeBoolean:
		return "boolean"
	case columnar.TypeDate:
		return "date"
	case columnar.TypeTimestamp:
		return "timestamptz"
	}
	return "string"
}

// promotes reports whether readers convert values of a type to those of another: of the
// types that feeds have, Iceberg promotes a decimal to one with more digits.
func promotes(from, to *feedmill.Column) bool {
	if from.Type == columnar.TypeDecimal && to.Type == columnar.TypeDecimal {
		return from.Scale == to.Scale && from.Precision <= to.Precision
	}
	return from.Type == to.Type || typeOf(from) == typeOf(to)
}

// NotConformingError is a column that readers of Iceberg cannot read as its type. Its file
// must be written again, or the column needs another field id.
type NotConformingError struct {
	File, Column, From, To string
}

func (e *NotConformingError) Error() string {
	return fmt.Sprintf("column %q is %s in %s and cannot be read as %s", e.Column, e.From, e.File, e.To)
}

// checkFile reports a column of a file that cannot be read as that of a version.
func checkFile(file *DataFile, columns map[string]*feedmill.Column) error {
	for i := range file.Columns {
		from := &file.Columns[i]
		if to := columns[from.ID]; to != nil && !promotes(from, to) {
			return &NotConformingError{file.Path, to.Name, typeOf(from), typeOf(to)}
		}
	}
	return nil
}
