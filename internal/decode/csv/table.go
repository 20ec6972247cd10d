package csv

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// Table is a table of separated fields whose dialect, header and extent are known.
//
// The records are read by [Table.Each], as often as needed. The first time finds
// out what the whole file is like, so the rest is known after it.
type Table struct {
	Dialect Dialect

	limits  *limits
	options Options
	text    *input.Text
	// headerLine is the line of the header, 0 where there is none.
	headerLine int64
	// spool has the text where it was not UTF-8; nil is one of somebody else.
	spool *input.Spool
	// begin and end are the bytes of the records, without header and footer.
	begin, end int64
	names      []string
	columns    int
	warnings   []feedmill.Warning

	// arriving is the source of a text that was not there in full at first.
	arriving input.Arriving
	// base is the number of the first record.
	base int64

	// What the first reading finds; rows is the number of the next record.
	whole  bool // it came to its end
	rows   int64
	ragged raggedness
	broken brokenQuotes
	blocks []blockRange
}

// Options say what is known of a table beforehand.
type Options struct {
	// Delimiter is 0 where it is to be found. DelimiterSet says that somebody
	// has set it, and not the format.
	Delimiter    byte
	DelimiterSet bool
	// Quote is the character around fields, 0 where it is to be found, and
	// NoQuote where there is none.
	Quote byte
	// Encoding is a name of the WHATWG; empty where it is to be found.
	Encoding string
	// Header is the line of the header from 1, 0 where it is to be found, and
	// NoHeader where there is none.
	Header int64
	// Before is what was found in the data before this one.
	Before feedmill.Findings
	// Temp is the folder for a temporary file, which data takes that is not
	// UTF-8; empty is that of the system.
	Temp string

	// like is a table that this one is expected to look like.
	like *template
	// limits are others than usual, for tests.
	limits *limits
}

// NoQuote and NoHeader say that a table has none.
const (
	NoQuote  = 1
	NoHeader = -1
)

func (o *Options) limitsOrUsual() *limits { return cmp.Or(o.limits, &usual) }

// Open finds the encoding of the data, and the dialect, the header and the extent
// of the table in it. Lines before the header and after the last record that are
// not part of the table are left out, with a warning.
func Open(ctx context.Context, data input.Source, options Options) (*Table, error) {
	spool := input.NewSpool(options.Temp)
	c, err := open(ctx, data, options, spool)
	if err != nil {
		_ = spool.Close() // what is lost with it is lost
		return nil, err
	}
	c.spool = spool
	return c, nil
}

// open is Open with a spool that may be there for other tables as well.
func open(ctx context.Context, data input.Source, options Options, spool *input.Spool) (*Table, error) {
	limits := options.limitsOrUsual()
	text, err := input.OpenText(ctx, data, options.Encoding, limits.chunk, spool)
	if err != nil {
		return nil, err
	}
	c := &Table{text: text, end: text.Size(), limits: limits, options: options}
	if err := c.trimEnd(); err != nil {
		return nil, err
	}
	if c.end == 0 {
		return nil, input.ErrNoData
	}
	found, header, named, err := c.findHeader(ctx, options)
	if err != nil {
		return nil, err
	}
	c.Dialect = found.Dialect
	if header == len(found.records) {
		return nil, input.ErrNoData
	}
	if err := c.findEscape(); err != nil {
		return nil, err
	}
	if like := options.like; like != nil && !named && found.width == len(like.names) {
		c.begin, c.columns, c.names = int64(found.offsets[header]), len(like.names), like.names
	} else if err := c.nameColumns(found, header, named); err != nil {
		return nil, err
	}
	return c, c.trimFooter()
}

// Close removes the temporary file where there is one.
func (c *Table) Close() error { return c.spool.Close() }

// findHeader finds the dialect and the record that names the columns, where
// named says that there is one.
func (c *Table) findHeader(ctx context.Context, options Options) (found *trial, header int, named bool, err error) {
	size := c.limits.head
	if options.like != nil {
		size = likeBytes
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, false, err
		}
		head := make([]byte, min(c.end, size))
		if err := input.ReadFull(c.text, head, 0); err != nil {
			return nil, 0, false, fmt.Errorf("read the head of the table: %w", err)
		}
		final := int64(len(head)) == c.end
		if options.like != nil {
			if found, header, named = options.like.find(head, final); found != nil {
				return found, header, named, nil
			}
			options.like, size = nil, c.limits.head
			continue
		}
		found = findDialect(head, final, options)
		if found.tooMany {
			return nil, 0, false, input.Refuse("too-many-columns", "the first record has more than %d fields; at most %d columns are read", maxFields, input.MaxColumns)
		}
		if found.width <= 1 && !final && size < c.limits.farHead {
			size = c.limits.farHead
			continue
		}
		if header, named, err = found.header(options.Header); err != nil || header < len(found.records) || final {
			return found, header, named, err
		}
		if most := c.limits.record; int64(len(head)) >= most {
			return nil, 0, false, input.Refuse("record-too-long", "the first line is longer than %d bytes", most)
		}
		size = min(4*size, c.limits.record)
	}
}

