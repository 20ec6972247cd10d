package spec

import (
	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// Shape is how rows are made of the records of a document where they are not rows
// already.
type Shape struct {
	// Columns are picked from the record; without keep, nothing else is.
	Columns []PickedColumn
	Keep    bool
	// Names are found in the document, and values in the record: one for each.
	Names, Values []*jsonpath.Path
	// KeyAs is a column for the name of the member that the record is.
	KeyAs string
	// Pairs is an array of the record whose elements become rows, nil for none.
	Pairs *Pairs
}

// PickedColumn is a column that is found at a path of the record.
type PickedColumn struct {
	at   string // its place in the definition
	Name string
	Path *jsonpath.Path
	// Own is the member of the record that the path is, empty for a longer one.
	Own string
	As  string // its type, empty for what is found
	// Written is how the API writes its times, nil where that is found.
	Written *TimeFormat
	// Nulls are texts that mean that there is no value.
	Nulls []string
	// change is what the entry sets besides.
	change feedmill.ColumnChange
}

// any reports whether the records are not rows as they are.
func (s *Shape) any() bool {
	return len(s.Columns) > 0 || !s.Keep || len(s.Values) > 0 || s.KeyAs != "" || s.Pairs != nil
}
