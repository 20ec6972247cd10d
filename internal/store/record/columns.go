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

	FormatSet  bool   `json:"formatSet,omitzero"`
	DataFormat string `json:"dataFormat,omitzero"`
}

// Value makes the text.
func (t columns) Value() (driver.Value, error) {
	kept := keptColumns(*t.of)
	if kept == nil {
		kept = []column{}
	}
	return JSON(&kept).Value()
}

// Scan reads the text.
func (t columns) Scan(from any) error {
	var kept []column
	if err := JSON(&kept).Scan(from); err != nil {
		return err
	}
	*t.of = readColumns(kept)
	if *t.of == nil {
		*t.of = []feedmill.Column{}
	}
	return nil
}

// keptColumns are columns as their text has them, and readColumns the reverse; nil
// stays nil.
func keptColumns(of []feedmill.Column) (kept []column) {
	for _, c := range of {
		kept = append(kept, column{c, c.Hidden, c.Precision, c.Scale, c.Position, c.Fixed, c.Retype, c.OnMisfit, c.FormatSet, c.DataFormat})
	}
	return kept
}

func readColumns(kept []column) (of []feedmill.Column) {
	for _, c := range kept {
		one := c.Column
		one.Hidden, one.Precision, one.Scale, one.Position = c.Hidden, c.Precision, c.Scale, c.Position
		one.Fixed, one.Retype, one.OnMisfit = c.Fixed, c.Retype, c.OnMisfit
		one.FormatSet, one.DataFormat = c.FormatSet, c.DataFormat
		of = append(of, one)
	}
	return of
}
