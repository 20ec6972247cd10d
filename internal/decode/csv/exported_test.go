package csv

import (
	"slices"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/layout"
)

// TestExportedCSV has rows of delimiters at the end, which are rows only of a text that Feedmill
// wrote.
func TestExportedCSV(t *testing.T) {
	for _, test := range []struct {
		name, text string
		rows       int
		rules      int
	}{
		{"an export", "\"a\",\"b\"\r\n1,x\r\n,\r\n,\r\n", 3, 2},
		{"an export of nulls", "\"a\",\"b\"\r\n,\r\n,\r\n", 2, 2},
		{"an export with a row that reads like a note", "\"a\",\"b\"\r\nx,1\r\n,\r\nNote: y,\r\n,\r\n", 4, 2},
		{"an export with a row like the header", "\"a\",\"b\"\r\na,b\r\n,\r\n", 2, 2},
		{"an export with rows like another table", "\"a\",\"b\"\r\nx,y\r\n,\r\nname,size\r\nu,1\r\nv,2\r\n", 5, 2},
		{"an export with quotes that are needed", "\"a\",\"b\"\r\n\"x,y\",\"\"\r\n\" z\",\"q\"\"q\"\r\n,\r\n", 3, 2},
		{"by version 1 of the rules", "\"a\",\"b\"\r\n1,x\r\n,\r\n,\r\n", 1, 1},
		{"a header without quotes", "a,b\r\n1,x\r\n,\r\n,\r\n", 1, 2},
		{"a header with one name in quotes", "a,\"b\"\r\n1,x\r\n,\r\n,\r\n", 1, 2},
		{"quotes around everything", "\"a\",\"b\"\r\n\"1\",\"x\"\r\n,\r\n", 1, 2},
		{"quotes that the names need", "\"a,1\",\"b,2\"\r\n1,x\r\n,\r\n", 1, 2},
		{"semicolons", "\"a\";\"b\"\r\n1;x\r\n;\r\n", 1, 2},
		{"a title above", "Report\r\n\"a\",\"b\"\r\n1,x\r\n,\r\n", 1, 2},
	} {
		options := Options{Rules: 2, Extent: layout.Extent{Footer: layout.DropNotes, Table: 1}}
		if test.rules == 1 {
			options = Options{Rules: 1}
		}
		if got := readCSV(t, test.text, options); len(got.rows) != test.rows || !slices.Equal(got.names, []string{"a", "b"}) && test.name != "quotes that the names need" {
			t.Errorf("%s: %q %q %q", test.name, got.names, got.rows, got.warnings)
		}
	}
	keep := Options{Rules: 2, Extent: layout.Extent{Footer: layout.KeepFooter, Table: 1}}
	if got := readCSV(t, "a,b\n1,x\n,\n,\n", keep); len(got.rows) != 3 {
		t.Errorf("with footer=keep: %q %q", got.rows, got.warnings)
	}
}
