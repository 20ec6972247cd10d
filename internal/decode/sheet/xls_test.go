package sheet

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
)

// xlsGlobals has the formats 0 number, 1 day, 2 percent and 3 elapsed time, and three shared texts of which the
// second goes on in another record, in another width, and has formats and a pronunciation behind it.
func xlsGlobals() []byte {
	return slices.Concat(
		record(recordFormat, uint16(164), uint16(7), byte(0), "[h]:mm;"),
		record(recordXF, uint16(0), uint16(0)), record(recordXF, uint16(0), uint16(14)), record(recordXF, uint16(0), uint16(10)), record(recordXF, uint16(0), uint16(164)),
		record(recordSupBook, uint16(2), uint16(supBookSelf)),
		record(recordExternSheet, uint16(1), uint16(0), uint16(0), uint16(0)),
		record(recordName, uint16(0), byte(0), byte(4), uint16(11), uint16(0), uint16(0), "\x00\x00\x00\x00", byte(0), "Part",
			byte(0x3b), uint16(0), uint16(0), uint16(1), uint16(0), uint16(1)),
		record(recordSST, uint32(3), uint32(3), uint16(1), byte(0), "a", uint16(6), byte(0x0c), uint16(1), uint32(2), "caf"),
		record(recordContinue, byte(1), wide("é 中"), "RUNS"),
		record(recordContinue, "PH", uint16(2), byte(1), wide("\U0001f600")),
	)
}

func xlsFile(sheets ...xlsSheet) []byte {
	return compoundFile("Workbook", xlsStream(xlsGlobals(), sheets...))
}

