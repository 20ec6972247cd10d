package worker

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// csvRows writes rows as RFC 4180 has them, after a header. A null is an empty
// field and an empty text is a pair of quotes, so that both come back.
type csvRows struct {
	names   []string
	columns []*column
	// nullable says that there may be rows of nothing but nulls. The quotes of a header that is
	// in quotes tell that such rows are no padding.
	nullable bool
	// held are the first rows while it is open whether the header is in quotes, which it is only
	// where one of them has nothing but nulls or many rows follow.
	open bool
	held []byte
	// excel has a spreadsheet show what is there: it knows the encoding by a
	// mark at the beginning, and takes no text for a formula, which could send
	// the sheet to somebody.
	excel bool
	out   *sender
}

// byteOrderMark is U+FEFF in UTF-8.
const byteOrderMark = "\ufeff"

// formulaStarts are what a text begins with that some spreadsheet takes for a
// formula.
var formulaStarts = []string{"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"}

// startsFormula reports whether a spreadsheet would calculate a text, some of
// them after spaces.
func startsFormula(text []byte) bool {
	text = bytes.TrimLeft(text, " ")
	return slices.ContainsFunc(formulaStarts, func(start string) bool { return bytes.HasPrefix(text, []byte(start)) })
}

// field writes a text.
func (w *csvRows) field(dst, text []byte) []byte {
	return appendField(dst, w.shown(text))
}

// quoted writes a text in quotes.
func (w *csvRows) quoted(dst, text []byte) []byte {
	return append(appendQuoted(append(dst, '"'), w.shown(text)), '"')
}

// shown is a text as spreadsheets show it.
func (w *csvRows) shown(text []byte) []byte {
	if w.excel && startsFormula(text) {
		return append([]byte{'\''}, text...)
	}
	return text
}

func (w *csvRows) begin(dst []byte) []byte {
	if w.excel {
		dst = append(dst, byteOrderMark...)
	}
	if len(w.names) == 0 {
		return dst
	}
	if w.open = w.nullable && len(w.names) > 1; w.open {
		return dst
	}
	return w.header(dst, w.nullable)
}

// header writes the names of the columns.
func (w *csvRows) header(dst []byte, quotes bool) []byte {
	for i, name := range w.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		if quotes {
			dst = w.quoted(dst, []byte(name))
		} else {
			dst = w.field(dst, []byte(name))
		}
	}
	return append(dst, '\r', '\n')
}

func (w *csvRows) append(dst []byte, n int) ([]byte, error) {
	if !w.open {
		return w.appendRows(dst, n)
	}
	size := len(w.held) + n*len(w.columns)*maxValue
	for _, c := range w.columns {
		if c.kind == kindText {
			size += c.textBytes(0, n)
		}
	}
	if size > longText || w.hasNullRow(n) {
		return w.appendRows(w.decide(dst, true), n)
	}
	var err error
	w.held, err = w.appendRows(w.held, n)
	return dst, err
}

// maxValue is about how many bytes a value takes that is not text.
const maxValue = 40

// decide writes the header and the rows that were held.
func (w *csvRows) decide(dst []byte, quotes bool) []byte {
	dst = append(w.header(dst, quotes), w.held...)
	w.open, w.held = false, nil
	return dst
}

// hasNullRow reports whether one of the first rows of the chunk has nothing but nulls.
func (w *csvRows) hasNullRow(n int) bool {
	for i := range n {
		if !slices.ContainsFunc(w.columns, func(c *column) bool { return !c.null(i) }) {
			return true
		}
	}
	return false
}

func (w *csvRows) appendRows(dst []byte, n int) ([]byte, error) {
	for i := range n {
		for k, c := range w.columns {
			if k > 0 {
				dst = append(dst, ',')
			}
			switch {
			case c.null(i):
			case c.kind == kindText && len(c.text(i)) >= longText:
				var err error
				if dst, err = w.longField(dst, c.text(i)); err != nil {
					return dst, err
				}
			case c.kind == kindText && len(w.columns) == 1 && mayDelimit(c.text(i)):
				dst = w.quoted(dst, c.text(i))
			case c.kind == kindText:
				dst = w.field(dst, c.text(i))
			default:
				dst = c.appendValue(dst, i)
			}
		}
		dst = append(dst, '\r', '\n')
		if len(dst) >= longText && !w.open {
			var err error
			if dst, err = w.out.spill(dst); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

// longField is field for a text that is not held in memory twice.
func (w *csvRows) longField(dst, text []byte) ([]byte, error) {
	formula := w.excel && startsFormula(text)
	quotes := len(w.columns) == 1 || needsQuotes(text)
	if quotes {
		dst = append(dst, '"')
	}
	if formula {
		dst = append(dst, '\'')
	}
	dst, err := w.out.inPieces(dst, text, func(dst, piece []byte) []byte {
		if quotes {
			return appendQuoted(dst, piece)
		}
		return append(dst, piece...)
	})
	if quotes {
		dst = append(dst, '"')
	}
	return dst, err
}

func (w *csvRows) end(dst []byte) ([]byte, error) {
	if w.open {
		dst = w.decide(dst, false)
	}
	return dst, nil
}

// quoted says which bytes put a field into quotes.
var quoted = [256]bool{',': true, '"': true, '\r': true, '\n': true}

// mayDelimit reports whether a character of a text that is a line of its own could be taken for a delimiter.
func mayDelimit(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool {
		return r < utf8.RuneSelf && r != '-' && r != '+' && r != '.' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func needsQuotes(text []byte) bool {
	if len(text) == 0 || text[0] == ' ' || text[len(text)-1] == ' ' {
		return true
	}
	for _, b := range text {
		if quoted[b] {
			return true
		}
	}
	return false
}

func appendField(dst, text []byte) []byte {
	if !needsQuotes(text) {
		return append(dst, text...)
	}
	return append(appendQuoted(append(dst, '"'), text), '"')
}

// appendQuoted appends what stands between the quotes of a field.
func appendQuoted(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i+1]...), '"')
		text = text[i+1:]
	}
}
