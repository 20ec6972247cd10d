package input

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/feedmill/feedmill"
)

// Encoding is how text is written in bytes.
type Encoding string

// The encodings that are found.
const (
	UTF8        Encoding = "utf-8"
	UTF16LE     Encoding = "utf-16le"
	UTF16BE     Encoding = "utf-16be"
	Windows1252 Encoding = "windows-1252"
)

// Text is data as UTF-8 without a byte order mark. It is a [Source] itself.
type Text struct {
	Source
	// Encoding is how the data was written, and Assumed that nothing proves it.
	Encoding Encoding
	Assumed  bool
	Warnings []feedmill.Warning
	Survey   *Survey
}

// Found is the encoding as findings have it.
func (t *Text) Found() feedmill.Finding { return feedmill.Found(string(t.Encoding), !t.Assumed) }

// OpenText finds the encoding of src: by its byte order mark, UTF-16 by the
// pattern of its zero bytes, UTF-8 where all of the data is valid or almost, and else
// the encoding that its letters speak for, with a warning. Data that is not text, because it has zero
// bytes or begins like a known binary format, is refused.
//
// An encoding that is named is not looked for, and one that is said is taken where the
// data is not UTF-8 and nothing proves another. UTF-8 is read where it stands.
// Everything else is written again to the spool, which must not be closed before
// the last reading.
func OpenText(ctx context.Context, src Source, named, said string, chunk int64, spool *Spool) (*Text, error) {
	head := make([]byte, min(src.Size(), HeadBytes))
	if err := ReadFull(src, head, 0); err != nil {
		return nil, fmt.Errorf("read the head of the text: %w", err)
	}
	if format := BinaryFormat(head); format != "" {
		return nil, Refuse("not-text", "the data is not text; it starts like %s", format)
	}
	encoding, mark := EncodingOf(head)
	known, set := EncodingNamed(named)
	if set && !(mark > 0 && strings.HasPrefix(string(known), "utf-16") && encoding != UTF8) {
		encoding = known // but a mark says which UTF-16 it is
	}
	body := io.NewSectionReader(src, int64(mark), src.Size()-int64(mark))
	if encoding != UTF8 {
		return rewrite(ctx, body, encoding, int64(mark), chunk, spool)
	}
	found, err := surveyText(ctx, body, chunk, false)
	switch {
	case err != nil:
		return nil, fmt.Errorf("survey the text: %w", err)
	case found.NUL >= 0 && !set:
		wide, ok, err := wideEncoding(ctx, body)
		if err != nil {
			return nil, err
		}
		if ok {
			return rewrite(ctx, body, wide, int64(mark), chunk, spool)
		}
		fallthrough
	case found.NUL >= 0:
		return nil, Refuse("not-text", "the data is not text; it has a zero byte at byte %d", found.NUL+int64(mark))
	case found.Invalid < 0:
		return &Text{Source: body, Encoding: UTF8, Survey: found}, nil
	}
	invalid := found.Invalid
	if found, err = surveyText(ctx, body, chunk, true); err != nil {
		return nil, fmt.Errorf("survey the text: %w", err)
	}
	if good, bad := found.Characters, found.Bad; set || good >= goodForBad*bad {
		why := "almost all of the text is UTF-8. Set encoding=… if the data has another encoding."
		if set {
			why = "encoding is UTF-8. Set another encoding, or fix the data at the source."
		}
		return repair(ctx, body, invalid+int64(mark), bad, chunk, why, spool)
	}
	if mark > 0 {
		return nil, Refuse("invalid-encoding", "the data starts with a UTF-8 byte order mark, but byte %d is not UTF-8; fix the encoding at the source", invalid+int64(mark))
	}
	if found.Control >= 0 {
		return nil, Refuse("not-text", "the data is not text; byte %d is not UTF-8, and byte %d is a control character", invalid, found.Control)
	}
	if legacy, ok := EncodingNamed(said); ok && legacy != UTF8 && !strings.HasPrefix(string(legacy), "utf-16") && legacy != Windows1252 {
		// What programs say by default, which is Windows-1252, says nothing.
		if text, err := rewrite(ctx, body, legacy, 0, chunk, spool); err == nil {
			return text, nil
		} else if _, refused := errors.AsType[*feedmill.Error](err); !refused {
			return nil, err
		}
	}
	part := make([]byte, min(body.Size()-max(0, invalid-legacyBytes/4), legacyBytes))
	if err := ReadFull(body, part, max(0, invalid-legacyBytes/4)); err != nil {
		return nil, fmt.Errorf("read the text: %w", err)
	}
	legacy := legacyEncoding(part)
	text, err := rewrite(ctx, body, legacy, 0, chunk, spool)
	if _, refused := errors.AsType[*feedmill.Error](err); refused && legacy != Windows1252 {
		legacy = Windows1252
		text, err = rewrite(ctx, body, legacy, 0, chunk, spool)
	}
	if err != nil {
		return nil, err
	}
	text.Assumed = true
	text.Warnings = append(text.Warnings, feedmill.Warning{
		Code: feedmill.WarnEncoding, Count: 1,
		Detail: fmt.Sprintf("Byte %d is not UTF-8, so the data was read as %s, the most likely encoding. Set encoding=… to change it.", invalid, legacy),
	})
	return text, nil
}

