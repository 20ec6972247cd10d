package decodetest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// Workbooks are the formats that [Workbook] writes.
var Workbooks = []string{"xlsx", "xlsb", "xls", "ods", "xml"}

// Workbook writes rows on the first sheet of a workbook; xml is that of Excel 2003. A cell is a
// number where its text is one, and missing where it is empty. A row without cells is blank. It
// shares no code with the reader.
func Workbook(t testing.TB, format string, rows [][]string) []byte {
	t.Helper()
	switch format {
	case "xlsx":
		return packageOf(t, "xml", "", "", `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`+sheetXML(rows)+`</sheetData></worksheet>`)
	case "xlsb":
		return packageOf(t, "bin", "", "", sheetBinary(rows))
	case "xls":
		return xlsFile(rows)
	case "ods":
		return packageOf(t, "", "content.xml", "mimetype", `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" `+
			`xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet><table:table table:name="One">`+
			markup(rows, "<table:table-row>", "</table:table-row>", `<table:table-cell/>`, `<table:table-cell office:value-type="float" office:value="%s"/>`, `<table:table-cell office:value-type="string"><text:p>%s</text:p></table:table-cell>`)+
			`</table:table></office:spreadsheet></office:body></office:document-content>`)
	case "xml":
		return []byte(`<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="One"><Table>` +
			markup(rows, "<Row>", "</Row>", "<Cell/>", `<Cell><Data ss:Type="Number">%s</Data></Cell>`, `<Cell><Data ss:Type="String">%s</Data></Cell>`) + `</Table></Worksheet></Workbook>`)
	}
	t.Fatalf("no workbook is %s", format)
	return nil
}

// isNumber reports whether a cell is a number.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// markup writes rows with a text for each kind of cell.
func markup(rows [][]string, begin, end, missing, number, text string) string {
	var out strings.Builder
	for _, row := range rows {
		out.WriteString(begin)
		for _, cell := range row {
			switch {
			case cell == "":
				out.WriteString(missing)
			case isNumber(cell):
				fmt.Fprintf(&out, number, cell)
			default:
				fmt.Fprintf(&out, text, html.EscapeString(cell))
			}
		}
		out.WriteString(end)
	}
	return out.String()
}

// sheetXML are rows of Office Open XML. Blank ones are left out.
func sheetXML(rows [][]string) string {
	var out strings.Builder
	for i, row := range rows {
		if len(row) == 0 {
			continue
		}
		fmt.Fprintf(&out, `<row r="%d">`, i+1)
		for j, cell := range row {
			switch {
			case cell == "":
			case isNumber(cell):
				fmt.Fprintf(&out, `<c r="%c%d"><v>%s</v></c>`, 'A'+j, i+1, cell)
			default:
				fmt.Fprintf(&out, `<c r="%c%d" t="inlineStr"><is><t>%s</t></is></c>`, 'A'+j, i+1, html.EscapeString(cell))
			}
		}
		out.WriteString("</row>")
	}
	return out.String()
}

var little = binary.LittleEndian

// units is a text in UTF-16.
func units(text string) (data []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		data = little.AppendUint16(data, unit)
	}
	return data
}

// sheetBinary is the part of a sheet of xlsb.
func sheetBinary(rows [][]string) string {
	var out []byte
	record := func(id int, data []byte) {
		if out = append(out, byte(id&0x7f)); id > 0x7f {
			out[len(out)-1] |= 0x80
			out = append(out, byte(id>>7))
		}
		size := len(data)
		for ; size > 0x7f; size >>= 7 {
			out = append(out, byte(size)|0x80)
		}
		out = append(append(out, byte(size)), data...)
	}
	record(129, nil)
	record(145, nil)
	for i, row := range rows {
		if len(row) == 0 {
			continue
		}
		record(0, append(little.AppendUint32(nil, uint32(i)), make([]byte, 13)...))
		for j, cell := range row {
			data := little.AppendUint64(nil, uint64(j)) // the column, and no format
			number, err := strconv.ParseFloat(cell, 64)
			switch {
			case cell == "":
			case err == nil:
				record(5, little.AppendUint64(data, math.Float64bits(number)))
			default:
				text := units(cell)
				record(6, append(little.AppendUint32(data, uint32(len(text)/2)), text...))
			}
		}
	}
	record(146, nil)
	record(130, nil)
	return string(out)
}

