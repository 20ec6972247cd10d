package worker

import (
	"bytes"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// jsonRows writes rows as objects, keyed by the names of the columns.
type jsonRows struct {
	columns []*column
	// keys are the names as they stand before each value, from the brace or
	// the comma to the colon.
	keys [][]byte
	// array says that the objects are the elements of one array; else each
	// has a line.
	array bool
	// textNumbers says that integers and decimals are strings.
	textNumbers bool
	rows        int64
	out         *sender
}

func newJSON(names []string, columns []*column, format wire.Format, out *sender) *jsonRows {
	array := format == wire.FormatJSON || format == wire.FormatTextJSON
	w := &jsonRows{columns: columns, array: array, textNumbers: format.TextNumbers(), out: out}
	for i, name := range names {
		key := []byte{','}
		if i == 0 {
			key[0] = '{'
		}
		w.keys = append(w.keys, append(appendString(key, []byte(name)), ':'))
	}
	return w
}

func (w *jsonRows) begin(dst []byte) []byte {
	if w.array {
		dst = append(dst, '[')
	}
	return dst
}

func (w *jsonRows) append(dst []byte, n int) ([]byte, error) {
	for i := range n {
		if w.array && w.rows > 0 {
			dst = append(dst, ',', '\n')
		}
		for k, c := range w.columns {
			dst = append(dst, w.keys[k]...)
			if w.textNumbers && c.exact() && !c.null(i) {
				dst = append(c.appendValue(append(dst, '"'), i), '"')
				continue
			}
			if c.kind != kindText || c.null(i) || len(c.text(i)) < longText {
				dst = c.appendJSON(dst, i)
				continue
			}
			var err error
			if dst, err = w.appendLong(dst, c, i); err != nil {
				return dst, err
			}
		}
		dst = append(dst, '}')
		if !w.array {
			dst = append(dst, '\n')
		}
		w.rows++
		if len(dst) >= longText {
			var err error
			if dst, err = w.out.spill(dst); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

// appendLong is appendJSON for a text that is not held in memory twice.
func (w *jsonRows) appendLong(dst []byte, c *column, i int) ([]byte, error) {
	if c.json {
		return w.out.inPieces(dst, c.text(i), appendLine)
	}
	dst, err := w.out.inPieces(append(dst, '"'), c.text(i), appendEscaped)
	return append(dst, '"'), err
}

func (w *jsonRows) end(dst []byte) ([]byte, error) {
	if w.array {
		dst = append(dst, ']', '\n')
	}
	return dst, nil
}

// exact reports whether the values are integers or decimals.
func (c *column) exact() bool { return c.kind >= kindInt8 && c.kind <= kindInt128 }

func (c *column) appendJSON(dst []byte, i int) []byte {
	switch {
	case c.null(i) || !c.finite(i):
		return append(dst, "null"...)
	case c.json:
		return appendLine(dst, c.text(i))
	case c.kind == kindText:
		return appendString(dst, c.text(i))
	case c.kind == kindDate || c.kind == kindTimestamp:
		dst = append(dst, '"')
		dst = c.appendValue(dst, i)
		return append(dst, '"')
	}
	return c.appendValue(dst, i)
}

// appendLine appends JSON on one line. Line ends are blanks there, as those
// within strings are escaped.
func appendLine(dst, text []byte) []byte {
	begin := len(dst)
	dst = append(dst, text...)
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 {
		for i, b := range dst[begin:] {
			if b == '\n' || b == '\r' {
				dst[begin+i] = ' '
			}
		}
	}
	return dst
}

// escaped says which bytes do not stand for themselves in a string of JSON.
var escaped = func() (table [256]bool) {
	for b := range 0x20 {
		table[b] = true
	}
	table['"'], table['\\'] = true, true
	return table
}()

func appendString(dst, text []byte) []byte {
	return append(appendEscaped(append(dst, '"'), text), '"')
}

// appendEscaped appends what stands between the quotes of a string.
func appendEscaped(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	plain := 0
	for i, b := range text {
		if !escaped[b] {
			continue
		}
		dst = append(dst, text[plain:i]...)
		plain = i + 1
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		}
	}
	return append(dst, text[plain:]...)
}