const (
	// goodForBad is how many characters of several bytes there must be for each bad
	// byte of a text that is taken for UTF-8 all the same.
	goodForBad = 10
	// legacyBytes is how much of a text its encoding is told by.
	legacyBytes = 512 << 10
)

// repair is the text of src with the mark of replacement for each byte that is not
// UTF-8.
func repair(ctx context.Context, src Source, first, bad, chunk int64, why string, spool *Spool) (*Text, error) {
	text, err := rewrite(ctx, src, UTF8, 0, chunk, spool)
	if err != nil {
		return nil, err
	}
	text.Warnings = append(text.Warnings, feedmill.Warning{
		Code: feedmill.WarnBytes, Count: bad,
		Detail: fmt.Sprintf("Bytes that are not UTF-8, the first at byte %d, were replaced with \ufffd because %s", first, why),
	})
	return text, nil
}

// rewrite gives the text of src in UTF-8.
func rewrite(ctx context.Context, src Source, encoding Encoding, offset, chunk int64, spool *Spool) (*Text, error) {
	written, err := Transcode(ctx, src, encoding, offset, spool)
	if err != nil {
		return nil, err
	}
	found, err := surveyText(ctx, written, chunk, false)
	if err != nil {
		return nil, fmt.Errorf("survey the text: %w", err)
	}
	return &Text{Source: written, Encoding: encoding, Survey: found}, nil
}

var marks = []struct {
	mark     string
	encoding Encoding
}{
	{"\xef\xbb\xbf", UTF8},
	{"\xff\xfe", UTF16LE},
	{"\xfe\xff", UTF16BE},
}

// HeadBytes is how many bytes the encoding is told by.
const HeadBytes = 4 << 10

// EncodingOf tells the encoding by the first bytes, and how long the mark is
// that it is told by. UTF-8 is a guess where there is no mark.
func EncodingOf(head []byte) (encoding Encoding, mark int) {
	for _, known := range marks {
		if bytes.HasPrefix(head, []byte(known.mark)) {
			return known.encoding, len(known.mark)
		}
	}
	if len(head) < 4 {
		return UTF8, 0
	}
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i&1]++
		}
	}
	// Separators, digits and line ends are ASCII in a table of any
	// script, and one byte of each is zero. The other byte of a few
	// characters is.
	enough := max(2, len(head)/10)
	switch {
	case zeros[1] > max(enough, 8*zeros[0]):
		return UTF16LE, 0
	case zeros[0] > max(enough, 8*zeros[1]):
		return UTF16BE, 0
	}
	return UTF8, 0
}

// BinaryFormat names the format that data begins like, where it is none of text.
func BinaryFormat(head []byte) string {
	for _, known := range []struct{ magic, name string }{
		{"PK\x03\x04", "a ZIP archive or a workbook (xlsx, ods)"},
		{"\xd0\xcf\x11\xe0", "an old Office file (xls)"},
		{"\x1f\x8b", "gzip"},
		{"\x28\xb5\x2f\xfd", "zstd"},
		{"PAR1", "Parquet"},
		{"%PDF-", "a PDF"},
		{"\x89PNG", "a PNG image"},
		{"\xff\xd8\xff", "a JPEG image"},
		{"SQLite format 3\x00", "a SQLite database"},
		{"\x7fELF", "a program"},
	} {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return known.name
		}
	}
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return "a tar archive"
	}
	if len(head) >= 4 && (binary.LittleEndian.Uint32(head) == 0xfeff || binary.BigEndian.Uint32(head) == 0xfeff) {
		return "UTF-32, which is not supported; write it in UTF-8"
	}
	return ""
}
