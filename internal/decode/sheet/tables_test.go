package sheet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

// rowsOf are rows of a sheet, each with its number and the texts of its cells; numbers are
// numbers.
func rowsOf(rows ...string) string {
	var out strings.Builder
	for _, row := range rows {
		number, cells, _ := strings.Cut(row, " ")
		fmt.Fprintf(&out, `<row r="%s">`, number)
		for i, cell := range strings.Split(cells, ",") {
			switch {
			case cell == "":
			case strings.Trim(cell, "0123456789") == "":
				fmt.Fprintf(&out, `<c r="%c%s"><v>%s</v></c>`, 'A'+i, number, cell)
			default:
				fmt.Fprintf(&out, `<c r="%c%s" t="inlineStr"><is><t>%s</t></is></c>`, 'A'+i, number, cell)
			}
		}
		out.WriteString(`</row>`)
	}
	return out.String()
}

// TestTablesOfASheet has sheets with footers and with several tables.
func TestTablesOfASheet(t *testing.T) {
	several := []string{"1 Sales", "3 a,b", "4 1,2", "5 2,3", "7 Source: z", "9 name,qty,price", "10 x,1,2", "11 y,2,3", "14 ,k,l", "15 ,5,6"}
	long := []string{"1 a,b"}
	for i := range 1000 {
		long = append(long, fmt.Sprintf("%d %d,%d", i+2, i, i))
	}
	long = append(long, "1005 name,qty,price", "1006 x,1,2", "1007 y,1,2")
	now := layout.Extent{Footer: layout.DropNotes, Table: 1}
	table := func(n int) layout.Extent { return layout.Extent{Footer: layout.DropNotes, Table: n} }
	for _, test := range []struct {
		name   string
		rows   []string
		extent layout.Extent
		want   string
	}{
		{"the first", several, now, "skipped-preamble skipped-footer 7 second-table 9\n[\"a\" \"b\"] 2\n  1 | 2\n  2 | 3\n"},
		{"the second", several, table(2), "second-table 14\n[\"name\" \"qty\" \"price\"] 2\n  'x | 1 | 2\n  'y | 2 | 3\n"},
		{"the third", several, table(3), "\n[\"k\" \"l\"] 1\n  5 | 6\n"},
		{"one too many", several, table(4), "table is 4, but the file has 3 tables."},
		{"all", several[1:], layout.Extent{Footer: layout.KeepFooter}, "\n[\"a\" \"b\" \"\"] 12\n"},
		{"behind many rows", long, now, "second-table 1005\n[\"a\" \"b\"] 1000\n"},
		{"the second, behind many rows", long, table(2), "\n[\"name\" \"qty\" \"price\"] 2\n"},
		{"a number apart", []string{"1 a,b", "2 1,2", "4 7"}, now, "\n[\"a\" \"b\"] 3\n  1 | 2\n   | \n  7 | \n"},
		{"words apart", []string{"1 a,b", "2 1,2", "4 some words"}, now, "skipped-footer 4\n[\"a\" \"b\"] 1\n"},
		{"words apart, below text", []string{"1 a,b", "2 x,2", "4 some words"}, now, "\n[\"a\" \"b\"] 3\n"},
		{"a note apart, below text", []string{"1 a,b", "2 x,2", "4 Note: some words"}, now, "skipped-footer 4\n[\"a\" \"b\"] 1\n"},
		{"a note that is kept", []string{"1 a,b", "2 x,2", "4 Note: some words"}, layout.Extent{Footer: layout.KeepFooter}, "\n[\"a\" \"b\"] 3\n"},
	} {
		opened, err := open("xlsx", workbook(t, rowsOf(test.rows...), nil), Options{Extent: test.extent, Rules: feedmill.RulesCurrent, Temp: t.TempDir()})
		got := ""
		if err != nil {
			got = shownTable(t, "xlsx", workbook(t, rowsOf(test.rows...), nil), Options{Extent: test.extent})
		} else {
			for _, w := range opened.warnings {
				got += " " + w.Code
				for _, e := range w.Examples {
					if w.Code != "skipped-preamble" {
						got += fmt.Sprint(" ", e.Line)
					}
				}
			}
			opened.warnings = nil
			got = strings.TrimSpace(got) + "\n" + show(t, opened)
			opened.Close()
		}
		if !strings.HasPrefix(got, test.want) && !(err != nil && strings.Contains(got, test.want)) {
			t.Errorf("%s is\n%.400s\nwant\n%s", test.name, got, test.want)
		}
	}
}
