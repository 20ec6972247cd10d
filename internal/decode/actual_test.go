package decode

import (
	"strings"
	"testing"

	"github.com/feedmill/feedmill/internal/decode/decodetest"
)

// TestWhatIsNotWhatItSays sends data under the name of another format.
func TestWhatIsNotWhatItSays(t *testing.T) {
	for _, test := range []struct{ name, said, data, want string }{
		{"a login page as CSV", "csv", "<!DOCTYPE html>\n<html><body>Sign in</body></html>", "web page (HTML)"},
		{"a page as TSV", "tsv", "\n  <html>\n<table><tr><td>1</td></tr></table></html>", "web page (HTML)"},
		{"a page as JSON", "json", "<HTML><HEAD><TITLE>502</TITLE>", "web page (HTML)"},
		{"JSON as CSV", "csv", `[{"a":1,"b":2},{"a":3,"b":4}]`, "other-format a,b 2 rows"},
		{"NDJSON as CSV", "csv", "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n", "other-format a,b 2 rows"},
		{"CSV as JSON", "json", "a,b\n1,2\n3,4\n", "other-format a,b 2 rows"},
		{"CSV in quotes as JSON", "json", "\"a\",\"b\"\n\"1\",\"2\"\n", "other-format a,b 1 rows"},
		{"a string of JSON", "json", `"a,b"`, " value 1 rows"},
		{"XML as CSV", "csv", `<?xml version="1.0"?><l><r a="1" b="2"/><r a="3" b="4"/></l>`, "other-format @a,@b 2 rows"},
		{"XML without its declaration as CSV", "csv", "<l><r><a>1</a><b>x</b></r><r><a>2</a><b>y</b></r></l>\n", "other-format a,b 2 rows"},
		{"XML without its declaration as JSON", "json", `<l><r a="1"/><r a="3"/></l>`, "other-format @a 2 rows"},
		{"CSV with names in angle brackets", "csv", "<DATE>,<CLOSE>\n20260101,1.5\n20260102,</>\n", " <DATE>,<CLOSE> 2 rows"},
		{"a zip", "csv", "PK\x03\x04xx", "a ZIP archive"},
		{"a workbook of old", "csv", "\xd0\xcf\x11\xe0xx", "old Office file"},
		{"a page as xls", "xls", "<html><style>td{}</style><body><table><tr><th>a<th>b<tr><td x:num='1.5'>2<td rowspan=2>x &amp; <b>y</b></td></tr><tr><td>4</table></body></html>", "other-format a,b 2 rows"},
		{"a page without a table as xls", "xls", "<html><body>Sign in</body></html>", "without a table"},
		{"Excel 2003 XML as xls", "xls", `<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="S"><Table>` +
			`<Row><Cell><Data ss:Type="String">a</Data></Cell></Row><Row><Cell><Data ss:Type="Number">1</Data></Cell></Row></Table></Worksheet></Workbook>`, "other-format a 1 rows"},
		{"tabs as xls", "xls", "a\tb\n1\t2\n", "other-format a,b 1 rows"},
		{"commas as xls", "xls", "a,b\n1,2\n", "other-format a,b 1 rows"},
		{"text as xlsx", "xlsx", "\x01\x02\x03", "not a valid ZIP file"},
		{"CSV that begins with a bracket", "csv", "[id],[name]\n1,x\n", " [id],[name] 1 rows"},
		{"CSV with JSON in it", "csv", "{a},{b}\n1,2\n", " {a},{b} 1 rows"},
	} {
		t.Run(test.name, func(t *testing.T) {
			table, err := Open(t.Context(), test.said, strings.NewReader(test.data), Options{Temp: t.TempDir()})
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Error(err)
				}
				return
			}
			defer table.Close()
			rows := decodetest.Rows(t, table)
			warnings, err := table.Warnings()
			if err != nil {
				t.Fatal(err)
			}
			code := ""
			for _, w := range warnings {
				code += w.Code
			}
			got := code + " " + strings.Join(table.Names(), ",") + " " + string(rune('0'+len(rows))) + " rows"
			if got != test.want {
				t.Errorf("is %q, want %q", got, test.want)
			}
		})
	}
}

// TestArraysAsLines has JSON arrays that were sent as NDJSON.
func TestArraysAsLines(t *testing.T) {
	for text, want := range map[string]string{
		"[{\"a\":1},{\"a\":2}]\n": "a 1 2 other-format", "[\n{\"a\":1},\n{\"a\":2}\n]": "a 1 2 other-format", "[]": " other-format no-rows",
		"{\"a\":1}\n{\"a\":2}\n": "a 1 2", "[1,2]\n[3,4]\n": "value [1,2] [3,4]", "[{\"a\":1}]\n[{\"a\":2}]\n": `value [{"a":1}] [{"a":2}]`,
	} {
		rows, warnings := readAll(t, "ndjson", text, Options{Rules: 2})
		if got := strings.Join(append(rows, warnings...), " "); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if rows, _ := readAll(t, "ndjson", "[{\"a\":1},{\"a\":2}]\n", Options{Rules: 1}); len(rows) != 2 {
		t.Errorf("version 1 of the rules reads %q", rows)
	}
}
