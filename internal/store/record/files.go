package record

import (
	"database/sql/driver"

	"github.com/feedmill/feedmill"
)

// Files is the field of the files of a version, as JSON text.
type Files struct{ Of *[]feedmill.VersionFile }

// file is a file of a version as its text has it.
type file struct {
	Name    string   `json:"name"`
	Rows    int64    `json:"rows"`
	Bytes   int64    `json:"bytes"`
	Sum     string   `json:"sum,omitzero"`
	Columns []column `json:"columns,omitzero"`
	Cuts    []int64  `json:"cuts,omitempty"`
	Largest int64    `json:"largestRow,omitempty"`
}

// Value makes the text.
func (f Files) Value() (driver.Value, error) {
	kept := make([]file, len(*f.Of))
	for i, of := range *f.Of {
		kept[i] = file{of.Name, of.Rows, of.Bytes, of.Sum, keptColumns(of.Columns), of.Cuts, of.LargestRow}
	}
	return JSON(&kept).Value()
}

// Scan reads the text.
func (f Files) Scan(from any) error {
	var kept []file
	if err := JSON(&kept).Scan(from); err != nil {
		return err
	}
	*f.Of = make([]feedmill.VersionFile, len(kept))
	for i, k := range kept {
		(*f.Of)[i] = feedmill.VersionFile{Name: k.Name, Rows: k.Rows, Bytes: k.Bytes, Sum: k.Sum, Columns: readColumns(k.Columns), Cuts: k.Cuts, LargestRow: k.Largest}
	}
	return nil
}
