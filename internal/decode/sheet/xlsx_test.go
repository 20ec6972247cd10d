package sheet

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/decodetest"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// zipped is a zip file with parts, in the order of their names.
func zipped(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(parts[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const (
	main       = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	rels       = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	relationOf = `<Relationship Id="%s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/>`
)

// workbook is a workbook with the rows of one sheet, and parts that take the place of those that it
// has.
func workbook(t testing.TB, rows string, others map[string]string) []byte {
	t.Helper()
	parts := map[string]string{
		"_rels/.rels":     rels + fmt.Sprintf(relationOf, "a", "officeDocument", "xl/workbook.xml") + `</Relationships>`,
		"xl/workbook.xml": `<workbook ` + main + `><sheets><sheet name="One" sheetId="1" r:id="s1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": rels + fmt.Sprintf(relationOf, "s1", "worksheet", "worksheets/sheet1.xml") + fmt.Sprintf(relationOf, "s2", "worksheet", "/xl/worksheets/sheet2.xml") +
			fmt.Sprintf(relationOf, "c1", "chartsheet", "chartsheets/sheet1.xml") + fmt.Sprintf(relationOf, "st", "styles", "styles.xml") + fmt.Sprintf(relationOf, "ss", "sharedStrings", "sharedStrings.xml") + `</Relationships>`,
		"xl/styles.xml": `<styleSheet ` + main + `><numFmts><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm"/><numFmt numFmtId="165" formatCode="[h]:mm:ss"/>` +
			`<numFmt numFmtId="166" formatCode="[Red]&quot;days&quot; 0.00"/><numFmt numFmtId="167" formatCode="[$-407]d. mmmm yyyy;@"/><numFmt numFmtId="168" formatCode="0.00E+00"/></numFmts>` +
			`<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="167"/><xf numFmtId="168"/><xf numFmtId="20"/></cellXfs></styleSheet>`,
		"xl/sharedStrings.xml":     `<sst ` + main + `><si><t>name</t></si><si><r><rPr><b/></rPr><t>ri</t></r><r><t xml:space="preserve">ch </t></r><rPh sb="0" eb="1"><t>no</t></rPh></si><si><t>a_x000D_b_x005F_</t></si><si><t/></si></sst>`,
		"xl/worksheets/sheet1.xml": `<worksheet ` + main + `><dimension ref="A1:XFD1048576"/><sheetData>` + rows + `</sheetData></worksheet>`,
		"xl/worksheets/sheet2.xml": `<worksheet ` + main + `><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row><row r="2"><c r="A2"><v>7</v></c></row></sheetData></worksheet>`,
	}
	for name, text := range others {
		parts[name] = text
		if text == "" {
			delete(parts, name)
		}
	}
	return zipped(t, parts)
}

func open(format string, data []byte, o Options) (*Table, error) {
	if format == "xml" {
		document, err := xml.OpenWorkbook(context.Background(), bytes.NewReader(data), xml.Options{Temp: o.Temp})
		if err != nil {
			return nil, err
		}
		return OpenXML(context.Background(), document, int64(len(data)), o)
	}
	return Open(context.Background(), format, bytes.NewReader(data), o)
}

// shown is a table as text, or why it is refused.
func shownTable(t *testing.T, format string, data []byte, o Options) string {
	t.Helper()
	o.Temp = t.TempDir()
	table, err := open(format, data, o)
	if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
		return fmt.Sprint(refusal, refusal.Faults)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	decodetest.Rows(t, table)
	return show(t, table)
}

func TestCells(t *testing.T) {
	const head = `<row r="1"><c r="A1" t="inlineStr"><is><t>h</t></is></c><c t="inlineStr"><is><t>i</t></is></c></row>`
	for _, test := range []struct{ name, cell, want string }{
		{"a number", `<v>1</v>`, "1"},
		{"a tenth", `<v>0.1</v>`, "0.1"},
		{"a tenth with noise", `<v>0.10000000000000001</v>`, "0.1"},
		{"fifteen digits", `<v>123456789012345</v>`, "123456789012345"},
		{"a large number", `<v>1E+20</v>`, "100000000000000000000"},
		{"a larger number", `<v>1.5E+300</v>`, "1.5e+300"},
		{"a shared text", ` t="s"><v>1</v>`, "'rich "},
		{"an escaped text", ` t="s"><v>2</v>`, `'a\rb_`},
		{"an empty text", ` t="s"><v>3</v>`, "'"},
		{"a text that is not there", ` t="s"><v>99</v>`, "!#REF!"},
		{"a text that looks like a number", ` t="str"><v>007</v>`, "'007"},
		{"a truth value", ` t="b"><v>1</v>`, "TRUE"},
		{"an error", ` t="e"><v>#N/A</v>`, "!#N/A"},
		{"a formula with its value", `><f>1+1</f><v>2</v>`, "2"},
		{"an ISO date", ` t="d"><v>2026-11-15</v>`, "@2026-11-15"},
		{"a day", ` s="1"><v>46341</v>`, "@2026-11-15"},
		{"a day with a time that its format hides", ` s="1"><v>46341.5</v>`, "@2026-11-15T12:00:00"},
		{"a day and a time", ` s="3"><v>46341</v>`, "@2026-11-15T00:00:00"},
		{"a day in German", ` s="6"><v>46341</v>`, "@2026-11-15"},
		{"a time of day", ` s="8"><v>0.75</v>`, "'18:00:00"},
		{"a percentage", ` s="2"><v>0.125</v>`, "~12.5%"},
		{"a percentage of three digits", ` s="2"><v>0.12345</v>`, "~12.3450%"},
		{"a small percentage", ` s="2"><v>-0.0005</v>`, "~-0.05%"},
		{"a percentage of a hundred", ` s="2"><v>1</v>`, "~100%"},
		{"a number with a colour and a word", ` s="5"><v>2.5</v>`, "2.5"},
		{"a number in exponents", ` s="7"><v>1500</v>`, "1500"},
		{"a style that there is not", ` s="77"><v>3</v>`, "3"},
		{"a negative day", ` s="1"><v>-5</v>`, "-5"},
	} {
		cell := test.cell
		if cell[0] == '<' {
			cell = ">" + cell
		}
		data := workbook(t, head+`<row><c`+cell+`</c><c><v>0</v></c></row>`, nil)
		want := "[\"h\" \"i\"] 1\n  " + test.want + " | 0\n"
		if got := shownTable(t, "xlsx", data, Options{}); got != want {
			t.Errorf("%s is %q, want %q", test.name, got, want)
		}
	}
}

func TestDaysOf1904(t *testing.T) {
	data := workbook(t, `<row><c t="str"><v>d</v></c></row><row><c s="1"><v>0</v></c></row><row><c s="1"><v>44879</v></c></row>`,
		map[string]string{"xl/workbook.xml": `<workbook ` + main + `><workbookPr date1904="1"/><sheets><sheet name="One" sheetId="1" r:id="s1"/></sheets></workbook>`})
	if got, want := shownTable(t, "xlsx", data, Options{}), "[\"d\"] 2\n  @1904-01-01\n  @2026-11-15\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSheetsAndRanges(t *testing.T) {
	data := workbook(t, `<row r="2"><c r="B2" t="str"><v>Sales of the year</v></c></row><row r="4"><c r="B4" t="str"><v>a</v></c><c r="C4" t="str"><v>b</v></c></row>`+
		`<row r="5"><c r="B5"><v>1</v></c><c r="C5"><v>2</v></c></row><row r="6"><c r="B6"><v>3</v></c><c r="C6"><v>4</v></c><c r="E6"><v>9</v></c></row>`, map[string]string{
		"xl/workbook.xml": `<workbook ` + main + `><sheets><sheet name="One" sheetId="1" r:id="s1"/><sheet name="Chart" sheetId="2" r:id="c1"/><sheet name="It's two" sheetId="9" state="hidden" r:id="s2"/></sheets>` +
			`<definedNames><definedName name="Part">One!$B$4:$C$5</definedName><definedName name="Other">'It''s two'!$A$1:$A$2</definedName><definedName name="Escaped">&apos;It&apos;&apos;s two&apos;!$A:$A</definedName></definedNames></workbook>`,
		"xl/worksheets/_rels/sheet1.xml.rels": rels + fmt.Sprintf(relationOf, "t1", "table", "../tables/table1.xml") + `</Relationships>`,
		"xl/tables/table1.xml":                `<table ` + main + ` displayName="Orders" ref="B4:C6"/>`,
	})
	const ab, whole = `["a" "b"] `, "! skipped-preamble 1: "
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{Path: "Part"}, ab + "1\n  1 | 2\n"},
		{Options{Path: "orders"}, ab + "2\n  1 | 2\n  3 | 4\n"},
		{Options{Path: "B4:C6"}, ab + "2\n  1 | 2\n  3 | 4\n"},
		{Options{Path: "B5:C6", Header: -1}, "[\"\" \"\"] 2\n  1 | 2\n  3 | 4\n"},
		{Options{Sheet: 2}, "! hidden-sheet 1: Sheet 2 (It's two) is hidden in the workbook and was imported. Set sheet to import another sheet.\n[\"x\"] 1\n  7\n"},
		{Options{Path: "Other"}, "! hidden-sheet 1: Sheet 2 (It's two) is hidden in the workbook and was imported. Set sheet to import another sheet.\n[\"x\"] 1\n  7\n"},
		{Options{Sheet: 3}, "1 One, 2 It's two"},
		{Options{Sheet: 2, Path: "Part"}, "is in sheet 1 (One)"},
		{Options{Path: "Nothing"}, "nor the name of a range or table in the workbook. Its names are: Escaped, Orders, Other, Part."},
		{Options{Path: "Escaped"}, "! hidden-sheet 1: Sheet 2 (It's two) is hidden in the workbook and was imported. Set sheet to import another sheet.\n[\"x\"] 1\n  7\n"},
		{Options{Path: "'it''s two'!A1:A2"}, "! hidden-sheet 1: Sheet 2 (It's two) is hidden in the workbook and was imported. Set sheet to import another sheet.\n[\"x\"] 1\n  7\n"},
		{Options{Path: "One!B4:C6"}, ab + "2\n  1 | 2\n  3 | 4\n"},
		{Options{Path: "One!B4:C6", Sheet: 2}, "is in sheet 1 (One)"},
		{Options{Path: "Three!B4:C6"}, "is not a cell range"},
		{Options{Path: "B:C"}, ab + "2\n  1 | 2\n  3 | 4"},
		{Options{Path: "5:6", Header: -1}, "[\"\" \"\" \"\" \"\"] 2\n  1 | 2 |  | \n  3 | 4 |  | 9\n"},
		{Options{Path: "C:B"}, "is not a cell range"},
		{Options{Path: "0:5"}, "is not a cell range"},
		{Options{}, whole},
	} {
		if got := shownTable(t, "xlsx", data, test.options); got != test.want && !(strings.Contains(got, test.want) && !strings.HasSuffix(test.want, "\n")) {
			t.Errorf("%+v is %q, want %q", test.options, got, test.want)
		}
	}
}

func TestRefusedWorkbooks(t *testing.T) {
	good := workbook(t, `<row r="1"><c r="A1"><v>1</v></c></row>`, nil)
	sheet := func(rows string) []byte { return workbook(t, rows, nil) }
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":           {nil, "empty"},
		"no zip":            {[]byte("a,b\n1,2\n"), "not a valid ZIP file"},
		"half":              {good[:len(good)/2], "not a valid ZIP file"},
		"another zip":       {zipped(t, map[string]string{"a.csv": "a,b"}), "has no xl/workbook.xml"},
		"no sheet part":     {workbook(t, "", map[string]string{"xl/worksheets/sheet1.xml": ""}), "has no part xl/worksheets/sheet1.xml"},
		"broken XML":        {sheet(`<row r="1"><c r="A1"><v>1</c></row>`), "not valid at line 1"},
		"rows backwards":    {sheet(`<row r="5"/><row r="4"/>`), "greater than that of the previous row"},
		"too many rows":     {sheet(`<row r="9999999"><c><v>1</v></c></row>`), "greater than that of the previous row"},
		"columns backwards": {sheet(`<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>1</v></c></row>`), "is not after the previous cell"},
		"no worksheet":      {workbook(t, "", map[string]string{"xl/workbook.xml": `<workbook ` + main + `><sheets/></workbook>`}), "no worksheet"},
		"entities":          {sheet(`<!DOCTYPE a [<!ENTITY b "c">]>`), "not valid at"},
	} {
		if got := shownTable(t, "xlsx", test.data, Options{}); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %q", name, got, test.want)
		}
	}
	for n := range len(good) {
		if table, err := open("xlsx", good[:n], Options{}); err == nil {
			table.Close()
			t.Fatalf("%d of %d bytes are a workbook", n, len(good))
		}
	}
}

