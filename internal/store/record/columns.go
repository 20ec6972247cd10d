package record

import (
	"database/sql/driver"

	"github.com/feedmill/feedmill"
)

// columns is the field of a list of columns, as JSON text with all that there is
// to them, also what their public JSON leaves out.
type columns struct{ of *[]feedmill.Column }

// column is a column with the fields that its public JSON leaves out.
type column struct {
	feedmill.Column
	Precision int `json:"precision,omitzero"`
	Scale     int `json:"scale,omitzero"`
}

// Value makes the text.
func (t columns) Value() (driver.Value, error) {
	kept := make([]column, len(*t.of))
	for i, c := range *t.of {
		kept[i] = column{c, c.Precision, c.Scale}
	}
	return JSON(&kept).Value()
}

// Scan reads the text.
func (t columns) Scan(from any) error {
	var kept []column
	if err := JSON(&kept).Scan(from); err != nil {
		return err
	}
	*t.of = make([]feedmill.Column, len(kept))
	for i, c := range kept {
		(*t.of)[i] = c.Column
		(*t.of)[i].Precision, (*t.of)[i].Scale = c.Precision, c.Scale
	}
	return nil
}
