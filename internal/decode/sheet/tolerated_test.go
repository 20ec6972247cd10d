package sheet

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestXLSOlderFormulas has formulas under the numbers that Excel 3 and 4 had for them.
func TestXLSOlderFormulas(t *testing.T) {
	rows := slices.Concat(record(recordLabel, at(0, 0, 0), uint16(1), byte(0), "a"), record(recordLabel, at(0, 1, 0), uint16(1), byte(0), "b"),
		record(0x0206, at(1, 0, 0), 2.5, "\x00\x00\x00\x00"),
		record(0x0406, at(1, 1, 0), "\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00"), record(recordString, uint16(2), byte(0), "xy"),
		record(0x0406, at(2, 0, 1), 45000.0, "\x00\x00\x00\x00"), record(0x0206, at(2, 1, 0), "\x01\x00\x01\x00\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00"))
	const want = "[\"a\" \"b\"] 2\n  2.5 | 'xy\n  @2023-03-15 | TRUE\n"
	if got := shownTable(t, "xls", xlsFile(xlsSheet{name: "S", records: rows}), Options{}); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	// The same cells in no order.
	rows = slices.Concat(record(0x0206, at(2, 0, 0), 3.0, "\x00\x00"), record(0x0406, at(1, 0, 0), 2.5, "\x00\x00"), record(recordLabel, at(0, 0, 0), uint16(1), byte(0), "a"))
	if got := shownTable(t, "xls", xlsFile(xlsSheet{name: "S", records: rows}), Options{}); got != "[\"a\"] 2\n  2.5\n  3\n" {
		t.Error(got)
	}
}

// TestXLSFormats has number formats in every form that programs write, and in some that nobody can read.
func TestXLSFormats(t *testing.T) {
	rows := slices.Concat(record(recordLabel, at(0, 0, 0), uint16(1), byte(0), "d"), record(recordNumber, at(1, 0, 0), 45000.0), record(recordNumber, at(2, 0, 0), 45001.0))
	const day, number = "[\"d\"] 2\n  @2023-03-15\n  @2023-03-16\n", "[\"d\"] 2\n  45000\n  45001\n"
	for name, test := range map[string]struct {
		format []byte
		want   string
	}{
		"bytes":       {packed(uint16(164), uint16(10), byte(0), "yyyy-mm-dd"), day},
		"wide":        {packed(uint16(164), uint16(10), byte(1), wide("yyyy-mm-dd")), day},
		"of Excel 95": {packed(uint16(164), byte(10), "yyyy-mm-dd"), day},
		"empty":       {packed(uint16(164), uint16(0)), number},
		"too short":   {packed(uint16(164), uint16(200), byte(0), "yyyy"), "! unreadable-format 2"},
		"cut":         {packed(uint16(164), uint16(10)), "! unreadable-format 2"},
		"flags":       {packed(uint16(164), uint16(10), byte(0xf0), "yyyy-mm-dd"), "! unreadable-format 2"},
	} {
		globals := slices.Concat(record(recordFormat, test.format), record(recordFormat), record(recordFormat, uint16(165), uint16(9)), record(recordXF, uint16(0), uint16(164)))
		data := compoundFile("Workbook", xlsStream(globals, xlsSheet{name: "S", records: rows}))
		got := shownTable(t, "xls", data, Options{})
		if got != test.want && !(strings.HasPrefix(test.want, "!") && strings.HasPrefix(got, test.want) && strings.HasSuffix(got, number)) {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// TestBackslashes has workbooks whose parts are named with backslashes, as some programs do.
func TestBackslashes(t *testing.T) {
	plain := workbook(t, `<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2"><v>5</v></c></row>`, nil)
	files, err := zip.NewReader(bytes.NewReader(plain), int64(len(plain)))
	if err != nil {
		t.Fatal(err)
	}
	parts := make(map[string]string)
	for _, f := range files.File {
		body, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		parts[strings.ReplaceAll(f.Name, "/", `\`)] = strings.ReplaceAll(string(text), "worksheets/", `worksheets\`)
	}
	data := zipped(t, parts)
	if got := Kind(bytes.NewReader(data)); got != "xlsx" || !RecogniseXLSX(data[:min(len(data), 512)], false) {
		t.Errorf("it is %q", got)
	}
	if got := shownTable(t, "xlsx", data, Options{}); got != "[\"name\"] 1\n  5\n" {
		t.Error(got)
	}
}

// TestWidestSheet has a value in the last column that a sheet can have.
func TestWidestSheet(t *testing.T) {
	var names, values strings.Builder
	for i := range maxColumn + 1 {
		fmt.Fprintf(&names, `<c t="inlineStr"><is><t>n%d</t></is></c>`, i+1)
		fmt.Fprintf(&values, `<c><v>%d</v></c>`, i+1)
	}
	data := workbook(t, `<row r="1">`+names.String()+`</row><row r="2">`+values.String()+`</row>`, nil)
	table, err := open("xlsx", data, Options{Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if all := table.Names(); len(all) != 16384 || all[16383] != "n16384" || table.Rows() != 1 {
		t.Errorf("%d names, %d rows", len(all), table.Rows())
	}
}
