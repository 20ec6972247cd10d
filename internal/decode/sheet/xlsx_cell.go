package sheet

import "bytes"

// usualCells reads cells that are written as programs write almost all of them, in one piece and without anything that
// a reader of XML would have to look at twice: <c r="B7" s="1" t="s"><v>12</v></c> and <c r="C7" s="1"/>. It stops at the first
// that is not, or that has a fault, which is then read as usual. It returns the column behind the last.
func (r *xlsxReader) usualCells(column int) int {
	ahead := r.Ahead()
	at := 0
	for {
		next, size := r.usualCell(ahead[at:], column)
		if size == 0 {
			break
		}
		at += size
		column = next
	}
	r.Advance(at)
	return column
}

var (
	cellStart  = []byte("<c ")
	valueStart = []byte("<v>")
	valueEnd   = []byte("</v></c>")
)

// usualCell reads the cell at the beginning of a text, and returns the column behind it and how long it is; 0 where it
// is not as usual.
func (r *xlsxReader) usualCell(text []byte, column int) (next, size int) {
	if !bytes.HasPrefix(text, cellStart) {
		return 0, 0
	}
	var typ byte
	style, seen := 0, 0
	i := len(cellStart)
	for {
		// An attribute has a name of one letter, and a value of letters and digits.
		if i+4 > len(text) || text[i+1] != '=' || text[i+2] != '"' {
			return 0, 0
		}
		name, start := text[i], i+3
		for i = start; i < len(text) && isPlain[text[i]]; {
			i++
		}
		if i+2 > len(text) || text[i] != '"' {
			return 0, 0
		}
		value := text[start:i]
		flag := 0
		switch name {
		case 'r':
			row, at, ok := parseReference(value)
			if !ok || row+1 != r.row || at < column {
				return 0, 0
			}
			column, flag = at, 1
		case 's':
			for _, c := range value {
				if c < '0' || c > '9' || style > 1<<20 {
					return 0, 0
				}
				style = style*10 + int(c-'0')
			}
			flag = 2
		case 't':
			typ, flag = typeOf(value), 4
		}
		if flag == 0 || seen&flag != 0 {
			return 0, 0
		}
		seen |= flag
		if i++; text[i] != ' ' {
			break
		}
		i++
	}
	if column > maxColumn {
		return 0, 0
	}
	if bytes.HasPrefix(text[i:], []byte("/>")) {
		return column + 1, i + 2
	}
	if text[i] != '>' || !bytes.HasPrefix(text[i+1:], valueStart) {
		return 0, 0
	}
	start := i + 1 + len(valueStart)
	for i = start; i < len(text) && isPlain[text[i]]; {
		i++
	}
	if !bytes.HasPrefix(text[i:], valueEnd) || checkRow(r.Reader, r.texts) != nil {
		return 0, 0
	}
	if !r.merged.covers(column) {
		from := len(r.texts)
		r.texts = append(r.texts, text[start:i]...)
		r.add(column, typ, style, from)
	}
	return column + 1, i + len(valueEnd)
}

// isPlain are the characters that stand for themselves everywhere.
var isPlain = func() (plain [256]bool) {
	for _, c := range []byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.+-:") {
		plain[c] = true
	}
	return plain
}()
