package book

import (
	"bufio"
	"strconv"
	"time"
)

func writeODS(out *bufio.Writer, rows int) error {
	known := [][2]string{
		{"mimetype", "application/vnd.oasis.opendocument.spreadsheet"},
		{"META-INF/manifest.xml", `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>`},
	}
	return newParts(out).all(known, map[string]func(*bufio.Writer){
		"content.xml": func(w *bufio.Writer) {
			w.WriteString(`<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">` +
				`<office:body><office:spreadsheet><table:table table:name="Data"><table:table-row>`)
			for _, name := range headerNames {
				w.WriteString(`<table:table-cell office:value-type="string"><text:p>` + name + `</text:p></table:table-cell>`)
			}
			w.WriteString(`</table:table-row>`)
			var line []byte
			for i := range rows {
				w.Write(appendODSRow(line[:0], i))
			}
			w.WriteString(`</table:table></office:spreadsheet></office:body></office:document-content>`)
		},
	})
}

func appendODSRow(to []byte, i int) []byte {
	to = append(to, `<table:table-row table:style-name="ro1">`...)
	for _, c := range row(i) {
		to = append(to, `<table:table-cell table:style-name="ce1" office:value-type="`...)
		var shown []byte
		switch c.kind {
		case number, percent:
			kind := "float"
			if c.kind == percent {
				kind = "percentage"
			}
			shown = strconv.AppendFloat(nil, c.number, 'f', -1, 64)
			to = append(append(append(append(to, kind...), `" office:value="`...), shown...), `">`...)
		case date:
			shown = time.Date(1899, 12, 30+int(c.number), 0, 0, 0, 0, time.UTC).AppendFormat(nil, time.DateOnly)
			to = append(append(append(to, `date" office:date-value="`...), shown...), `">`...)
		case boolean:
			shown = strconv.AppendBool(nil, c.number != 0)
			to = append(append(append(to, `boolean" office:boolean-value="`...), shown...), `">`...)
		case text:
			shown = []byte(escaped.Replace(shared(c.text)))
			to = append(to, `string">`...)
		}
		to = append(append(append(to, `<text:p>`...), shown...), `</text:p></table:table-cell>`...)
	}
	return append(to, `</table:table-row>`...)
}
