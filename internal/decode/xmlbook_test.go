package decode

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// twoSheets is a workbook of Excel 2003 with two sheets, of which the first has a title.
const twoSheets = `<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="One"><Table>` +
	`<Row><Cell><Data ss:Type="String">Report</Data></Cell></Row><Row/><Row><Cell><Data ss:Type="String">a</Data></Cell><Cell><Data ss:Type="String">b</Data></Cell></Row>` +
	`<Row><Cell><Data ss:Type="Number">1</Data></Cell><Cell><Data ss:Type="Number">2</Data></Cell></Row></Table></Worksheet>` +
	`<Worksheet ss:Name="Two"><Table><Row><Cell><Data ss:Type="String">c</Data></Cell></Row><Row><Cell><Data ss:Type="Number">3</Data></Cell></Row></Table></Worksheet></Workbook>`

// TestWorkbooksInXML chooses between the readers of spreadsheets and of documents.
func TestWorkbooksInXML(t *testing.T) {
	set := func(path, sheet string) feedmill.Findings {
		return feedmill.Findings{Path: feedmill.Finding{Value: path, By: feedmill.BySet}, Sheet: feedmill.Finding{Value: sheet, By: feedmill.BySet}}
	}
	for _, test := range []struct {
		name, format, data string
		options            Options
		want               string
	}{
		{"the first sheet", "xml", twoSheets, Options{Rules: 2}, "a|b 1|2 skipped-preamble"},
		{"version 1 of the rules", "xml", twoSheets, Options{Rules: 1}, "Report| a|b 1|2 other-records"},
		{"the second sheet", "xml", twoSheets, Options{Rules: 2, Sheet: 2}, "c 3"},
		{"as xls", "xls", twoSheets, Options{Rules: 2, Sheet: 2}, "c 3 other-format"},
		{"a range", "xml", twoSheets, Options{Rules: 2, Path: "One!B3:B4"}, "b 2"},
		{"a header", "xml", twoSheets, Options{Rules: 2, Sheet: 2, ReadingOptions: feedmill.ReadingOptions{Header: "none"}}, " c 3"},
		{"a range of before", "xml", twoSheets, Options{Rules: 2, Before: set("One!B3:B4", "")}, "b 2"},
		{"a sheet of before", "xml", twoSheets, Options{Rules: 2, Before: set("", "2")}, "c 3"},
		{"a path of XML", "xml", twoSheets, Options{Rules: 2, Path: "/Workbook/Worksheet"}, "@ss:Name|Table.Row One|[{\"Cell\""},
		{"a sheet of XML that is not a workbook", "xml", "<l><r><a>1</a></r><r><a>2</a></r></l>", Options{Rules: 2, Sheet: 1}, "The data has no sheets."},
		{"a header of XML that is not a workbook", "xml", "<l><r><a>1</a></r><r><a>2</a></r></l>", Options{Rules: 2, ReadingOptions: feedmill.ReadingOptions{Header: "2"}}, "The data has no sheets."},
		{"a header of before", "xml", "<l><r><a>1</a></r><r><a>2</a></r></l>", Options{
			Rules: 2, ReadingOptions: feedmill.ReadingOptions{Header: "2"},
			Before: feedmill.Findings{Header: feedmill.LineFinding{Finding: feedmill.Finding{Value: "2", By: feedmill.BySet}}},
		}, "a 1 2"},
		{"explode", "xml", twoSheets, Options{Rules: 2, Explode: "a"}, "The data is a workbook."},
		{"context", "xml", twoSheets, Options{Rules: 2, ReadingOptions: feedmill.ReadingOptions{Context: "true"}}, "The data is a workbook."},
		{"a sheet of CSV", "xls", "a,b\n1,2\n", Options{Rules: 2, Sheet: 2}, "The data has no sheets."},
		{"a sheet of CSV by version 1 of the rules", "xls", "a,b\n1,2\n", Options{Rules: 1, Sheet: 2}, "a|b 1|2 other-format"},
		{"a sheet of a web page", "xls", "<table><tr><td>a<tr><td>1</table><table><tr><td>b<tr><td>2</table>", Options{Rules: 2, Sheet: 2}, "b 2 other-format"},
	} {
		rows, warnings := readAll(t, test.format, test.data, test.options)
		if got := strings.Join(append(rows, warnings...), " "); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s is %q, want %q", test.name, got, test.want)
		}
	}
}

// TestUnitsOfMistakenData holds that data in another format than it is said to be keeps its units.
func TestUnitsOfMistakenData(t *testing.T) {
	table, err := Open(t.Context(), "xls", strings.NewReader("name,weight\n,kg\nx,1.5\ny,2.5\n"), Options{Rules: 2, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if with, ok := table.(interface{ Units() []string }); !ok || strings.Join(with.Units(), "|") != "|kg" {
		t.Errorf("the units of %T are lost", table)
	}
}