// TestBlowUps holds that workbooks which are far larger than they look are refused.
func TestBlowUps(t *testing.T) {
	far := workbook(t, `<row r="1"><c r="A1" t="str"><v>a</v></c><c r="XFD1" t="str"><v>b</v></c></row><row r="2"><c r="A2"><v>1</v></c></row><row r="1048576"><c r="A1048576"><v>1</v></c><c><v>1</v></c></row>`, nil)
	if got := shownTable(t, "xlsx", far, Options{}); !strings.Contains(got, "the maximum for data of this size") {
		t.Errorf("a cell far away: %.200s", got)
	}
	wide := `<row r="1">`
	for i := range 400 {
		wide += fmt.Sprintf(`<c t="str"><v>c%d</v></c>`, i)
	}
	tall := workbook(t, wide+`</row><row r="2"><c><v>1</v></c></row><row r="1048576"><c><v>1</v></c><c><v>1</v></c></row>`, nil)
	if got := shownTable(t, "xlsx", tall, Options{}); !strings.Contains(got, "the maximum for data of this size") {
		t.Errorf("a million rows of nothing: %.200s", got)
	}
}

// TestColumnsAtTheLeft holds that a value which stands at the left of all others, far below the
// first rows, has a column of its own and changes no other.
func TestColumnsAtTheLeft(t *testing.T) {
	var rows strings.Builder
	rows.WriteString(`<row r="1"><c r="C1" t="str"><v>a</v></c><c r="D1" t="str"><v>b</v></c></row>`)
	for i := 2; i <= 600; i++ {
		if i == 590 {
			fmt.Fprintf(&rows, `<row r="%d"><c r="A%d"><v>7</v></c>`, i, i)
		} else {
			fmt.Fprintf(&rows, `<row r="%d">`, i)
		}
		fmt.Fprintf(&rows, `<c r="C%d"><v>%d</v></c><c r="D%d"><v>2</v></c></row>`, i, i, i)
	}
	o := Options{Temp: t.TempDir()}
	table, err := open("xlsx", workbook(t, rows.String(), nil), o)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if got := fmt.Sprintf("%q", table.Names()); got != `["" "" "a" "b"]` || table.Rows() != 599 {
		t.Errorf("%s and %d rows", got, table.Rows())
	}
	for i, row := range decodetest.Rows(t, table) {
		want := []string{"∅", "∅", fmt.Sprint(i + 2), "2"}
		if i+2 == 590 {
			want[0] = "7"
		}
		if !slices.Equal(row, want) {
			t.Fatalf("row %d is %q, want %q", i+2, row, want)
		}
	}
}

