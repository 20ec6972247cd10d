package sheet

import (
	"bytes"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// usualCells reads the cells that come next as long as they are written as LibreOffice writes most: a number, a date, a truth value or a
// text, with one paragraph. It returns the column behind them; what is unusual is left to [odsReader.readCell], and so is the first cell
// of a sheet, which tells that the prefixes are the usual ones.
func (r *odsReader) usualCells(column int) int {
	if !r.usual || !r.paragraphs {
		return column
	}
	ahead := r.Ahead()
	at := 0
	for {
		size := r.usualCell(ahead[at:], column)
		if size == 0 {
			break
		}
		at += size
		column++
	}
	r.Advance(at)
	return column
}

var (
	odsCellStart = []byte("<table:table-cell ")
	odsCellEnd   = []byte("</table:table-cell>")
)

// usualCell reads a cell at the beginning of a text, and returns how long it is, or 0 where it is not a usual one.
func (r *odsReader) usualCell(text []byte, column int) (size int) {
	if !bytes.HasPrefix(text, odsCellStart) || column > maxColumn || checkRow(r.Reader, r.texts) != nil {
		return 0
	}
	var typ, again, value []byte
	seen := 0
	i := len(odsCellStart)
	for {
		name := text[i:]
		equals := bytes.IndexByte(name[:min(len(name), 32)], '=')
		if equals < 0 || len(name) < equals+2 || name[equals+1] != '"' {
			return 0
		}
		content := name[equals+2:]
		end := bytes.IndexByte(content[:min(len(content), 64)], '"')
		if end < 0 || len(content) < end+2 || bytes.IndexByte(content[:end], '&') >= 0 || bytes.IndexByte(content[:end], '<') >= 0 {
			return 0
		}
		flag := 0
		switch string(name[:equals]) {
		case "table:style-name":
			flag = 1
		case "office:value-type":
			typ, flag = content[:end], 2
		case "calcext:value-type":
			again, flag = content[:end], 8
		case "office:value", "office:date-value", "office:boolean-value":
			value, flag = content[:end], 4
		}
		if flag == 0 || seen&flag != 0 {
			return 0
		}
		seen |= flag
		i += equals + 2 + end + 1
		if text[i] != ' ' {
			break
		}
		i++
	}
	if again != nil && (!r.extended || !bytes.Equal(again, typ)) {
		return 0
	}
	if text[i] != '>' || !bytes.HasPrefix(text[i+1:], paragraphStart) {
		return 0
	}
	i += 1 + len(paragraphStart)
	length := bytes.IndexByte(text[i:], '<')
	if length < 0 || length > input.MaxFieldBytes || !bytes.HasPrefix(text[i+length:], paragraphEnd) || !bytes.HasPrefix(text[i+length+len(paragraphEnd):], odsCellEnd) {
		return 0
	}
	if !r.usualValue(column, string(typ), value, text[i:i+length]) {
		return 0
	}
	return i + length + len(paragraphEnd) + len(odsCellEnd)
}

// usualValue adds a cell with a value of its own or the text of a paragraph, and reports whether it could.
func (r *odsReader) usualValue(column int, typ string, value, paragraph []byte) bool {
	start, kind := len(r.texts), columnar.CellMissing
	if (value == nil) != (typ == "string") || bytes.IndexByte(paragraph, ']') >= 0 {
		return false
	}
	known := true
	switch typ {
	case "float":
		kind = r.number(kindNumber, value)
	case "percentage":
		kind = r.number(kindPercent, value)
	case "boolean":
		if kind = columnar.CellFalse; isTrue(value) {
			kind = columnar.CellTrue
		}
	case "date":
		kind, r.texts = columnar.CellDate, append(r.texts, value...)
	case "string":
		kind = columnar.CellString
		r.texts, known = appendReferences(r.texts, paragraph)
	default:
		return false
	}
	if typ != "string" && bytes.IndexByte(paragraph, '&') >= 0 {
		known = false // it is not looked at, and could be wrong
	}
	if !known || kind == columnar.CellMissing {
		r.texts = r.texts[:start]
		return false
	}
	r.cells = append(r.cells, cell{column: column, kind: kind, start: start, end: len(r.texts)})
	return true
}

// appendReferences appends a text whose references are of the usual three entities, and reports whether they are.
func appendReferences(to, text []byte) ([]byte, bool) {
	for {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			return append(to, text...), true
		}
		to = append(to, text[:at]...)
		switch text = text[at:]; {
		case bytes.HasPrefix(text, []byte("&amp;")):
			to, text = append(to, '&'), text[5:]
		case bytes.HasPrefix(text, []byte("&lt;")):
			to, text = append(to, '<'), text[4:]
		case bytes.HasPrefix(text, []byte("&gt;")):
			to, text = append(to, '>'), text[4:]
		default:
			return to, false
		}
	}
}
