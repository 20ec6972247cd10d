package sheet

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// brt is a record of a binary part.
func brt(id int, parts ...any) []byte {
	data := packed(parts...)
	out := []byte{byte(id)}
	if id > 127 {
		out = []byte{byte(id&0x7f | 0x80), byte(id >> 7)}
	}
	size := len(data)
	for size > 127 {
		out = append(out, byte(size&0x7f|0x80))
		size >>= 7
	}
	return append(append(out, byte(size)), data...)
}

// counted is a text with its length before it.
func counted(text string) []byte {
	data := wide(text)
	return packed(uint32(len(data)/2), data)
}

// place is the column and the format of a cell.
func place(column, style uint32) []byte { return packed(column, style) }

// binaryRow begins a row.
func binaryRow(row uint32) []byte {
	return brt(brtRow, row, uint32(0), uint16(300), byte(0), byte(0), byte(0), uint32(1), uint32(0), uint32(3))
}

// binaryWorkbook is a workbook of binary parts with the rows of one sheet, formats and shared texts as xlsGlobals has
// them, and parts that take the place of those that it has.
func binaryWorkbook(t testing.TB, rows []byte, more map[string]string) []byte {
	t.Helper()
	sheet := func(rows, behind []byte) string {
		return string(slices.Concat(brt(129), brt(brtBeginSheetData), rows, brt(brtEndSheetData), behind, brt(130)))
	}
	xf := func(format uint16) []byte {
		return brt(brtXF, uint16(0), format, uint16(0), uint16(0), uint16(0), byte(0), byte(0), uint16(0x1000), byte(1), byte(0))
	}
	parts := map[string]string{
		"_rels/.rels": rels + fmt.Sprintf(relationOf, "b", "officeDocument", "xl/workbook.bin") + `</Relationships>`,
		"xl/_rels/workbook.bin.rels": rels + fmt.Sprintf(relationOf, "s1", "worksheet", "worksheets/sheet1.bin") + fmt.Sprintf(relationOf, "s2", "worksheet", "worksheets/sheet2.bin") +
			fmt.Sprintf(relationOf, "c1", "chartsheet", "chartsheets/sheet1.bin") + fmt.Sprintf(relationOf, "st", "styles", "styles.bin") + fmt.Sprintf(relationOf, "ss", "sharedStrings", "sharedStrings.bin") + `</Relationships>`,
		"xl/worksheets/_rels/sheet1.bin.rels": rels + fmt.Sprintf(relationOf, "t1", "table", "../tables/table1.bin") + `</Relationships>`,
		"xl/workbook.bin": string(slices.Concat(brt(131), brt(brtWorkbook, uint32(0), uint32(0), counted("")), brt(143),
			brt(brtSheet, uint32(0), uint32(1), counted("s1"), counted("One")), brt(brtSheet, uint32(0), uint32(2), counted("c1"), counted("Chart")),
			brt(brtSheet, uint32(2), uint32(3), counted("s2"), counted("Two")), brt(144),
			brt(353), brt(brtExternalSelf), brt(brtExternSheet, uint32(1), uint32(0), uint32(0), uint32(0)), brt(354),
			brt(brtName, uint32(0), byte(0), uint32(0xffffffff), counted("Part"), uint32(15), byte(0x3b), uint16(0), uint32(0), uint32(1), uint16(0), uint16(1), uint32(0)), brt(132))),
		"xl/styles.bin": string(slices.Concat(brt(278), brt(615, uint32(1)), brt(brtFormat, uint16(164), counted("[h]:mm;")), brt(616),
			brt(626, uint32(1)), xf(14), brt(627), brt(brtBeginCellXFs, uint32(4)), xf(0), xf(14), xf(10), xf(164), brt(brtEndCellXFs), brt(279))),
		"xl/sharedStrings.bin": string(slices.Concat(brt(159, uint32(3), uint32(3)), brt(brtSharedText, byte(0), counted("a")), brt(brtSharedText, byte(0), counted("café 中")),
			brt(brtSharedText, byte(0), counted("\U0001f600")), brt(160))),
		"xl/tables/table1.bin":     string(brt(brtBeginTable, uint32(0), uint32(1), uint32(1), uint32(2), make([]byte, 48), counted("t"), counted("Sales"), counted(""))),
		"xl/worksheets/sheet1.bin": sheet(rows, slices.Concat(brt(177, uint32(1)), brt(brtMerged, uint32(7), uint32(7), uint32(0), uint32(1)), brt(178))),
		"xl/worksheets/sheet2.bin": sheet(slices.Concat(binaryRow(0), brt(brtCellText, place(0, 0), counted("x")), binaryRow(1), brt(brtCellRK, place(0, 0), uint32(7<<2|2))), nil),
		"[Content_Types].xml":      `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>`,
	}
	for name, text := range more {
		parts[name] = text
	}
	return zipped(t, parts)
}

