package input

import (
	"bufio"
	"context"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// Transcode writes src as UTF-8 to the spool. The offset is where src begins in
// the data, for messages.
func Transcode(ctx context.Context, src Source, encoding Encoding, offset int64, spool *Spool) (Source, error) {
	return spool.Write(func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 256<<10)
		in := bufio.NewReaderSize(NewContextReader(ctx, io.NewSectionReader(src, 0, src.Size())), 256<<10)
		var err error
		switch encoding {
		case Windows1252:
			_, err = io.Copy(out, charmap.Windows1252.NewDecoder().Reader(in))
		case UTF8:
			_, err = io.Copy(out, unicode.UTF8.NewDecoder().Reader(in))
		case UTF16LE, UTF16BE:
			err = fromUTF16(out, in, encoding == UTF16BE, offset)
		default:
			err = fromNamed(out, in, encoding)
		}
		if err != nil {
			return err
		}
		return out.Flush()
	})
}

// EncodingNamed is the encoding of a name that a document or a client gives, which is one of the
// names of the WHATWG.
func EncodingNamed(name string) (Encoding, bool) {
	known, err := htmlindex.Get(name)
	if err != nil {
		return "", false
	}
	name, err = htmlindex.Name(known)
	return Encoding(name), err == nil && name != "replacement"
}

// fromNamed refuses what the encoding does not have.
func fromNamed(out *bufio.Writer, in io.Reader, encoding Encoding) error {
	known, err := htmlindex.Get(string(encoding))
	if err != nil {
		return err
	}
	text := bufio.NewReaderSize(known.NewDecoder().Reader(in), 256<<10)
	for {
		r, _, err := text.ReadRune()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if r == utf8.RuneError {
			return Refuse("invalid-encoding", "the data contains a character that is not valid in %s; set encoding to the encoding of the data", encoding)
		}
		if _, err := out.WriteRune(r); err != nil {
			return err
		}
	}
}

// fromUTF16 refuses what cannot be written in UTF-8, with where it stands.
func fromUTF16(out *bufio.Writer, in *bufio.Reader, bigEndian bool, offset int64) error {
	var unit [2]byte
	next := func() (rune, error) {
		n, err := io.ReadFull(in, unit[:])
		if n == 1 {
			return 0, Refuse("truncated-data", "the UTF-16 data ends in the middle of a character at byte %d", offset)
		}
		if err != nil {
			return 0, err
		}
		offset += 2
		if bigEndian {
			return rune(unit[0])<<8 | rune(unit[1]), nil
		}
		return rune(unit[1])<<8 | rune(unit[0]), nil
	}
	for {
		r, err := next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if utf16.IsSurrogate(r) {
			at := offset - 2
			low, err := next()
			if err != nil && err != io.EOF {
				return err
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return Refuse("invalid-encoding", "the UTF-16 data has half of a surrogate pair at byte %d", at)
			}
		}
		if r == 0 {
			return Refuse("not-text", "the data is not text; it has a zero character at byte %d", offset-2)
		}
		if _, err := out.WriteRune(r); err != nil {
			return err
		}
	}
}

// NewContextReader returns a reader of r that stops when its context is done.
func NewContextReader(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
