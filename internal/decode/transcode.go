package decode

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// transcode writes src as UTF-8 to a temporary file in the folder. The offset is
// where src begins in the data, for messages.
func transcode(ctx context.Context, src Source, encoding Encoding, offset int64, folder string) (*Text, error) {
	spool, err := os.CreateTemp(folder, "text-*")
	if err != nil {
		return nil, fmt.Errorf("make room for the text in UTF-8: %w", err)
	}
	// The file lives on without its name and cannot be left behind.
	if err := os.Remove(spool.Name()); err != nil {
		_ = spool.Close()
		return nil, fmt.Errorf("make room for the text in UTF-8: %w", err)
	}
	text := &Text{Encoding: encoding, spool: spool}
	if err := text.fill(ctx, src, offset); err != nil {
		_ = text.Close()
		return nil, err
	}
	return text, nil
}

// fill writes the spool and looks at it.
func (t *Text) fill(ctx context.Context, src Source, offset int64) error {
	out := bufio.NewWriterSize(t.spool, 256<<10)
	in := bufio.NewReaderSize(contextReader{ctx, io.NewSectionReader(src, 0, src.Size())}, 256<<10)
	var err error
	if t.Encoding == Windows1252 {
		_, err = io.Copy(out, charmap.Windows1252.NewDecoder().Reader(in))
	} else {
		err = fromUTF16(out, in, t.Encoding == UTF16BE, offset)
	}
	if err == nil {
		err = out.Flush()
	}
	var size int64
	if err == nil {
		size, err = t.spool.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		t.Source = io.NewSectionReader(t.spool, 0, size)
		t.survey, err = surveyText(ctx, t.Source, chunkSize, false)
	}
	if err != nil {
		return fmt.Errorf("write the text in UTF-8: %w", err)
	}
	return nil
}

// fromUTF16 refuses what cannot be written in UTF-8, with where it stands.
func fromUTF16(out *bufio.Writer, in *bufio.Reader, bigEndian bool, offset int64) error {
	var unit [2]byte
	next := func() (rune, error) {
		n, err := io.ReadFull(in, unit[:])
		if n == 1 {
			return 0, refuse("truncated-data", "the UTF-16 data ends in the middle of a character at byte %d", offset)
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
				return refuse("invalid-encoding", "the UTF-16 data has half a character at byte %d", at)
			}
		}
		if r == 0 {
			return refuse("not-text", "the data has a zero character at byte %d and is not text", offset-2)
		}
		if _, err := out.WriteRune(r); err != nil {
			return err
		}
	}
}

// contextReader stops reading when its context is done.
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
