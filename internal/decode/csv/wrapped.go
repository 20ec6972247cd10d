package csv

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// unwrapLines writes a table anew whose lines are each in quotes, as if they were
// one field: programs do so that write what is written already.
func (c *Table) unwrapLines(ctx context.Context, options Options, spool *input.Spool) error {
	head := make([]byte, min(c.end, c.limits.head))
	if err := input.ReadFull(c.text, head, 0); err != nil {
		return fmt.Errorf("read the head of the table: %w", err)
	}
	if options.Quote == NoQuote || !wrapsLines(head, int64(len(head)) == c.end, options) {
		return nil
	}
	written, err := spool.Write(func(w io.Writer) error {
		in := bufio.NewReaderSize(input.NewContextReader(ctx, io.NewSectionReader(c.text, 0, c.end)), 256<<10)
		out := bufio.NewWriterSize(w, 256<<10)
		for number := 1; ; {
			line, err := readLine(in, c.limits.record)
			if int64(len(line)) > c.limits.record {
				return input.Refuse("record-too-long", "line %d is longer than %d bytes, the maximum", number, c.limits.record)
			}
			number++
			if _, err := out.Write(unwrapped(line)); err != nil {
				return err
			}
			if err == io.EOF {
				return out.Flush()
			}
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	c.warnings = append(c.warnings, feedmill.Warning{Code: feedmill.WarnLines, Count: 1, Detail: "Every line was in quotes as a single field, so the quotes were removed. Set quote=none to keep them."})
	return c.rewritten(ctx, written, spool)
}

// readLine reads a line with its end, or the beginning of one that is longer than a
// limit.
func readLine(in *bufio.Reader, limit int64) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || int64(len(line)) > limit {
			return line, err
		}
	}
}

// unwrapped is a line without the quotes around it.
func unwrapped(line []byte) []byte {
	text := bytes.TrimRight(line, "\r\n")
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return line
	}
	inner := bytes.ReplaceAll(text[1:len(text)-1], []byte(`""`), []byte(`"`))
	return append(inner, '\n')
}

// wrapsLines reports whether every line of the head is one quoted field in which
// there are as many others in each.
func wrapsLines(head []byte, final bool, options Options) bool {
	if len(head) == 0 || head[0] != '"' {
		return false
	}
	if cut := bytes.LastIndexByte(head, '\n'); !final && cut >= 0 {
		head = head[:cut]
	}
	var inner []byte
	lines := 0
	for line := range bytes.Lines(head) {
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			continue
		}
		if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
			return false
		}
		text = text[1 : len(text)-1]
		if bytes.Count(text, []byte(`"`)) != 2*bytes.Count(text, []byte(`""`)) {
			return false
		}
		lines++
		inner = append(append(inner, bytes.ReplaceAll(text, []byte(`""`), []byte(`"`))...), '\n')
	}
	if lines < 2 {
		return false
	}
	options.Quote = 0
	found := findDialect(inner, true, options)
	return found.width > 1 && found.agree == 20 && found.Spaces == 0 && (found.width > 2 || found.typed > 0)
}