// TestUnits holds that units under the names of columns are known.
func TestUnits(t *testing.T) {
	data := workbook(t, `<row><c t="str"><v>item</v></c><c t="str"><v>weight</v></c></row><row><c/><c t="str"><v>[kg]</v></c></row>`+
		strings.Repeat(`<row><c t="str"><v>x</v></c><c><v>1.5</v></c></row>`, 3), nil)
	table, err := open("xlsx", data, Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if units := table.Units(); table.Rows() != 3 || len(units) != 2 || !strings.Contains(units[1], "kg") {
		t.Errorf("%d rows, the units are %q", table.Rows(), units)
	}
}

// TestSharedBlowUps holds that a text which very many cells share is refused before it takes memory
// or disk for each of them.
func TestSharedBlowUps(t *testing.T) {
	long := strings.Repeat("long ", 200_000) // a megabyte
	shared := map[string]string{"xl/sharedStrings.xml": `<sst ` + main + `><si><t>` + long + `</t></si></sst>`}
	wide := `<row>` + strings.Repeat(`<c t="s"><v>0</v></c>`, 1000) + `</row>`
	if got := shownTable(t, "xlsx", workbook(t, wide, shared), Options{}); !strings.Contains(got, "bytes of text") {
		t.Errorf("a row: %.200s", got)
	}
	tall := strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 1000)
	if got := shownTable(t, "xlsx", workbook(t, tall, shared), Options{}); !strings.Contains(got, "bytes of text") {
		t.Errorf("rows: %.200s", got)
	}
	many := map[string]string{"xl/sharedStrings.xml": `<sst ` + main + `>` + strings.Repeat(`<si/>`, 3_000_000) + `</sst>`}
	if got := shownTable(t, "xlsx", workbook(t, `<row/>`, many), Options{}); !strings.Contains(got, "shared strings of the workbook require more than") {
		t.Errorf("texts of nothing: %.200s", got)
	}
	var sheets strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&sheets, `<sheet name="s%d" sheetId="%d" r:id="s1"/>`, i, i+1)
	}
	book := map[string]string{"xl/workbook.xml": `<workbook ` + main + `><sheets>` + sheets.String() + `</sheets></workbook>`}
	if got := shownTable(t, "xlsx", workbook(t, `<row/>`, book), Options{}); !strings.Contains(got, "1001 sheets") {
		t.Errorf("sheets: %.200s", got)
	}
}

