package record

import (
	"database/sql/driver"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// columns is the field of a list of columns, as JSON text with all that there is
// to them, also what their public JSON leaves out.
type columns struct{ of *[]feedmill.Column }

// column is a column with the fields that its public JSON leaves out.
type column struct {
	feedmill.Column
	Hidden    bool                  `json:"hidden,omitzero"`
	Precision int                   `json:"precision,omitzero"`
	Scale     int                   `json:"scale,omitzero"`
	Position  int                   `json:"position,omitzero"`
	Fixed     bool                  `json:"fixed,omitzero"`
	Retype    columnar.Type         `json:"retype,omitzero"`
	OnMisfit  feedmill.MisfitPolicy `json:"onMisfit,omitzero"`
}

// Value makes the text.
func (t columns) Value() (driver.Value, error) {
	kept := make([]column, len(*t.of))
	for i, c := range *t.of {
		kept[i] = column{c, c.Hidden, c.Precision, c.Scale, c.Position, c.Fixed, c.Retype, c.OnMisfit}
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
		of := &(*t.of)[i]
		*of = c.Column
		of.Hidden, of.Precision, of.Scale, of.Position = c.Hidden, c.Precision, c.Scale, c.Position
		of.Fixed, of.Retype, of.OnMisfit = c.Fixed, c.Retype, c.OnMisfit
	}
	return nil
}