// binaryCells has every kind of record that has a value, and the same cells as TestXLSCells.
func binaryCells() []byte {
	head := binaryRow(0)
	for i, name := range []string{"one", "two", "three"} {
		head = append(head, brt(brtCellText, place(uint32(i), 0), counted(name))...)
	}
	behind := uint16(0)
	return slices.Concat(head,
		binaryRow(1), brt(brtCellReal, place(0, 0), 0.1), brt(brtCellRK, place(1, 0), uint32(12345<<2|3)), brt(brtCellShared, place(2, 0), uint32(1)),
		binaryRow(2), brt(brtCellRK, place(0, 0), uint32(7<<2|2)), brt(brtCellRK, place(1, 1), uint32(45000<<2|2)), brt(brtCellRK, place(2, 2), uint32(0x3fc00000)),
		binaryRow(3), brt(brtFormulaNumber, place(0, 0), 2.5, behind, uint32(0), uint32(0)), brt(brtFormulaText, place(1, 0), counted("tex"), behind, uint32(0), uint32(0)),
		brt(brtFormulaBool, place(2, 0), byte(1), behind, uint32(0), uint32(0)),
		binaryRow(4), brt(brtCellBool, place(0, 0), byte(0)), brt(brtCellError, place(1, 0), byte(7)), brt(brtFormulaError, place(2, 0), byte(0x2a), behind, uint32(0), uint32(0)),
		binaryRow(5), brt(brtCellReal, place(0, 3), 1.5), brt(brtCellRich, place(1, 0), byte(0), counted("rs")), brt(brtCellShared, place(2, 0), uint32(2)),
		binaryRow(6), brt(brtCellShared, place(0, 0), uint32(9)), brt(brtCellShared, place(1, 0), uint32(0)), brt(brtFormulaText, place(2, 0), counted(""), behind, uint32(0), uint32(0)),
		binaryRow(7), brt(brtCellRK, place(0, 0), uint32(8<<2|2)), brt(brtCellRK, place(1, 0), uint32(9<<2|2)), brt(brtCellRK, place(2, 0), uint32(2)))
}

func TestXLSB(t *testing.T) {
	data := binaryWorkbook(t, binaryCells(), nil)
	const all = "[\"one\" \"two\" \"three\"] 7\n  0.1 | 123.45 | 'café 中\n  7 | @2023-03-15 | ~12.5%\n  2.5 | 'tex | TRUE\n  FALSE | !#DIV/0! | !#N/A\n  '36:00:00 | 'rs | '\U0001f600\n" +
		"  !#REF! | 'a | '\n  8 |  | 0\n"
	for _, test := range []struct {
		options Options
		want    string
	}{
		{Options{}, all},
		{Options{Sheet: 2}, "! hidden-sheet 1: Sheet 2 (Two) is hidden in the workbook and was imported. Set sheet to import another sheet.\n[\"x\"] 1\n  7\n"},
		{Options{Path: "part"}, "[\"one\" \"two\"] 1\n  0.1 | 123.45\n"},
		{Options{Path: "SALES"}, "[\"two\" \"three\"] 1\n  123.45 | 'café 中\n"},
		{Options{Sheet: 3}, "the sheets of the workbook: 1 One, 2 Two.}]"},
	} {
		if got := shownTable(t, "xlsb", data, test.options); !strings.HasSuffix(got, test.want) {
			t.Errorf("%+v is\n%s\nwant\n%s", test.options, got, test.want)
		}
	}
	if kind := Kind(bytes.NewReader(data)); kind != "xlsb" {
		t.Errorf("it is taken for %q", kind)
	}
	from1904 := binaryWorkbook(t, slices.Concat(binaryRow(0), brt(brtCellText, place(0, 0), counted("d")), binaryRow(1), brt(brtCellReal, place(0, 1), 1.0)), map[string]string{
		"xl/workbook.bin": string(slices.Concat(brt(brtWorkbook, uint32(1)), brt(brtSheet, uint32(0), uint32(1), counted("s1"), counted("One")))),
	})
	if got := shownTable(t, "xlsb", from1904, Options{}); got != "[\"d\"] 1\n  @1904-01-02\n" {
		t.Error(got)
	}
}

