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

// maxStrings is how many bytes the shared texts of a workbook can have.
const maxStrings = 512 << 20

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
			if len(t.texts) > maxStrings {
				return input.Refuse("invalid-workbook", "the texts of the workbook have more than %d bytes", maxStrings)
			}
			t.ends = append(t.ends, uint32(len(t.texts)))
			return nil
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
	for inside := r.Depth(); r.Depth() >= inside; {
		kind, err := r.Next()
		if err != nil {
			return to, noEnd(err)
		}
		if kind == xml.Text {
			to = append(to, r.Text()...)
		}
	}
	return to, nil
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
