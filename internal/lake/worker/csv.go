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
	// nullable says that there may be nulls.
	nullable bool
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
	if len(w.names) == 1 && w.nullable {
		// The quotes tell that blank lines are rows without a value, those at the end too.
		return append(w.quoted(dst, []byte(w.names[0])), '\r', '\n')
	}
	for i, name := range w.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.field(dst, []byte(name))
	}
	return append(dst, '\r', '\n')
}

func (w *csvRows) append(dst []byte, n int) ([]byte, error) {
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
		if len(dst) >= longText {
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

func (w *csvRows) end(dst []byte) ([]byte, error) { return dst, nil }

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