// nameColumns names the columns by a record of the head.
func (c *Table) nameColumns(found *trial, header int, named bool) error {
	record := found.records[header]
	if len(record) > input.MaxColumns {
		return input.Refuse("too-many-columns", "the first record has %d fields; at most %d are read", len(record), input.MaxColumns)
	}
	if header > 0 {
		first := found.nextLine(0)
		skipped := 0
		for i := range header {
			if !found.blank(i) {
				skipped++
			}
		}
		if skipped > 0 {
			c.warn(feedmill.WarnPreamble, int64(skipped), 0, "what stands before the header is not part of the table, from %q on", excerpt(found.line(first)))
		}
	}
	if !named {
		c.begin = int64(found.offsets[header])
		c.columns = max(len(record), found.width)
		c.names = make([]string, c.columns)
		if c.options.Header != NoHeader {
			c.warn(feedmill.WarnNoHeader, 1, 0, "the first record holds values, so the columns have no names; header=1 makes it their names")
		}
		return nil
	}
	c.columns, c.headerLine = len(record), found.lineNumber(header)
	for _, cell := range record {
		c.names = append(c.names, string(bytes.TrimSpace(found.text(cell))))
	}
	c.begin = int64(found.offsets[header+1])
	return nil
}

// Names are what the data calls the columns, empty where it does not. Columns
// that only some records have, behind those of the header, are called _extra_1
// and so on. They are all known after the first reading.
func (c *Table) Names() []string {
	names := c.names
	for extra := 1; c.columns+extra <= c.width(); extra++ {
		names = append(names[:len(names):len(names)], extraName(extra))
	}
	return names
}

// extraName is the name of a column behind those of the header.
func extraName(n int) string { return "_extra_" + strconv.Itoa(n) }

// width is how many columns the table has, as far as is known.
func (c *Table) width() int { return max(c.columns, c.ragged.width) }

// Rows is how many records there are. It is known after the first reading.
func (c *Table) Rows() int64 { return c.rows - c.base }

// Warnings is what was noticed. It is complete after the first reading.
func (c *Table) Warnings() ([]feedmill.Warning, error) {
	out := append(append([]feedmill.Warning(nil), c.text.Warnings...), c.warnings...)
	if c.whole && c.rows == c.base {
		out = append(out, feedmill.Warning{Code: feedmill.WarnNoRows, Count: 1, Detail: "the data has a header and no rows"})
	}
	if c.ragged.short > 0 {
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnShortRows, Count: c.ragged.short, FirstRow: c.ragged.firstShort + 1,
			Detail: fmt.Sprintf("rows with fewer than %d fields; the missing ones are null", c.columns),
		})
	}
	if c.ragged.long > 0 {
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnLongRows, Count: c.ragged.long, FirstRow: c.ragged.firstLong + 1,
			Detail: fmt.Sprintf("rows with more than %d fields; the others are in _extra_1 and so on", c.columns),
		})
	}
	if c.broken.count > 0 {
		at, err := c.position(c.broken.firstOffset)
		if err != nil {
			return nil, err
		}
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnQuote, Count: c.broken.count, FirstRow: c.broken.firstRow + 1,
			Detail: fmt.Sprintf("a quote stands where none may, the first in %s; it is taken as part of the text", at),
		})
	}
	return out, nil
}

func (c *Table) warn(code string, count, row int64, format string, args ...any) {
	c.warnings = append(c.warnings, feedmill.Warning{Code: code, Count: count, FirstRow: row, Detail: fmt.Sprintf(format, args...)})
}

// position is where a byte of the text stands.
func (c *Table) position(offset int64) (input.Position, error) {
	return input.PositionAt(c.text, offset, c.Dialect.Newline)
}

// excerpt is the beginning of a text, for messages.
func excerpt(text []byte) []byte {
	const enough = 40
	if len(text) <= enough {
		return text
	}
	return append(bytes.ToValidUTF8(text[:enough:enough], nil), "…"...)
}
