package csv

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

// Table is a table of separated fields whose dialect, header and extent are known.
//
// The records are read by [Table.Each], as often as needed. The first time finds
// out what the whole file is like, so the rest is known after it.
type Table struct {
	columnar.PlainColumns
	Dialect Dialect

	limits  *limits
	options *Options
	text    *input.Text
	// headerLine is the line of the header, 0 where there is none.
	headerLine int64
	// spool has the text where it was not UTF-8; nil is one of somebody else.
	spool *input.Spool
	// begin and end are the bytes of the records, without header and footer, and trimmed is
	// the blank text behind the end, each time that it was set.
	begin, end int64
	trimmed    []trimmedEnd
	blankHead  oddLines // above the first line that is not blank
	names      []string
	units      []string
	columns    int
	// assumed says that nothing proves the header, and textFirst that the first column has
	// text in the first rows.
	assumed, textFirst bool
	// exported says that Feedmill wrote the text, so that all lines below the first are rows.
	exported bool
	// header is the lines of the header, which may stand again in the data.
	header   [][]byte
	warnings []feedmill.Warning
	// rules is how many lines were rules, which are blank now.
	rules int64

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
	// Encoding is a name of the WHATWG; empty where it is to be found. Charset is one that
	// was said by the way, which decides where nothing is found.
	Encoding, Charset string
	// Header is the line of the header from 1, 0 where it is to be found, and
	// NoHeader where there is none.
	Header int64
	// Before is what was found in the data before this one.
	Before feedmill.Findings
	// Extent is which rows are of the table, and Rules the version of the rules that it is
	// found by.
	Extent layout.Extent
	Rules  feedmill.Rules
	// Temp is the folder for a temporary file, which data takes that is not
	// UTF-8; empty is that of the system.
	Temp string

	// like is a table that this one is expected to look like.
	like *template
	// tablesBefore is how many tables of the file stand before the text.
	tablesBefore int
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
	text, err := input.OpenText(ctx, data, options.Encoding, options.Charset, limits.chunk, spool)
	if err != nil {
		return nil, err
	}
	c := &Table{text: text, end: text.Size(), limits: limits, options: &options}
	if err := c.trimEnd(); err != nil {
		return nil, err
	}
	trimmed := c.end
	if c.end == 0 {
		return nil, input.ErrNoData
	}
	if options.Rules != feedmill.RulesOriginal {
		if err := c.unwrapLines(ctx, options, spool); err != nil {
			return nil, err
		}
		delimiter, err := c.reprint(ctx, options, spool)
		if err != nil {
			return nil, err
		}
		if delimiter != 0 {
			options.Delimiter = delimiter
		}
	}
	if c.text != text {
		c.trimmed = nil // what was trimmed is of another text
	}
	found, place, first, err := c.findTable(ctx, options)
	if err != nil {
		return nil, err
	}
	c.Dialect = found.Dialect
	if first == len(found.records) {
		return nil, input.ErrNoData
	}
	if err := c.findEscape(); err != nil {
		return nil, err
	}
	if place == nil {
		like := options.like
		c.begin, c.columns, c.names = int64(found.offsets[first]), len(like.names), like.names
	} else if err := c.nameColumns(found, place, first); err != nil {
		return nil, err
	}
	if place != nil && options.Extent.Table > 0 && c.columns > 1 && !(c.exported && options.Extent.Table == 1) {
		other, err := c.chooseTable(ctx, spool)
		if err != nil {
			return nil, err
		}
		if other != nil {
			return other, nil
		}
	}
	if err := c.trimFooter(); err != nil {
		return nil, err
	}
	if place != nil && c.text == text && c.end == trimmed {
		return c, c.keepBlankEnd(found, place, first)
	}
	return c, nil
}

// Close removes the temporary file where there is one.
func (c *Table) Close() error { return c.spool.Close() }