// packageOf is a zip file with one sheet: that of an OpenDocument, where its path is given, or of
// Office Open XML with parts in XML or binary.
func packageOf(t testing.TB, kind, path, mark, sheet string) []byte {
	t.Helper()
	const head = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/`
	book := `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>`
	if kind == "bin" {
		id, name := units("r1"), units("One")
		entry := slices.Concat([]byte{0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}, id, []byte{3, 0, 0, 0}, name)
		book = string(slices.Concat([]byte{0x83, 1, 0, 0x8f, 1, 0, 0x9c, 1, byte(len(entry))}, entry, []byte{0x90, 1, 0, 0x84, 1, 0}))
	}
	parts := [][2]string{
		{"_rels/.rels", head + `officeDocument" Target="xl/workbook.` + kind + `"/></Relationships>`},
		{"xl/workbook." + kind, book},
		{"xl/_rels/workbook." + kind + ".rels", head + `worksheet" Target="worksheets/sheet1.` + kind + `"/></Relationships>`},
		{"xl/worksheets/sheet1." + kind, sheet},
	}
	if path != "" {
		parts = [][2]string{{mark, "application/vnd.oasis.opendocument.spreadsheet"}, {path, sheet}}
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, part := range parts {
		f, err := w.Create(part[0])
		if err == nil {
			_, err = f.Write([]byte(part[1]))
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

// xlsFile is a workbook of BIFF8 in a compound file, of which one sector lists the others.
func xlsFile(rows [][]string) []byte {
	record := func(id uint16, parts ...[]byte) []byte {
		data := slices.Concat(parts...)
		return append(little.AppendUint16(little.AppendUint16(nil, id), uint16(len(data))), data...)
	}
	begin := func(kind uint16) []byte {
		return record(0x0809, little.AppendUint16(nil, 0x0600), little.AppendUint16(nil, kind), make([]byte, 12))
	}
	var cells []byte
	for i, row := range rows {
		for j, cell := range row {
			place := append(little.AppendUint16(little.AppendUint16(nil, uint16(i)), uint16(j)), 0, 0)
			number, err := strconv.ParseFloat(cell, 64)
			switch {
			case cell == "":
			case err == nil:
				cells = append(cells, record(0x0203, place, little.AppendUint64(nil, math.Float64bits(number)))...)
			default:
				text := units(cell)
				cells = append(cells, record(0x0204, place, little.AppendUint16(nil, uint16(len(text)/2)), []byte{1}, text)...)
			}
		}
	}
	const name = "One"
	globals := begin(5)
	at := len(globals) + 4 + 8 + len(name) + 4
	globals = slices.Concat(globals, record(0x85, little.AppendUint32(nil, uint32(at)), []byte{0, 0, byte(len(name)), 0}, []byte(name)), record(0x0a))
	stream := slices.Concat(globals, begin(0x10), cells, record(0x0a))

	const sector, last, none = 512, 0xfffffffe, 0xffffffff
	size := max(len(stream), 4096) // less would be in small sectors
	count := (size + sector - 1) / sector
	stream = append(stream, make([]byte, count*sector-len(stream))...)
	next := []uint32{0xfffffffd, last} // this list, and the directory
	for i := range count {
		next = append(next, uint32(i+3))
	}
	next[len(next)-1] = last
	for len(next) < sector/4 {
		next = append(next, none)
	}
	var list []byte
	for _, n := range next {
		list = little.AppendUint32(list, n)
	}
	entry := func(name string, kind byte, child, start uint32, size int) []byte {
		e := make([]byte, 128)
		copy(e, units(name))
		little.PutUint16(e[64:], uint16(2*len(name)+2))
		e[66], e[67] = kind, 1
		for i, n := range []uint32{none, none, child} {
			little.PutUint32(e[68+4*i:], n)
		}
		little.PutUint32(e[116:], start)
		little.PutUint32(e[120:], uint32(size))
		return e
	}
	head := make([]byte, sector)
	copy(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	for i, n := range []uint16{0x3e, 3, 0xfffe, 9, 6} {
		little.PutUint16(head[24+2*i:], n)
	}
	for i, n := range []uint32{1, 1, 0, 4096, last, 0, last, 0, 0} {
		little.PutUint32(head[44+4*i:], n)
	}
	for i := 80; i < sector; i++ {
		head[i] = 0xff
	}
	directory := slices.Concat(entry("Root Entry", 5, 1, last, 0), entry("Workbook", 2, none, 2, size), make([]byte, 256))
	return slices.Concat(head, list, directory, stream)
}
