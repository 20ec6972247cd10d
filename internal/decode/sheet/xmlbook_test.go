package sheet

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// xmlWorkbook is a workbook of Excel 2003 with styles.
func xmlWorkbook(sheets string) []byte {
	return []byte(`<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Styles><Style ss:ID="Default" ss:Name="Normal"><NumberFormat/></Style><Style ss:ID="p" ss:Name="Percent"><NumberFormat ss:Format="0.0%"/></Style><Style ss:ID="q" ss:Parent="p"><Font/></Style>
<Style ss:ID="d"><NumberFormat ss:Format="Short Date"/></Style><Style ss:ID="t"><NumberFormat ss:Format="h:mm;@"/></Style><Style ss:ID="dt"><NumberFormat ss:Format="General Date"/></Style>
<Style ss:ID="e"><NumberFormat ss:Format="[h]:mm:ss"/></Style><Style ss:ID="m"><NumberFormat ss:Format="[$€-2]\ #,##0.00"/></Style></Styles>` + sheets + `</Workbook>`)
}

// xmlRows are the rows of a sheet: texts, and cells as they are written.
func xmlRows(rows ...string) string {
	var out strings.Builder
	for _, row := range rows {
		out.WriteString("<Row>")
		for cell := range strings.SplitSeq(row, "|") {
			if !strings.HasPrefix(cell, "<") {
				cell = `<Cell><Data ss:Type="String">` + cell + `</Data></Cell>`
			}
			out.WriteString(cell)
		}
		out.WriteString("</Row>\n")
	}
	return out.String()
}

func TestXMLBookCells(t *testing.T) {
	for _, test := range []struct{ name, cell, want string }{
		{"a number", `><Data ss:Type="Number">0.1</Data>`, "0.1"},
		{"a number with noise", `><Data ss:Type="Number">0.10000000000000001</Data>`, "0.1"},
		{"a number in exponents", `><Data ss:Type="Number">1.5E+20</Data>`, "150000000000000000000"},
		{"a percentage", ` ss:StyleID="p"><Data ss:Type="Number">0.125</Data>`, "~12.5%"},
		{"a percentage by its parent", ` ss:StyleID="q"><Data ss:Type="Number">0.125</Data>`, "~12.5%"},
		{"a day", ` ss:StyleID="d"><Data ss:Type="DateTime">2026-11-15T00:00:00.000</Data>`, "@2026-11-15"},
		{"a day without a format", `><Data ss:Type="DateTime">2026-11-15T00:00:00.000</Data>`, "@2026-11-15"},
		{"a day with a time that its format hides", ` ss:StyleID="d"><Data ss:Type="DateTime">2026-11-15T12:00:00.000</Data>`, "@2026-11-15T12:00:00"},
		{"a day and a time", ` ss:StyleID="dt"><Data ss:Type="DateTime">2026-11-15T00:00:00.000</Data>`, "@2026-11-15T00:00:00"},
		{"milliseconds", `><Data ss:Type="DateTime">2026-11-15T12:00:00.250</Data>`, "@2026-11-15T12:00:00.250"},
		{"a day as a number", ` ss:StyleID="d"><Data ss:Type="Number">46341</Data>`, "@2026-11-15"},
		{"a time of day", ` ss:StyleID="t"><Data ss:Type="DateTime">1899-12-31T18:00:00.000</Data>`, "'18:00:00"},
		{"midnight", ` ss:StyleID="t"><Data ss:Type="DateTime">1899-12-31T00:00:00.000</Data>`, "'00:00:00"},
		{"a duration", ` ss:StyleID="e"><Data ss:Type="DateTime">1900-01-01T03:30:00.000</Data>`, "99000"},
		{"a duration past the false leap day", ` ss:StyleID="e"><Data ss:Type="DateTime">1900-03-01T00:00:00.000</Data>`, fmt.Sprint(61 * 86400)},
		{"a duration of LibreOffice", `><Data ss:Type="DateTime">1899-12-31T27:30:00.000</Data>`, "99000"},
		{"an amount", ` ss:StyleID="m"><Data ss:Type="Number">12.5</Data>`, "12.5"},
		{"what is not a time", `><Data ss:Type="DateTime">soon</Data>`, "'soon"},
		{"a truth value", `><Data ss:Type="Boolean">1</Data>`, "TRUE"},
		{"an error", `><Data ss:Type="Error">#N/A</Data>`, "!#N/A"},
		{"a text that looks like a number", `><Data ss:Type="String">007</Data>`, "'007"},
		{"a text of several formats", `><ss:Data ss:Type="String" xmlns="http://www.w3.org/TR/REC-html40"><B>a</B> <I>b</I></ss:Data>`, "'a b"},
		{"a text with a comment", `><Data ss:Type="String">x</Data><Comment ss:Author="y"><ss:Data xmlns="http://www.w3.org/TR/REC-html40">no</ss:Data></Comment>`, "'x"},
		{"a text of a space", `><Data ss:Type="String"> </Data>`, "' "},
	} {
		data := xmlWorkbook(`<Worksheet ss:Name="One"><Table>` + xmlRows("h|i", `<Cell`+test.cell+`</Cell>|<Cell><Data ss:Type="Number">0</Data></Cell>`) + `</Table></Worksheet>`)
		formats := ""
		if strings.HasPrefix(test.name, "a duration") {
			formats = ` ["s" ""]`
		} else if test.name == "an amount" {
			formats = ` ["€" ""]`
		}
		want := "[\"h\" \"i\"] 1" + formats + "\n  " + test.want + " | 0\n"
		if got := shownTable(t, "xml", data, Options{}); !strings.HasSuffix(got, want) {
			t.Errorf("%s is %q, want %q", test.name, got, want)
		}
	}
}