// findTable finds the dialect and the table, in the records from the first on. It
// finds no place where the table goes on that of the page before.
func (c *Table) findTable(ctx context.Context, options Options) (found *trial, place *layout.Table, first int, err error) {
	size := c.limits.head
	if options.like != nil {
		size = likeBytes
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, 0, err
		}
		head := make([]byte, min(c.end, size))
		if err := input.ReadFull(c.text, head, 0); err != nil {
			return nil, nil, 0, fmt.Errorf("read the head of the table: %w", err)
		}
		final := int64(len(head)) == c.end
		if options.like != nil {
			if found, record, named := options.like.find(head, final); found != nil {
				if named {
					place, err := layout.Find(found.rows(record), found.lineOf(record), options.Rules)
					return found, &place, record, err
				}
				return found, nil, record, nil
			}
			options.like, size = nil, c.limits.head
			continue
		}
		found = findDialect(head, final, options)
		if end := firstTable(head, options); end > 0 && !found.tooMany {
			// Tables behind it may be of another width.
			found = findDialect(head[:end], true, options)
		}
		if found.tooMany {
			return nil, nil, 0, input.Refuse("too-many-columns", "the first record has more than %d fields; the maximum is %d", maxFields, input.MaxColumns)
		}
		if found.width <= 1 && !final && size < c.limits.farHead {
			size = c.limits.farHead
			continue
		}
		if len(found.records) > 0 || final {
			place, first, err := found.find(options.Header, options.Rules)
			return found, &place, first, err
		}
		if most := c.limits.record; int64(len(head)) >= most {
			return nil, nil, 0, input.Refuse("record-too-long", "the first line is longer than %d bytes, the maximum", most)
		}
		size = min(4*size, c.limits.record)
	}
}

// nameColumns names the columns by the rows of the head that are their names, which
// are counted from the first record.
func (c *Table) nameColumns(found *trial, place *layout.Table, first int) error {
	c.warnings = append(c.warnings, place.Warnings...)
	data := first + place.First
	for i := range first {
		if found.blank(i) && c.options.tablesBefore == 0 {
			c.blankHead.add(int64(found.offsets[i]))
		}
	}
	c.begin, c.names, c.units = int64(found.offsets[data]), place.Names, place.Units
	c.columns, c.assumed, c.textFirst = len(place.Names), !place.Proven, place.TextFirst
	if len(place.Header) == 0 {
		c.columns = max(len(found.records[data]), place.Width)
		c.names = make([]string, c.columns)
	}
	if c.columns > input.MaxColumns {
		return input.Refuse("too-many-columns", "the first record has %d fields; the maximum is %d", c.columns, input.MaxColumns)
	}
	c.exported = c.options.Header == 0 && c.options.tablesBefore == 0 && found.isExport(c.options.Rules)
	for _, row := range place.Header {
		c.headerLine = found.lineOf(first + row)
		if line := found.line(first + row); c.columns > 1 && !c.exported && len(bytes.TrimSpace(line)) > 0 {
			c.header = append(c.header, c.headerLines(found, first+row)...)
		}
	}
	return nil
}

// Units are those of the columns, where the data gives them.
func (c *Table) Units() []string { return c.units }

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
		out = append(out, feedmill.Warning{Code: feedmill.WarnNoRows, Count: 1, Detail: "The data has a header but no rows."})
	}
	more, err := c.ragged.warnings(c)
	if err != nil {
		return nil, err
	}
	out = append(out, more...)
	if c.broken.count > 0 {
		at, err := c.position(c.broken.firstOffset)
		if err != nil {
			return nil, err
		}
		out = append(out, feedmill.Warning{
			Code: feedmill.WarnQuote, Count: c.broken.count, FirstRow: c.broken.firstRow + 1,
			Detail: fmt.Sprintf("Misplaced quotes (first: %s) were imported as part of the text. Fix them at the source, or set quote=none if fields are not quoted.", at),
		})
	}
	return out, nil
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
