package csv

import (
	"bytes"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// maxFooter is how many lines can stand after the table.
const maxFooter = 10

// tail reads the last bytes of the table.
func (c *Table) tail() ([]byte, error) {
	tail := make([]byte, min(c.end-c.begin, c.limits.tail))
	if err := input.ReadFull(c.text, tail, c.end-int64(len(tail))); err != nil {
		return nil, fmt.Errorf("read the end of the table: %w", err)
	}
	return tail, nil
}

// trimEnd leaves out empty lines at the end, and the mark that some old systems
// end a file with.
func (c *Table) trimEnd() error {
	for {
		tail, err := c.tail()
		if err != nil {
			return err
		}
		kept := bytes.TrimRight(tail, "\r\n\x1a")
		c.end -= int64(len(tail) - len(kept))
		if len(kept) > 0 || c.end == c.begin {
			return nil
		}
	}
}

// trimFooter leaves out lines behind the table: a few, after an empty line, with
// fewer fields than there are columns, such as a count of the rows.
func (c *Table) trimFooter() error {
	if c.columns < 2 {
		return nil
	}
	tail, err := c.tail()
	if err != nil {
		return err
	}
	newline := []byte{c.Dialect.Newline}
	lines := bytes.Split(tail, newline)
	for i := len(lines) - 1; i > 0 && i >= len(lines)-1-maxFooter; i-- {
		line := bytes.TrimRight(lines[i], "\r")
		if len(line) > 0 {
			if bytes.IndexByte(line, c.Dialect.Quote) >= 0 || bytes.Count(line, []byte{c.Dialect.Delimiter}) >= c.columns-1 {
				return nil
			}
			continue
		}
		footer := bytes.Join(lines[i+1:], newline)
		c.end -= int64(len(footer) + len(lines[i]) + 1)
		c.warn(feedmill.WarnFooter, int64(len(lines)-1-i), 0, "what stands after the last row is not part of the table: %q", excerpt(footer))
		return c.trimEnd()
	}
	return nil
}

// findEscape looks whether a backslash stands before quotes, where the first
// such pair is outside of the head of the text.
func (c *Table) findEscape() error {
	at, size := c.text.Survey.Escape, c.limits.head
	if at < size || c.Dialect.Quote != '"' || c.Dialect.Escape != '"' {
		return nil
	}
	from := max(0, at-size/2)
	part := make([]byte, min(c.end-from, size))
	if len(part) == 0 {
		return nil
	}
	if err := input.ReadFull(c.text, part, from); err != nil {
		return fmt.Errorf("look for escapes: %w", err)
	}
	first := bytes.IndexByte(part, c.Dialect.Newline) + 1
	doubled := tryDialect(part[first:], false, c.Dialect)
	escaped := c.Dialect
	escaped.Escape = '\\'
	if doubled.broken > 0 && tryDialect(part[first:], false, escaped).broken < doubled.broken {
		c.Dialect = escaped
	}
	return nil
}
