package csv

import (
	"bytes"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// exportedRows is how many of the first rows must not have quotes that they do not need.
const exportedRows = 100

// isExport reports whether a text is a CSV export of Feedmill that may have rows of nothing but
// nulls: every name is in quotes, and of the fields below only those that need them. All rows of
// such a text are data. Spreadsheets, which write rows of delimiters below a table, never put a
// name in quotes that needs none.
func (t *trial) isExport(rules feedmill.Rules) bool {
	if rules <= feedmill.RulesFirst || t.Delimiter != ',' || t.Quote != '"' || t.Escape != '"' || t.Spaces > 0 || t.broken > 0 || len(t.records) == 0 || len(t.records[0]) < 2 {
		return false
	}
	needless := false
	for _, cell := range t.records[0] {
		if cell.Kind() != columnar.CellQuoted {
			return false
		}
		needless = needless || !needsQuotes(t.text(cell))
	}
	for _, record := range t.records[1:min(len(t.records), 1+exportedRows)] {
		if len(record) != len(t.records[0]) {
			return false
		}
		for _, cell := range record {
			if cell.Kind() == columnar.CellQuoted && !needsQuotes(t.text(cell)) {
				return false
			}
		}
	}
	return needless
}

// needsQuotes reports whether a field has to be in quotes to be read as it is. An empty field
// without quotes is null.
func needsQuotes(field []byte) bool {
	return len(field) == 0 || field[0] == ' ' || field[len(field)-1] == ' ' || bytes.ContainsAny(field, ",\"\r\n")
}
