package sheet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// document is an OpenDocument with the content of its sheets.
func document(t testing.TB, sheets, more string) []byte {
	t.Helper()
	return zipped(t, map[string]string{
		"mimetype":              "application/vnd.oasis.opendocument.spreadsheet",
		"META-INF/manifest.xml": `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>`,
		"content.xml": `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" ` +
			`xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0">` +
			`<office:automatic-styles><number:time-style xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" style:name="N1" number:truncate-on-overflow="false"/><style:style style:name="ce1" style:data-style-name="N1"/><style:style style:name="ta1"><style:table-properties table:display="true"/></style:style><style:style style:name="ta2"><style:table-properties table:display="false"/></style:style></office:automatic-styles>` +
			`<office:body><office:spreadsheet>` + sheets + more + `</office:spreadsheet></office:body></office:document-content>`,
	})
}

const odsHead = `<table:table-row><table:table-cell office:value-type="string"><text:p>h</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>i</text:p></table:table-cell></table:table-row>`

func TestODSCells(t *testing.T) {
	for _, test := range []struct{ name, cell, want string }{
		{"a number", `office:value-type="float" office:value="0.1"><text:p>0,10</text:p>`, "0.1"},
		{"an amount", `office:value-type="currency" office:currency="EUR" office:value="12.5"><text:p>12,50 €</text:p>`, "12.5"},
		{"a percentage", `office:value-type="percentage" office:value="0.125"><text:p>13%</text:p>`, "~12.5%"},
		{"a day", `office:value-type="date" office:date-value="2026-11-15"><text:p>15.11.26</text:p>`, "@2026-11-15"},
		{"a day and a time", `office:value-type="date" office:date-value="2026-11-15T12:00:00"><text:p>15.11.26</text:p>`, "@2026-11-15T12:00:00"},
		{"a time of day", `office:value-type="time" office:time-value="PT18H00M00S"><text:p>18:00</text:p>`, "'18:00:00"},
		{"a duration", `office:value-type="time" office:time-value="PT27H30M00S"><text:p>27:30</text:p>`, "99000"},
		{"a short duration", `table:style-name="ce1" office:value-type="time" office:time-value="PT00H30M00.5S"><text:p>0:30</text:p>`, "1800.5"},
		{"a negative duration", `office:value-type="time" office:time-value="-PT00H30M00S"><text:p>-0:30</text:p>`, "-1800"},
		{"a truth value", `office:value-type="boolean" office:boolean-value="true"><text:p>WAHR</text:p>`, "TRUE"},
		{"an error", `table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p>`, "!#DIV/0!"},
		{"a text of paragraphs", `office:value-type="string"><text:p>a<text:s text:c="2"/><text:span>b</text:span><text:tab/></text:p><text:p>c</text:p>`, `'a  b\tc`},
		{"a text with a note", `office:value-type="string"><office:annotation><text:p>no</text:p></office:annotation><text:p>007</text:p>`, "'007"},
	} {
		data := document(t, `<table:table table:name="One">`+odsHead+`<table:table-row><table:table-cell `+test.cell+`</table:table-cell><table:table-cell office:value-type="float" office:value="0"/></table:table-row></table:table>`, "")
		formats := ""
		if unit := map[bool]string{strings.HasSuffix(test.name, "duration"): "s", test.name == "an amount": "EUR"}[true]; unit != "" {
			formats = fmt.Sprintf(` [%q ""]`, unit)
		}
		want := "[\"h\" \"i\"] 1" + formats + "\n  " + strings.Replace(test.want, `\tc`, `\t\nc`, 1) + " | 0\n"
		if got := shownTable(t, "ods", data, Options{}); got != want {
			t.Errorf("%s is %q, want %q", test.name, got, want)
		}
	}
}

func TestODSRepeats(t *testing.T) {
	data := document(t, `<table:table table:name="One"><table:table-header-rows>`+odsHead+`</table:table-header-rows>`+
		`<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="2"/><table:table-cell table:number-columns-repeated="16382"/></table:table-row>`+
		`<table:table-row><table:table-cell/><table:table-cell office:value-type="string" table:number-columns-spanned="2"><text:p>x</text:p></table:table-cell><table:covered-table-cell office:value-type="float" office:value="9"/></table:table-row>`+
		`<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>`+
		`<table:table table:name="It's two" table:style-name="ta2"><table:table-row><table:table-cell office:value-type="string"><text:p>z</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell office:value-type="float" office:value="7"/></table:table-row></table:table>`,
		`<table:named-expressions><table:named-range table:name="Part" table:cell-range-address="$One.$A$1:.$A$2"/></table:named-expressions><table:database-ranges><table:database-range table:name="All" table:target-range-address="'It''s two'.A1:'It''s two'.A2"/></table:database-ranges>`)
	const two = "! hidden-sheet 1: Sheet 2 (It's two) is hidden in the workbook and was imported. Set sheet to import another sheet.\n[\"z\"] 1\n  7\n"
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{}, "[\"h\" \"i\"] 3\n  1 | 1\n  1 | 1\n   | 'x\n"},
		{Options{Sheet: 2}, two},
		{Options{Path: "All"}, two},
		{Options{Path: "Part"}, "[\"h\"] 1\n  1\n"},
	} {
		if got := shownTable(t, "ods", data, test.options); got != test.want {
			t.Errorf("%+v is %q, want %q", test.options, got, test.want)
		}
	}
}

