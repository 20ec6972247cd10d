package csv

import (
	"bytes"
	"fmt"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

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
	before := c.end
	defer func() { c.trimmed = append(c.trimmed, trimmedEnd{c.end, before}) }()
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

// keepBlankEnd makes the blank lines at the end of a table of one column rows again, where its name is in quotes: a program that
// writes quotes which nobody needs writes a blank line for a null. So does the CSV of this service.
func (c *Table) keepBlankEnd(found *trial, place *layout.Table, first int) error {
	if c.columns != 1 || c.options.Rules <= feedmill.RulesFirst || len(place.Header) != 1 || c.Dialect.Quote == 0 {
		return nil
	}
	if line := found.line(first + place.Header[0]); len(line) == 0 || line[0] != c.Dialect.Quote {
		return nil
	}
	rest := make([]byte, min(c.text.Size()-c.end, c.limits.record))
	if err := input.ReadFull(c.text, rest, c.end); err != nil {
		return fmt.Errorf("read the end of the table: %w", err)
	}
	blank := bytes.Count(rest, []byte{c.Dialect.Newline})
	if c.end > c.begin || len(found.records) > first+place.First {
		blank-- // the end of the last row
	} else if blank > 0 { // the header is all there is, and its line ends behind it
		c.begin = c.end + int64(bytes.IndexByte(rest, c.Dialect.Newline)) + 1
		blank--
	}
	if blank <= 0 {
		return nil
	}
	at, err := c.position(c.end)
	if err != nil {
		return err
	}
	c.end += int64(len(bytes.TrimRight(rest, "\x1a")))
	c.warnings = append(c.warnings, feedmill.Warning{
		Code: feedmill.WarnBlankLines, Count: int64(blank), Examples: []feedmill.Example{{Line: at.Line + 1}},
		Detail: fmt.Sprintf("The table has one column, and %d blank lines at its end were read as rows without a value, because the header is in quotes. Remove the lines if they are not rows.", blank),
	})
	return nil
}

// trimFooter leaves out what stands behind the table: rows of nothing but
// delimiters, and notes.
func (c *Table) trimFooter() error {
	if c.columns < 2 || c.exported || c.options.Extent.Footer == layout.KeepFooter && c.options.Rules > feedmill.RulesFirst {
		return nil
	}
	original := c.options.Extent.Footer == layout.DropShort
	if !original {
		if err := c.trimPadding(); err != nil {
			return err
		}
	}
	if c.options.Extent.Footer == layout.KeepFooter {
		return nil
	}
	tail, err := c.tail()
	if err != nil {
		return err
	}
	begin := c.end - int64(len(tail))
	if begin > c.begin {
		cut := bytes.IndexByte(tail, c.Dialect.Newline) + 1
		tail, begin = tail[cut:], begin+int64(cut)
	}
	if len(tail) == 0 || c.Dialect.Quote != 0 && bytes.Count(tail, []byte{c.Dialect.Quote})%2 != 0 {
		return nil // a quoted field may begin before it
	}
	t := tryDialect(tail, true, c.Dialect)
	first := max(0, len(t.records)-maxFooterRows)
	rows := t.rows(first)
	end := c.options.Extent.First(rows, c.columns, c.textFirst)
	if end == len(rows) || first+end == 0 {
		return nil
	}
	at := t.offsets[first+end]
	if original && c.Dialect.Quote != 0 && bytes.IndexByte(tail[at:], c.Dialect.Quote) >= 0 {
		return nil
	}
	from, err := c.position(begin + int64(at))
	if err != nil {
		return err
	}
	var examples []feedmill.Example
	notes := int64(0)
	for i := first + end; i < len(t.records); i++ {
		text := bytes.TrimRight(t.line(i), string(rune(c.Dialect.Delimiter))+" ")
		if len(text) == 0 {
			text = bytes.Trim(t.line(i), " \r") // delimiters between notes are a row, too
		}
		if len(text) > 0 {
			if notes++; notes <= 3 || c.options.Extent.Footer == layout.DropNotes {
				examples = append(examples, feedmill.Example{Line: from.Line + t.lineOf(i) - t.lineOf(first+end), Value: string(excerpt(text))})
			}
		}
	}
	last := from.Line + t.lineOf(len(t.records)-1) - t.lineOf(first+end)
	c.end = begin + int64(at)
	if notes > 0 {
		c.warnings = append(c.warnings, feedmill.Warning{
			Code: feedmill.WarnFooter, Count: notes, Examples: examples,
			Detail: layout.Lines(examples[0].Line, last, "after the last row was", "after the last row were") + " left out. Set footer=keep to import every row.",
		})
	}
	if err := c.trimEnd(); err != nil || original {
		return err
	}
	return c.trimPadding()
}

// maxFooterRows is how many rows at the end are looked at for a footer.
const maxFooterRows = 200

// trimPadding leaves out rows of nothing but delimiters at the end, which
// spreadsheets write for cells that were once used.
func (c *Table) trimPadding() error {
	first, rows := c.end, int64(0)
	for c.end > c.begin {
		tail, err := c.tail()
		if err != nil {
			return err
		}
		kept, lines, at := c.padding(tail)
		if lines == 0 {
			break
		}
		rows, first = rows+lines, c.end-int64(len(tail)-at)
		c.end -= int64(len(tail) - kept)
	}
	if rows == 0 {
		return nil
	}
	c.trimmed = append(c.trimmed, trimmedEnd{c.end, first})
	at, err := c.position(first)
	if err != nil {
		return err
	}
	c.warnings = append(c.warnings, feedmill.Warning{
		Code: feedmill.WarnPadding, Count: rows, Examples: []feedmill.Example{{Line: at.Line}},
		Detail: layout.Lines(at.Line, at.Line+rows-1, "after the last row contains only delimiters and was", "after the last row contain only delimiters and were") + " left out.",
	})
	return nil
}

// padding is how much of the tail stands before the lines of nothing but
// delimiters at its end, how many those are, and where the first of them begins.
func (c *Table) padding(tail []byte) (kept int, lines int64, first int) {
	kept = len(tail)
	for kept > 0 {
		start := bytes.LastIndexByte(tail[:kept], c.Dialect.Newline) + 1
		if start == 0 && int64(len(tail)) < c.end-c.begin {
			break // the line begins before the tail
		}
		if len(bytes.Trim(tail[start:kept], string(rune(c.Dialect.Delimiter))+" \r")) > 0 {
			break
		}
		lines++
		first = start
		kept = len(bytes.TrimRight(tail[:start], "\r\n"))
	}
	return kept, lines, first
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