// TestXLSCells reads every kind of record that has a value.
func TestXLSCells(t *testing.T) {
	var rows []byte
	add := func(r ...[]byte) { rows = append(rows, slices.Concat(r...)...) }
	for i, name := range []string{"one", "two", "three"} {
		add(record(recordLabel, at(0, uint16(i), 0), uint16(len(name)), byte(0), name))
	}
	add(record(recordNumber, at(1, 0, 0), 0.1), record(recordRK, at(1, 1, 0), uint32(12345<<2|3)), record(recordLabelSST, at(1, 2, 0), uint32(1)))
	add(record(recordMulRK, uint16(2), uint16(0), uint16(0), uint32(7<<2|2), uint16(1), uint32(45000<<2|2), uint16(2), uint32(0x3fc00000), uint16(2)))
	add(record(recordFormula, at(3, 0, 0), 2.5, "\x00\x00\x00\x00\x00\x00"),
		record(recordFormula, at(3, 1, 0), "\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00"), record(0x0221, "skipped"),
		record(recordString, uint16(3), byte(0), "te"), record(recordContinue, byte(0), "x"),
		record(recordFormula, at(3, 2, 0), "\x01\x00\x01\x00\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00"))
	add(record(recordBoolErr, at(4, 0, 0), byte(0), byte(0)), record(recordBoolErr, at(4, 1, 0), byte(0x07), byte(1)),
		record(recordFormula, at(4, 2, 0), "\x02\x00\x2a\x00\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00"))
	add(record(recordNumber, at(5, 0, 3), 1.5), record(recordRString, at(5, 1, 0), uint16(2), byte(0), "rs", uint16(0)), record(recordLabelSST, at(5, 2, 0), uint32(2)))
	add(record(recordLabelSST, at(6, 0, 0), uint32(9)), record(0x0201, at(6, 1, 0)), record(recordLabelSST, at(6, 1, 0), uint32(0)),
		record(recordFormula, at(6, 2, 0), "\x03\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00"))
	want := `["one" "two" "three"] 6
  0.1 | 123.45 | 'café 中
  7 | @2023-03-15 | ~12.5%
  2.5 | 'tex | TRUE
  FALSE | !#DIV/0! | !#N/A
  '36:00:00 | 'rs | '` + "\U0001f600" + `
  !#REF! | 'a | '
`
	chart := slices.Concat(record(recordBOF, uint16(biff8), uint16(0x20)), record(recordNumber, at(9, 9, 0), 9.0), record(recordEOF))
	for name, data := range map[string][]byte{
		"small": xlsFile(xlsSheet{name: "S", records: rows}), "with a chart": xlsFile(xlsSheet{name: "S", records: slices.Concat(chart, rows)}),
		"large":              xlsFile(xlsSheet{name: "S", records: slices.Concat(rows, bytes.Repeat(record(0x0999, make([]byte, 2000)), 60))}),
		"without a compound": xlsStream(xlsGlobals(), xlsSheet{name: "S", records: rows}),
	} {
		if got := shownTable(t, "xls", data, Options{}); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestXLSSheets has sheets of all kinds, a name, and cells in no order, some of which are merged.
func TestXLSSheets(t *testing.T) {
	text := func(row, column uint16, text string) []byte {
		return record(recordLabel, at(row, column, 0), uint16(len(text)), byte(0), text)
	}
	table := slices.Concat(record(recordRK, at(2, 0, 0), uint32(5<<2|2)), record(recordFormula, at(2, 1, 0), "\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00"),
		record(recordString, uint16(1), byte(0), "y"),
		record(recordRK, at(1, 1, 0), uint32(4<<2|2)), record(recordRK, at(1, 0, 0), uint32(3<<2|2)), text(0, 1, "b"), text(0, 0, "a"),
		record(recordMulRK, uint16(3), uint16(0), uint16(0), uint32(8<<2|2), uint16(0), uint32(9<<2|2), uint16(1)),
		record(recordMerged, uint16(1), uint16(3), uint16(3), uint16(0), uint16(1)))
	data := xlsFile(xlsSheet{name: "One", records: table}, xlsSheet{name: "Chart", kind: 2}, xlsSheet{name: "Macro", kind: 1},
		xlsSheet{name: "Two", hidden: 2, records: slices.Concat(text(0, 0, "x"), record(recordRK, at(1, 0, 0), uint32(7<<2|2)))})
	const unsorted = "[\"a\" \"b\"] 3\n  3 | 4\n  5 | 'y\n  8 | \n"
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{}, unsorted},
		{Options{Sheet: 2}, "! hidden-sheet 1: Sheet 2 (Two) is hidden in the workbook and was imported. Set sheet to import another sheet.\n[\"x\"] 1\n  7\n"},
		{Options{Path: "part"}, "[\"a\" \"b\"] 1\n  3 | 4\n"},
		{Options{Path: "A1:A2"}, "[\"a\"] 1\n  3\n"},
		{Options{Sheet: 3}, "the sheets of the workbook: 1 One, 2 Two.}]"},
	} {
		if got := shownTable(t, "xls", data, test.options); !strings.HasSuffix(got, test.want) {
			t.Errorf("%+v is\n%s\nwant\n%s", test.options, got, test.want)
		}
	}
}

// TestXLS1904 has days of the calendar that begins in 1904.
func TestXLS1904(t *testing.T) {
	rows := slices.Concat(record(recordLabel, at(0, 0, 0), uint16(1), byte(0), "d"), record(recordNumber, at(1, 0, 1), 1.0))
	data := compoundFile("Workbook", xlsStream(slices.Concat(record(recordDateMode, uint16(1)), xlsGlobals()), xlsSheet{name: "S", records: rows}))
	if got := shownTable(t, "xls", data, Options{}); got != "[\"d\"] 1\n  @1904-01-02\n" {
		t.Error(got)
	}
}

