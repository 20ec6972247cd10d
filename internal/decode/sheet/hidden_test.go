package sheet

import (
	"slices"
	"strings"
	"testing"
)

// TestHiddenRows has a row in each kind of workbook that nobody sees who opens it. It is read like the others, and
// somebody is told.
func TestHiddenRows(t *testing.T) {
	number := func(value uint32) []byte { return brt(brtCellRK, place(0, 0), value<<2|2) }
	const odsRow = `<table:table-cell office:value-type="float" office:value="%"/></table:table-row>`
	for format, data := range map[string][]byte{
		"xlsx": workbook(t, `<row r="1"><c r="A1" t="inlineStr"><is><t>h</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row><row r="3" hidden="1"><c r="A3"><v>2</v></c></row><row r="4"><c r="A4"><v>3</v></c></row><row r="9" hidden="true"/>`, nil),
		"ods": document(t, `<table:table table:name="One"><table:table-row><table:table-cell office:value-type="string"><text:p>h</text:p></table:table-cell></table:table-row><table:table-row>`+
			strings.Replace(odsRow, "%", "1", 1)+`<table:table-row table:visibility="filter">`+strings.Replace(odsRow, "%", "2", 1)+`<table:table-row table:visibility="visible">`+strings.Replace(odsRow, "%", "3", 1)+`</table:table>`, ""),
		"xls": xlsFile(xlsSheet{name: "One", records: slices.Concat(
			record(recordRow, uint16(1), make([]byte, 10), uint16(0x100)), record(recordRow, uint16(2), make([]byte, 10), uint16(0x120)),
			record(recordLabel, at(0, 0, 0), uint16(1), byte(0), "h"), record(recordRK, at(1, 0, 0), uint32(1<<2|2)), record(recordRK, at(2, 0, 0), uint32(2<<2|2)), record(recordRK, at(3, 0, 0), uint32(3<<2|2)))}),
		"xlsb": binaryWorkbook(t, slices.Concat(binaryRow(0), brt(brtCellText, place(0, 0), counted("h")), binaryRow(1), number(1),
			brt(brtRow, uint32(2), uint32(0), uint16(300), byte(0), byte(0x10), byte(0), uint32(0)), number(2), binaryRow(3), number(3)), nil),
	} {
		const want = "! hidden-rows 1: Some rows are hidden in the sheet (first: row 3) and were imported. Delete them in the workbook, or filter the feed, if you do not need them.\n[\"h\"] 3\n  1\n  2\n  3\n"
		if got := shownTable(t, format, data, Options{}); !strings.HasSuffix(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", format, got, want)
		}
	}
}
