package book

import (
	"bufio"
	"strconv"
	"strings"
)

const mainNamespace = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`

var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;")

// texts are those that cells share: the names of the columns and those of the rows.
func texts(fn func(string)) {
	for _, name := range headerNames {
		fn(name)
	}
	for i := range distinct {
		fn(shared(i))
	}
}

func writeXLSX(out *bufio.Writer, rows int) error {
	known := append(packageParts(".xml"), [][2]string{
		{"xl/workbook.xml", `<workbook ` + mainNamespace + ` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>`},
		{"xl/styles.xml", `<styleSheet ` + mainNamespace + `><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0"/></cellStyleXfs>` +
			`<cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="10" applyNumberFormat="1"/></cellXfs></styleSheet>`},
	}...)
	return newParts(out).all(known, map[string]func(*bufio.Writer){
		"xl/sharedStrings.xml": func(w *bufio.Writer) {
			w.WriteString(`<sst ` + mainNamespace + `>`)
			texts(func(text string) { w.WriteString(`<si><t>` + escaped.Replace(text) + `</t></si>`) })
			w.WriteString(`</sst>`)
		},
		"xl/worksheets/sheet1.xml": func(w *bufio.Writer) {
			w.WriteString(`<worksheet ` + mainNamespace + `><sheetData><row r="1">`)
			for i := range Columns {
				w.WriteString(`<c r="` + string(rune('A'+i)) + `1" t="s"><v>` + strconv.Itoa(i) + `</v></c>`)
			}
			w.WriteString(`</row>`)
			var line []byte
			for i := range rows {
				w.Write(appendXLSXRow(line[:0], i))
			}
			w.WriteString(`</sheetData></worksheet>`)
		},
	})
}

func appendXLSXRow(to []byte, i int) []byte {
	place := strconv.Itoa(i + 2)
	to = append(append(append(to, `<row r="`...), place...), `" spans="1:10">`...)
	for column, c := range row(i) {
		to = append(append(append(to, `<c r="`...), byte('A'+column)), place...)
		switch c.kind {
		case number:
			to = append(to, `"><v>`...)
		case date, percent:
			to = append(append(append(to, `" s="`...), byte('0'+c.kind)), `"><v>`...)
		case boolean:
			to = append(to, `" t="b"><v>`...)
		case text:
			to = append(to, `" t="s"><v>`...)
		}
		if c.kind == text {
			to = strconv.AppendInt(to, int64(c.text+Columns), 10)
		} else {
			to = strconv.AppendFloat(to, c.number, 'f', -1, 64)
		}
		to = append(to, `</v></c>`...)
	}
	return append(to, `</row>`...)
}
