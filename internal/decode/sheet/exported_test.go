package sheet

import (
	"strings"
	"testing"
)

// TestExportedWorkbook has a workbook that Feedmill wrote, on two sheets, with everything that is
// left out of the workbooks of others: a title, units, the names again, rows without a cell and a
// note.
func TestExportedWorkbook(t *testing.T) {
	text := func(reference, text string) string {
		return `<c r="` + reference + `" t="inlineStr"><is><t>` + text + `</t></is></c>`
	}
	row := func(number, cells string) string { return `<row r="` + number + `">` + cells + `</row>` }
	names := row("1", text("A1", "a")+text("B1", "b"))
	rows := names + row("2", text("A2", "kg")+text("B2", "EUR")) + row("3", text("A3", "a")+text("B3", "b")) + row("4", "") +
		row("5", `<c r="A5"><v>1</v></c><c r="B5"><v>2</v></c>`) + row("6", "") + row("7", text("A7", "Source: x")) + row("8", "")
	further := names + row("2", text("B2", "last")) + row("3", "")
	book := func(application, third string) []byte {
		return workbook(t, rows, map[string]string{
			"xl/workbook.xml":          `<workbook ` + main + `><fileVersion appName="` + application + `"/><sheets><sheet name="Data" sheetId="1" r:id="s1"/><sheet name="Data 2" sheetId="2" r:id="s2"/>` + third + `</sheets></workbook>`,
			"xl/worksheets/sheet2.xml": `<worksheet ` + main + `><sheetData>` + further + `</sheetData></worksheet>`,
		})
	}
	const all = "[\"a\" \"b\"] 9\n  'kg | 'EUR\n  'a | 'b\n   | \n  1 | 2\n   | \n  'Source: x | \n   | \n   | 'last\n   | \n"
	if got := shownTable(t, "xlsx", book("feedmill", ""), Options{Rules: 2}); got != all {
		t.Errorf("the workbook is\n%s\nwant\n%s", got, all)
	}
	notes := `<sheet name="Notes" sheetId="3" r:id="s2"/>`
	if got := shownTable(t, "xlsx", book("feedmill", notes), Options{Rules: 2}); !strings.HasPrefix(got, "! cut-texts 1: ") || !strings.HasSuffix(got, all) {
		t.Errorf("the workbook with cut texts is\n%s", got)
	}
	if got := shownTable(t, "xlsx", book("feedmill", ""), Options{Rules: 2, Sheet: 2}); got != "[\"a\" \"b\"] 2\n   | 'last\n   | \n" {
		t.Errorf("the second sheet is\n%s", got)
	}
	for name, other := range map[string]Options{"version 1 of the rules": {Rules: 1}, "a header that is set": {Rules: 2, Header: 1}} {
		if got := shownTable(t, "xlsx", book("feedmill", ""), other); strings.HasSuffix(got, all) {
			t.Errorf("with %s the workbook is\n%s", name, got)
		}
	}
	if got := shownTable(t, "xlsx", book("xl", ""), Options{Rules: 2}); strings.HasSuffix(got, all) {
		t.Errorf("a workbook that Excel saved is\n%s", got)
	}
}