// TestXMLBookSheets has what is around the cells: sheets, hidden ones, styles of rows and columns, rows and columns that are left
// out, merged cells, titles and named ranges.
func TestXMLBookSheets(t *testing.T) {
	data := xmlWorkbook(`<Names><NamedRange ss:Name="Part" ss:RefersTo="=One!R3C1:R4C2"/><NamedRange ss:Name="Hid" ss:Hidden="1" ss:RefersTo="=One!R1C1"/><NamedRange ss:Name="Cols" ss:RefersTo="='It''s two'!C1:C1"/></Names>` +
		`<Worksheet ss:Name="One"><Table><Column ss:Index="2" ss:StyleID="p" ss:Span="1"/>` + xmlRows("Report of shares") +
		`<Row ss:Index="3"><Cell><Data ss:Type="String">name</Data></Cell><Cell><Data ss:Type="String">share</Data></Cell><Cell><Data ss:Type="String">other</Data></Cell><Cell><Data ss:Type="String">plain</Data></Cell></Row>` +
		`<Row><Cell><Data ss:Type="String">x</Data></Cell><Cell ss:Index="3"><Data ss:Type="Number">0.5</Data></Cell><Cell><Data ss:Type="Number">0.5</Data></Cell></Row>` +
		`<Row ss:Span="2"/><Row ss:Hidden="1" ss:StyleID="d"><Cell ss:MergeAcross="1"><Data ss:Type="String">merged</Data></Cell><Cell ss:StyleID="Default"><Data ss:Type="Number">7</Data></Cell><Cell><Data ss:Type="Number">46341</Data></Cell></Row></Table>` +
		`<x:WorksheetOptions><x:PageSetup/><x:Print><x:Row>9</x:Row></x:Print></x:WorksheetOptions><x:PageBreaks><x:RowBreaks><x:RowBreak><x:Row>5</x:Row></x:RowBreak></x:RowBreaks></x:PageBreaks></Worksheet>` +
		`<Worksheet ss:Name="It's two"><Table>` + xmlRows("z|y", `<Cell><Data ss:Type="Number">7</Data></Cell>|<Cell><Data ss:Type="Number">8</Data></Cell>`) + `</Table><x:WorksheetOptions><x:Visible>SheetHidden</x:Visible></x:WorksheetOptions></Worksheet>`)
	const two = "! hidden-sheet 1: Sheet 2 (It's two) is hidden in the workbook and was imported. Set sheet to import another sheet.\n"
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{}, "[\"name\" \"share\" \"other\" \"plain\"] 5\n  'x |  | ~50% | 0.5\n   |  |  | \n   |  |  | \n   |  |  | \n  'merged |  | 7 | @2026-11-15\n"},
		{Options{Sheet: 2}, two + "[\"z\" \"y\"] 1\n  7 | 8\n"},
		{Options{Path: "Cols"}, two + "[\"z\"] 1\n  7\n"},
		{Options{Path: "Part"}, "[\"name\" \"share\"] 1\n  'x | \n"},
		{Options{Path: "'it''s two'!B1:B2"}, two + "[\"y\"] 1\n  8\n"},
		{Options{Header: -1, Path: "C4:D4"}, "[\"\" \"\"] 1\n  ~50% | 0.5\n"},
	} {
		if got := shownTable(t, "xml", data, test.options); !strings.HasSuffix(got, test.want) {
			t.Errorf("%+v is %q, want %q", test.options, got, test.want)
		}
	}
	if got := shownTable(t, "xml", data, Options{}); !strings.Contains(got, "hidden-rows") || !strings.Contains(got, "skipped-preamble") {
		t.Errorf("the warnings miss the hidden row or the title: %q", got)
	}
	for want, o := range map[string]Options{"the sheets of the workbook: 1 One, 2 It's two.": {Sheet: 3}, "Its names are: Cols, Part.": {Path: "Hid"}} {
		if got := shownTable(t, "xml", data, o); !strings.Contains(got, want) {
			t.Errorf("%+v is %q, want %q", o, got, want)
		}
	}
}

func TestXMLBookEncodingsAndFaults(t *testing.T) {
	text := string(xmlWorkbook(`<Worksheet ss:Name="One"><Table>` + xmlRows("é|b", "ü|2") + `</Table></Worksheet>`))
	wide := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(strings.Replace(text, `"1.0"`, `"1.0" encoding="UTF-16"`, 1))) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	if got, want := shownTable(t, "xml", wide, Options{}), shownTable(t, "xml", []byte(text), Options{}); got != want || !strings.Contains(got, "é") {
		t.Errorf("UTF-16 is %q, want %q", got, want)
	}
	for want, rows := range map[string]string{
		"Index must be a whole number from 2 to 16384": `<Row><Cell/><Cell ss:Index="1"/></Row>`,
		"Index must be a whole number from 1 to 1048":  `<Row ss:Index="9999999"/>`,
		"line 4, column": `<Row><Cell><Data></Cell></Row>`,
	} {
		if got := shownTable(t, "xml", xmlWorkbook(`<Worksheet ss:Name="One"><Table>`+rows+`</Table></Worksheet>`), Options{}); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q", rows, got, want)
		}
	}
	if got := shownTable(t, "xml", xmlWorkbook(""), Options{}); !strings.Contains(got, "the workbook has no sheets") {
		t.Errorf("a workbook without sheets is %q", got)
	}
}