// Rows that are copies of the widest row of names are left out, all of them.
func TestODSRepeatsOfNames(t *testing.T) {
	data := document(t, `<table:table table:name="One"><table:table-row table:number-rows-repeated="400"><table:table-cell office:value-type="string" table:number-columns-repeated="10000"><text:p>x</text:p></table:table-cell></table:table-row></table:table>`, "")
	table, err := Open(t.Context(), "ods", bytes.NewReader(data), Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if len(table.Names()) != 10_000 || table.Rows() != 0 {
		t.Errorf("%d names, %d rows", len(table.Names()), table.Rows())
	}
}

func TestRefusedODS(t *testing.T) {
	encrypted := zipped(t, map[string]string{
		"META-INF/manifest.xml": `<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>`, "content.xml": "x",
	})
	endless := document(t, `<table:table table:name="One">`+odsHead+`<table:table-row table:number-rows-repeated="1048570"><table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="9000"/></table:table-row></table:table>`, "")
	// All rows have the names of the columns again, and are left out.
	names := document(t, `<table:table table:name="One"><table:table-row table:number-rows-repeated="1048576"><table:table-cell office:value-type="string" table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row></table:table>`, "")
	for want, data := range map[string][]byte{
		"without a password": encrypted, "has no sheets": document(t, "", ""),
		"row 2 of the sheet and its 1048569 copies have 9437130000 cells": endless, "row 1 of the sheet and its 1048575 copies have 17179869184 cells": names,
		"has no content.xml": zipped(t, map[string]string{"a": "b"}),
	} {
		if got := shownTable(t, "ods", data, Options{}); !strings.Contains(got, want) {
			t.Errorf("%s, want %q", got, want)
		}
	}
}

// TestUsualODSCells holds that cells are the same whether they are written as most are or in another way.
func TestUsualODSCells(t *testing.T) {
	const float = `<table:table-cell office:value-type="float" office:value="7"><text:p>7</text:p></table:table-cell>`
	text := func(paragraph string) string {
		return `<table:table-cell table:style-name="ce1" office:value-type="string"><text:p>` + paragraph + `</text:p></table:table-cell>`
	}
	for cell, want := range map[string]string{
		float: "7",
		`<table:table-cell office:value-type="percentage" office:value="0.125"><text:p>12.5 %</text:p></table:table-cell>`:              "12.5%",
		`<table:table-cell office:value-type="date" office:date-value="2026-01-02"><text:p>2 Jan</text:p></table:table-cell>`:           "2026-01-02",
		`<table:table-cell office:value-type="float" office:value="1" table:formula="of:=TRUE()"><text:p>1</text:p></table:table-cell>`: "",
		text("a &amp; b &lt;c&gt;"): "a & b <c>",
		text("&#65;&quot;b"):        `A\"b`,
		text("a<text:s/>b"):         "a b",
		text(""):                    "",
	} {
		row := `<table:table-row>` + float + float + `</table:table-row>`
		sheet := `<table:table table:name="One"><table:table-row>` + text("n") + text("m") + `</table:table-row>` + row + `<table:table-row>` + float + cell + `</table:table-row></table:table>`
		usual := shownTable(t, "ods", document(t, sheet, ""), Options{})
		unusual := shownTable(t, "ods", document(t, strings.ReplaceAll(sheet, "<table:table-cell ", "<table:table-cell  "), ""), Options{})
		if usual != unusual || !strings.Contains(usual, "7 | ") || !strings.Contains(usual, want) {
			t.Errorf("%s is %q, and %q", cell, usual, unusual)
		}
	}
	for _, wrong := range []string{"a & b", "]]>", "&x;"} {
		sheet := `<table:table table:name="One"><table:table-row>` + text("n") + `</table:table-row><table:table-row>` + text(wrong) + `</table:table-row></table:table>`
		if got := shownTable(t, "ods", document(t, sheet, ""), Options{}); !strings.Contains(got, "is not valid at line") {
			t.Errorf("%s: %s", wrong, got)
		}
	}
}