func TestXLSBRefused(t *testing.T) {
	cells := func(parts ...[]byte) []byte { return binaryWorkbook(t, slices.Concat(parts...), nil) }
	part := func(name string, data ...[]byte) []byte {
		return binaryWorkbook(t, nil, map[string]string{name: string(slices.Concat(data...))})
	}
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"no sheets":            {part("xl/workbook.bin", brt(131)), "no worksheet"},
		"a sheet too short":    {part("xl/workbook.bin", brt(brtSheet, uint32(0))), "too short"},
		"a cut part":           {part("xl/workbook.bin", brt(131), []byte{0x9c, 1, 200, 1}), "damaged"},
		"a length of 5 bytes":  {part("xl/workbook.bin", []byte{1, 0xff, 0xff, 0xff, 0xff, 1}), "its length is not valid"},
		"a huge record":        {part("xl/workbook.bin", []byte{1, 0xff, 0xff, 0xff, 0x7f}), "the record is too long"},
		"a text too long":      {part("xl/sharedStrings.bin", brt(brtSharedText, byte(0), uint32(1<<30))), "a text is longer"},
		"no sheet part":        {binaryWorkbook(t, nil, map[string]string{"xl/worksheets/sheet1.bin": ""}), ""},
		"rows backwards":       {cells(binaryRow(5), binaryRow(5)), "greater than that of the previous row"},
		"too many rows":        {cells(binaryRow(1 << 20)), "greater than that of the previous row"},
		"columns backwards":    {cells(binaryRow(0), brt(brtCellRK, place(1, 0), uint32(2)), brt(brtCellRK, place(1, 0), uint32(2))), "is not after the previous cell"},
		"too many columns":     {cells(binaryRow(0), brt(brtCellRK, place(1<<14, 0), uint32(2))), "is not after the previous cell"},
		"a cell without a row": {cells(brt(brtCellRK, place(0, 0), uint32(2))), "is not after the previous cell"},
		"a cell too short":     {cells(binaryRow(0), brt(brtCellReal, place(0, 0))), "too short"},
		"merged over merged": {part("xl/worksheets/sheet1.bin", brt(brtBeginSheetData), binaryRow(0), brt(brtCellRK, place(0, 0), uint32(2)), brt(brtEndSheetData),
			bytes.Repeat(brt(brtMerged, uint32(0), uint32(9), uint32(0), uint32(maxColumn)), 2)), "merged cells overlap"},
	} {
		if got := shownTable(t, "xlsb", test.data, Options{}); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// FuzzXLSB has the law that whatever is opened can be read, and that nothing breaks.
func FuzzXLSB(f *testing.F) {
	f.Add(binaryCells(), uint8(0))
	f.Add(slices.Concat(brt(brtSheet, uint32(0), uint32(1), counted("s1"), counted("One")), brt(brtName, uint32(0))), uint8(1))
	f.Add(slices.Concat(brt(brtFormat, uint16(164), counted("yy")), brt(brtBeginCellXFs), brt(brtXF, uint16(0), uint16(164))), uint8(2))
	f.Add(brt(brtSharedText, byte(0), counted("a")), uint8(3))
	f.Add(brt(brtBeginTable, make([]byte, 64), counted("a"), counted("b")), uint8(4))
	f.Fuzz(func(t *testing.T, part []byte, which uint8) {
		var data []byte
		if which %= 5; which == 0 {
			data = binaryWorkbook(t, part, nil)
		} else {
			name := []string{"xl/workbook.bin", "xl/styles.bin", "xl/sharedStrings.bin", "xl/tables/table1.bin"}[which-1]
			data = binaryWorkbook(t, binaryCells(), map[string]string{name: string(part)})
		}
		table, err := Open(context.Background(), "xlsb", bytes.NewReader(data), Options{Temp: t.TempDir()})
		if err != nil {
			return
		}
		defer table.Close()
		_ = show(t, table)
	})
}
