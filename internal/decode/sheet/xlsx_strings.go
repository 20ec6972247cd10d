package sheet

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/xml"
)

// maxStrings is how much memory the shared texts of a workbook of some size can take. Texts
// rarely shrink to less than an eighth.
func maxStrings(size int64) int64 { return min(32<<20+8*size, 512<<20) }

// stringTable is the texts that cells share.
type stringTable struct {
	texts []byte
	ends  []uint32
}

func (t *stringTable) at(i int) ([]byte, bool) {
	if t == nil || i < 0 || i >= len(t.ends) {
		return nil, false
	}
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.texts[start:t.ends[i]:t.ends[i]], true
}

// check refuses texts that take more memory than those of a workbook of some size can.
func (t *stringTable) check(size int64) error {
	if most := maxStrings(size); int64(len(t.texts)+16*len(t.ends)) > most {
		return input.Refuse("invalid-workbook", "the shared strings of the workbook require more than %d bytes, the maximum", most)
	}
	return nil
}

// readStrings reads the shared texts.
func (b *xlsxBook) readStrings(ctx context.Context, part string) (*stringTable, error) {
	t := new(stringTable)
	if !b.parts.has(part) {
		return t, nil
	}
	return t, b.parts.read(ctx, part, maxPart, func(r *xml.Reader) error {
		return elements(r, func(local string) (err error) {
			if local != "si" {
				return nil
			}
			if t.texts, err = appendRich(t.texts, r); err != nil {
				return err
			}
			t.ends = append(t.ends, uint32(len(t.texts)))
			return t.check(b.size)
		})
	})
}

// appendRich appends the text of an element whose tag was read: that of its runs, without how
// they are pronounced.
func appendRich(to []byte, r *xml.Reader) ([]byte, error) {
	start := len(to)
	for inside := r.Depth(); r.Depth() >= inside; {
		kind, err := r.Next()
		if err != nil {
			return to, noEnd(err)
		}
		if kind != xml.StartElement {
			continue
		}
		switch r.Name().Local {
		case "t":
			if to, err = appendText(to, r); err != nil {
				return to, err
			}
			if len(to)-start > input.MaxFieldBytes {
				return to, tooLong(r)
			}
		case "rPh", "phoneticPr", "rPr":
			if err := r.Skip(); err != nil {
				return to, err
			}
		}
	}
	return unescape(to, start), nil
}

// appendText appends the text of an element whose tag was read.
func appendText(to []byte, r *xml.Reader) ([]byte, error) {
	if text, ok := r.TextOnly(); ok {
		return append(to, text...), nil
	}
	start := len(to)
	for inside := r.Depth(); r.Depth() >= inside; {
		kind, err := r.Next()
		if err != nil {
			return to, noEnd(err)
		}
		if kind == xml.Text {
			if to = append(to, r.Text()...); len(to)-start > input.MaxFieldBytes {
				return to, tooLong(r)
			}
		}
	}
	return to, nil
}

func tooLong(r *xml.Reader) error {
	return r.Fault("the text of a cell is longer than " + strconv.Itoa(input.MaxFieldBytes) + " bytes, the maximum")
}

// noEnd is that a document ends where it must not.
func noEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// unescape undoes _xHHHH_ from a place on, by which Excel writes characters that XML has not.
func unescape(text []byte, from int) []byte {
	at := bytes.Index(text[from:], []byte("_x"))
	if at < 0 {
		return text
	}
	out := text[:from+at]
	rest := bytes.Clone(text[from+at:])
	for i := 0; i < len(rest); {
		if i+7 <= len(rest) && rest[i] == '_' && rest[i+1] == 'x' && rest[i+6] == '_' {
			if code, err := strconv.ParseUint(string(rest[i+2:i+6]), 16, 16); err == nil {
				out = utf8.AppendRune(out, rune(code))
				i += 7
				continue
			}
		}
		out = append(out, rest[i])
		i++
	}
	return out
}
