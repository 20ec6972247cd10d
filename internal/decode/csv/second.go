package csv

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

const (
	// secondBytes is how much of what follows a blank line is checked for another table.
	secondBytes = 16 << 10
	// maxSkippedLines is how many lines can stand before a table that is chosen.
	maxSkippedLines = 8 << 20
)

// maxParagraphs is how many parts of the head, with empty lines between them, are tried for a
// table.
const maxParagraphs = 20

// firstTable is the end of the first lines of the head, up to an empty one, that are certain to
// be a table, with what stands above them; 0 where there are none or nothing follows them.
func firstTable(head []byte, options Options) int {
	if options.Extent.Table == 0 || options.Header != 0 {
		return 0
	}
	start := 0
	for range maxParagraphs {
		next := bytes.Index(head[start:], []byte("\n\n"))
		if dos := bytes.Index(head[start:], []byte("\n\r\n")); dos >= 0 && (next < 0 || dos < next) {
			next = dos
		}
		if next < 0 {
			return 0
		}
		end := start + next + 1
		if bytes.Count(head[start:end], []byte{'\n'}) >= 3 {
			t := findDialect(head[start:end], true, options)
			if first := t.nextLine(0); t.width > 1 && t.broken == 0 && first < len(t.records) && layout.CertainTable(t.rows(first)) {
				return end
			}
		}
		start = end
	}
	return 0
}

// chooseTable ends the table before the next one of the file, with a warning. Where the
// options name another table it opens that one.
func (c *Table) chooseTable(ctx context.Context, spool *input.Spool) (*Table, error) {
	begin, names := c.begin, c.names
	for number := 1; ; number++ {
		second, line, header, err := c.secondTable(begin, names)
		if err != nil {
			return nil, err
		}
		wanted := c.options.Extent.Table
		switch {
		case second < 0 && number < wanted:
			return nil, layout.NoTable(wanted, number)
		case number < wanted:
			begin, names = second, header.Cells
			continue
		case number > 1:
			return c.openSecond(ctx, begin, spool)
		case second < 0:
			return nil, nil
		}
		last, err := c.position(c.end)
		if err != nil {
			return nil, err
		}
		c.warnings = append(c.warnings, layout.SecondTable(line, header, last.Line, c.options.tablesBefore+2))
		c.end = second
		return nil, c.trimEnd()
	}
}

// secondTable finds the next table behind a byte of one with some names: where it begins, or
// -1, at which line, and its header.
func (c *Table) secondTable(begin int64, names []string) (at, line int64, header layout.Row, err error) {
	breaks, err := c.breaks()
	if err != nil {
		return -1, 0, header, err
	}
	quotes, checked := quoteCount{table: c}, 0
	for _, at := range breaks {
		if at <= begin || at >= c.end {
			continue
		}
		inside, err := quotes.inside(at)
		if err != nil {
			return -1, 0, header, err
		}
		if inside {
			continue
		}
		if checked++; checked > input.MaxBreaks {
			break
		}
		head := make([]byte, min(c.end-at, secondBytes))
		if err := input.ReadFull(c.text, head, at); err != nil {
			return -1, 0, header, err
		}
		t := tryDialect(head, int64(len(head)) == c.end-at, c.Dialect)
		if len(t.records) == 0 {
			continue
		}
		rows := t.rows(0)
		if found := layout.Second(rows, names, c.textFirst); found >= 0 {
			from, err := c.position(at)
			header = rows[found]
			header.Line += from.Line - 1
			return at, from.Line, header, err
		}
	}
	return -1, 0, header, nil
}

// maxPadded is how large a text can be for its rows of nothing but delimiters to count as blank
// lines between tables. Spreadsheets write such rows, and none that is larger.
const maxPadded = 4 << 20

// breaks are where lines begin that follow a blank one, in order.
func (c *Table) breaks() ([]int64, error) {
	if c.Dialect.Newline != '\n' {
		return nil, nil
	}
	breaks := c.text.Survey.Breaks()
	if c.end-c.begin > maxPadded || c.Dialect.Spaces > 0 {
		return breaks, nil
	}
	text := make([]byte, c.end-c.begin)
	if err := input.ReadFull(c.text, text, c.begin); err != nil {
		return nil, err
	}
	blank := append([]byte{'\n'}, bytes.Repeat([]byte{c.Dialect.Delimiter}, c.columns-1)...)
	for at := 0; ; {
		next := bytes.Index(text[at:], blank)
		if next < 0 {
			break
		}
		at += next + len(blank)
		if rest := bytes.TrimPrefix(text[at:], []byte{'\r'}); len(rest) > 1 && rest[0] == '\n' && rest[1] != c.Dialect.Delimiter {
			breaks = append(breaks, c.end-int64(len(rest))+1)
		}
	}
	slices.Sort(breaks)
	return breaks, nil
}

// quoteCount counts the quotes of a table up to places that are given in order.
type quoteCount struct {
	table *Table
	at    int64 // the last place, 0 at first
	count int
}

// inside reports whether a place is in a quoted field.
func (q *quoteCount) inside(at int64) (bool, error) {
	c := q.table
	if c.Dialect.Quote != '"' {
		return false, nil
	}
	chunk := c.text.Survey.Chunk
	q.at = max(q.at, c.begin)
	for q.at < at {
		// Whole chunks are counted already.
		next := min((q.at/chunk+1)*chunk, at)
		if q.at%chunk == 0 && next%chunk == 0 {
			q.count += int(c.text.Survey.Quotes[q.at/chunk])
			q.at = next
			continue
		}
		part := make([]byte, next-q.at)
		if err := input.ReadFull(c.text, part, q.at); err != nil {
			return false, err
		}
		q.count += bytes.Count(part, []byte{'"'})
		q.at = next
	}
	return q.count%2 != 0, nil
}

// openSecond opens a table that begins at a byte. Its text is that from there on, behind as
// many empty lines as stand before it, so that lines have the numbers that they have in the
// file.
func (c *Table) openSecond(ctx context.Context, begin int64, spool *input.Spool) (*Table, error) {
	from, err := c.position(begin)
	if err != nil {
		return nil, err
	}
	if from.Line > maxSkippedLines {
		return nil, input.Refuse("table-too-far", "the table starts at line %d, after more than %d lines, the maximum", from.Line, maxSkippedLines)
	}
	options := *c.options
	options.Extent.Table, options.tablesBefore, options.Encoding, options.Charset = 1, c.options.Extent.Table-1, string(input.UTF8), ""
	further := *c.limits
	further.head += from.Line
	options.limits = &further
	other, err := open(ctx, &behindLines{c.text, from.Line - 1, begin}, options, spool)
	if err != nil {
		return nil, err
	}
	other.text.Encoding, other.text.Assumed = c.text.Encoding, c.text.Assumed
	other.text.Warnings = slices.Concat(c.text.Warnings, other.text.Warnings)
	other.options = &Options{}
	*other.options = *c.options
	return other, nil
}

// behindLines is a text from a byte on, behind some empty lines.
type behindLines struct {
	text  input.Source
	lines int64
	begin int64
}

func (b *behindLines) Size() int64 { return b.lines + b.text.Size() - b.begin }

func (b *behindLines) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) && at+int64(n) < b.lines {
		p[n] = '\n'
		n++
	}
	if n == len(p) {
		return n, nil
	}
	more, err := b.text.ReadAt(p[n:], at+int64(n)-b.lines+b.begin)
	if n += more; n == len(p) && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