// TestXLSRefused has files that are damaged, made to harm, or not to be read.
func TestXLSRefused(t *testing.T) {
	good := xlsFile(xlsSheet{name: "S", records: slices.Concat(record(recordRK, at(1, 0, 0), uint32(6)), bytes.Repeat(record(0x0999, make([]byte, 2000)), 5))})
	changed := func(at int, value uint32) []byte {
		data := slices.Clone(good)
		le.PutUint32(data[at:], value)
		return data
	}
	table := 512 * (1 + int(le.Uint32(good[76:])))
	stream := func(globals []byte, sheets ...xlsSheet) []byte {
		return compoundFile("Workbook", xlsStream(globals, sheets...))
	}
	rows := func(rows ...[]byte) []byte { return xlsFile(xlsSheet{name: "S", records: slices.Concat(rows...)}) }
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":              {nil, "the data is empty"},
		"only a mark":          {[]byte(compoundMark), "has only 8 bytes"},
		"a text":               {[]byte("hello, this is a text"), "not a compound file"},
		"no header":            {changed(28, 0), "its header is not valid"},
		"cut":                  {good[:len(good)-600], "refers to sector"},
		"a circle":             {changed(table, 0), "loop"},
		"a sector too far":     {changed(table, 1<<20), "refers to sector 1048576"},
		"a table too far":      {changed(76, 1<<30), "refers to sector 1073741824"},
		"tables in a circle":   {changed(68, 3), "loop"},
		"a directory too far":  {changed(48, 5000), "refers to sector 5000"},
		"no root":              {changed(512*(1+int(le.Uint32(good[48:])))+66, 0), "no root"},
		"another document":     {compoundFile("WordDocument", make([]byte, 5000)), "no stream Workbook"},
		"encrypted xlsx":       {compoundFile("EncryptedPackage", make([]byte, 5000)), "without a password"},
		"encrypted":            {stream(record(recordFilePass, uint16(1))), "without a password"},
		"Excel 95":             {compoundFile("Book", record(recordBOF, uint16(0x0500), uint16(5))), "Excel 95 or older"},
		"Excel 4":              {record(0x0409, uint16(0), uint16(0x10), uint16(0)), "Excel 95 or older"},
		"no sheet":             {stream(nil), "no worksheet"},
		"no end of globals":    {compoundFile("Workbook", record(recordBOF, uint16(biff8), uint16(5))), "truncated"},
		"cut in a record":      {compoundFile("Workbook", record(recordBOF, uint16(biff8), uint16(5))[:5]), "truncated"},
		"SST too short":        {stream(record(recordSST, uint32(1), uint32(1000000), uint16(9), byte(0), "abc"), xlsSheet{name: "S"}), "ends within a text"},
		"SST in halves":        {stream(record(recordSST, uint32(1), uint32(1), uint16(9), byte(1), "abc"), xlsSheet{name: "S"}), "cut in two"},
		"a record too short":   {rows(record(recordRK, uint16(0))), "too short"},
		"a column too far":     {rows(record(recordRK, at(0, 300, 0), uint32(2))), "its column is not valid"},
		"a text too long":      {rows(record(recordLabel, at(0, 0, 0), uint16(60000), byte(0), "abc")), "ends within a text"},
		"columns over the end": {rows(record(recordMulRK, uint16(0), uint16(255), uint16(0), uint32(0), uint16(0), uint32(0), uint16(9))), "its column is not valid"},
		"a sheet elsewhere":    {slices.Concat(stream(record(recordBoundSheet, uint32(1<<31), byte(0), byte(0), byte(1), byte(0), "S"))), "after its end"},
		"a sheet without BOF":  {stream(record(recordBoundSheet, uint32(0), byte(0), byte(0), byte(1), byte(0), "S"), xlsSheet{name: "T"}), ""},
	} {
		if got := shownTable(t, "xls", test.data, Options{}); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// FuzzXLS has the law that whatever is opened can be read, and that nothing breaks.
func FuzzXLS(f *testing.F) {
	f.Add(xlsFile(xlsSheet{name: "S", records: slices.Concat(record(recordLabelSST, at(0, 0, 0), uint32(1)), record(recordNumber, at(1, 0, 1), 4.5))}))
	f.Add(xlsStream(xlsGlobals(), xlsSheet{name: "S", records: record(recordRK, at(3, 2, 0), uint32(6))}))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Open(context.Background(), "xls", bytes.NewReader(data), Options{Temp: t.TempDir()})
		if err != nil {
			return
		}
		defer table.Close()
		_ = show(t, table)
	})
}
