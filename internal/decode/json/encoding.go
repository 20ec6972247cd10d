package json

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// encodingOf is [input.EncodingOf] for JSON, which begins with a character that is
// ASCII, whatever follows it.
func encodingOf(head []byte) (encoding input.Encoding, mark int) {
	if encoding, mark = input.EncodingOf(head); mark > 0 || len(head) < 4 {
		return encoding, mark
	}
	switch {
	case head[0] != 0 && head[1] == 0:
		return input.UTF16LE, 0
	case head[0] == 0 && head[1] != 0:
		return input.UTF16BE, 0
	}
	return input.UTF8, 0
}

// read looks at the head of the data and makes it what is read.
func (j *Table) read(ctx context.Context, src input.Source) error {
	j.src = src
	size, err := input.AwaitSize(src, input.HeadBytes)
	if err != nil {
		return err
	}
	head := make([]byte, min(size, input.HeadBytes))
	if err := input.ReadFull(src, head, 0); err != nil {
		return fmt.Errorf("read the head of the JSON: %w", err)
	}
	encoding, mark := encodingOf(head)
	if j.encoding != "" && !(mark > 0 && encoding != input.UTF8) {
		encoding = j.encoding
	}
	j.start = int64(mark)
	if encoding != input.UTF8 {
		if j.encoding == "" {
			j.utf16 = encoding
		}
		if size, err = input.AwaitSize(src, math.MaxInt64); err != nil {
			return err
		}
		body := io.NewSectionReader(src, j.start, size-j.start)
		written, err := input.Transcode(ctx, body, encoding, j.start, j.spool)
		if err != nil {
			return err
		}
		j.src, j.start = written, 0
	}
	return j.refuseBlank()
}