// TestDamaged changes bytes of a workbook one at a time. What is read then is refused as the workbook that it is,
// or is read in full.
func TestDamaged(t *testing.T) {
	var rows strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rows, `<row><c><v>%d</v></c><c t="inlineStr"><is><t>text %d</t></is></c></row>`, i*7919, i*31)
	}
	for format, data := range map[string][]byte{"xlsx": workbook(t, rows.String(), nil), "ods": document(t, strings.ReplaceAll(`<table:table table:name="One">`+odsHead+`</table:table>`, "\n", ""), "")} {
		refused := 0
		for at := 0; at < len(data); at += 13 {
			changed := bytes.Clone(data)
			changed[at] ^= 0x55
			table, err := open(format, changed, Options{Temp: t.TempDir()})
			if err == nil {
				table.Close()
				continue
			}
			refused++
			if text := err.Error(); !strings.Contains(text, "workbook") && !strings.Contains(text, "document") {
				t.Errorf("%s with another byte %d: %v", format, at, err)
			}
		}
		if refused < 20 {
			t.Errorf("%s: only %d are refused", format, refused)
		}
	}
}

func FuzzXLSX(f *testing.F) {
	f.Add(workbook(f, `<row r="1"><c r="A1"><v>1</v></c></row>`, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if table, err := open("xlsx", data, Options{}); err == nil {
			table.Close()
		}
	})
}
