package sheet

import (
	"bytes"
	"context"
	"testing"
)

// FuzzODS has the law that whatever is opened can be read, and that nothing breaks, for the rows of a document.
func FuzzODS(f *testing.F) {
	f.Add(`<table:table table:name="One">`+odsHead+`<table:table-row table:number-rows-repeated="3"><table:table-cell office:value-type="currency" office:currency="EUR" office:value="1.5" table:number-columns-repeated="2"/></table:table-row></table:table>`, "")
	f.Add(`<table:table table:name="One"><table:table-column table:default-cell-style-name="ce1" table:number-columns-repeated="9"/>`+odsHead+`<table:table-row><table:table-cell office:value-type="time" office:time-value="PT27H30M00.5S"/><table:covered-table-cell/></table:table-row></table:table>`,
		`<table:named-expressions><table:named-range table:name="Part" table:cell-range-address="$One.$A$1:.$A$2"/></table:named-expressions>`)
	f.Fuzz(func(t *testing.T, sheets, more string) {
		for _, o := range []Options{{}, {Path: "Part"}} {
			o.Temp = t.TempDir()
			readBack(t, "ods", document(t, sheets, more), o)
		}
	})
}

// FuzzHTML has the same law for the tables of a page.
func FuzzHTML(f *testing.F) {
	f.Add([]byte(`<table><tr><th>a<th colspan=2>b</tr><tr><td rowspan="3">1<td x:num="2.5">2,5<td style='mso-number-format:"\@"'>007</table>`))
	f.Add([]byte("<html><body><table><table><tr><td><table><tr><td>x</td></tr></table><script>1<2</script><br>y"))
	f.Fuzz(func(t *testing.T, data []byte) { readBack(t, "html", data, Options{Temp: t.TempDir()}) })
}

// readBack reads a table that can be opened, and sees that its rows are as many as it says.
func readBack(t *testing.T, format string, data []byte, o Options) {
	t.Helper()
	table, err := Open(context.Background(), format, bytes.NewReader(data), o)
	if err != nil {
		return
	}
	defer table.Close()
	_ = show(t, table)
	if names, formats := len(table.Names()), len(table.Formats()); formats != 0 && formats != names {
		t.Errorf("%d columns have %d formats", names, formats)
	}
}
