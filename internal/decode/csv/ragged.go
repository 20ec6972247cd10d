package csv

import (
	"bytes"
	"slices"

	"github.com/feedmill/feedmill/internal/columnar"
)

// raggedness counts the records that have more or fewer fields than there are
// columns. The first of each is the number of a record, from 0.
type raggedness struct {
	short, long           int64
	firstShort, firstLong int64
	// missing is how many fields the short ones lack, and width how many the
	// longest has.
	missing int64
	width   int
	// blanks are lines without anything, and repeats header lines that stand
	// again: neither is a record.
	blanks, repeats oddLines
}

// oddLines counts lines that are no records, and knows where the first of them
// begin in the text.
type oddLines struct {
	count   int64
	offsets []int64
}

// maxOddLines is how many of the lines that are no records a warning names.
const maxOddLines = 20

func (o *oddLines) add(offset int64) {
	if len(o.offsets) < maxOddLines {
		o.offsets = append(o.offsets, offset)
	}
	o.count++
}

func (o *oddLines) merge(later oddLines) {
	o.offsets = append(o.offsets, later.offsets[:min(len(later.offsets), maxOddLines-len(o.offsets))]...)
	o.count += later.count
}

// record counts a record with so many fields.
func (r *raggedness) record(number int64, fields, columns int) {
	switch {
	case fields < columns:
		if r.short == 0 {
			r.firstShort = number
		}
		r.short++
		r.missing += int64(columns - fields)
	case fields > columns:
		if r.long == 0 {
			r.firstLong = number
		}
		r.long++
		r.width = max(r.width, fields)
	}
}

// add takes in the count of a later run of records, whose numbers begin at first.
func (r *raggedness) add(later raggedness, first int64) {
	if r.short == 0 && later.short > 0 {
		r.firstShort = first + later.firstShort
	}
	if r.long == 0 && later.long > 0 {
		r.firstLong = first + later.firstLong
	}
	r.short += later.short
	r.long += later.long
	r.missing += later.missing
	r.width = max(r.width, later.width)
	r.blanks.merge(later.blanks)
	r.repeats.merge(later.repeats)
}

// fields are the ends of the fields of one record.
type fields struct {
	start uint32
	ends  []uint32
}

// blank reports whether the record is a line without anything. Where there
// is one column, that is a record of one empty field.
func (b *recordBlock) blank(r fields) bool {
	return b.columns > 1 && len(r.ends) == 1 && b.trimReturn(int(r.start), int(r.ends[0])) == int(r.start)
}

// repeatsHeader reports whether the record is a line of the header once more.
func (b *recordBlock) repeatsHeader(r fields) bool {
	return isHeaderLine(b.header, b.data[r.start:b.trimReturn(int(r.start), int(r.ends[len(r.ends)-1]))])
}

// isHeaderLine reports whether a line is one of those of the header.
func isHeaderLine(header [][]byte, line []byte) bool {
	for _, known := range header {
		if bytes.Equal(known, line) {
			return true
		}
	}
	return false
}

// mayBeHeader reports whether a record that begins there begins as a line of the header does.
func (b *recordBlock) mayBeHeader(start uint32) bool {
	const enough = 24
	for _, line := range b.header {
		if b.data[start] == line[0] && bytes.HasPrefix(b.data[start:], line[:min(len(line), enough)]) {
			return true
		}
	}
	return false
}

// records calls fn for every record of the block, without blank lines and headers
// that stand again, until it returns false.
func (b *recordBlock) records(fn func(r fields) bool) {
	newline := b.dialect.Newline
	start, first := uint32(0), 0
	for i, end := range b.ends {
		if b.data[end] != newline {
			continue
		}
		r := fields{start: start, ends: b.ends[first : i+1]}
		switch {
		case b.blank(r):
			b.odd.blanks.add(b.base + int64(start))
		case len(b.header) > 0 && b.repeatsHeader(r):
			b.odd.repeats.add(b.base + int64(start))
		case !fn(r):
			return
		}
		start, first = end+1, i+1
	}
}

// countRows looks at a block whose records differ in length. It reports whether
// its quotes are well formed.
func (b *recordBlock) countRows(quoted bool) (fine bool) {
	b.rows, fine = 0, true
	b.odd = raggedness{}
	b.records(func(r fields) bool {
		b.ragged.record(int64(b.rows), len(r.ends), b.columns)
		b.rows++
		if !quoted {
			return true
		}
		start := r.start
		for _, end := range r.ends {
			if b.data[start] == b.dialect.Quote {
				if _, fine = b.quotedCell(0, int(start), b.trimReturn(int(start), int(end))); !fine {
					return false
				}
			}
			start = end + 1
		}
		return true
	})
	b.ragged.blanks, b.ragged.repeats = b.odd.blanks, b.odd.repeats
	b.returns = -1 // they were not all counted, so each must be looked at
	b.cells.Columns = max(b.columns, b.ragged.width)
	return fine
}

// firstWider is where the first record begins that has more fields than a limit,
// and how many it has.
func (b *recordBlock) firstWider(limit int) (offset int64, width int) {
	b.records(func(r fields) bool {
		offset, width = int64(r.start), len(r.ends)
		return width <= limit
	})
	return offset, width
}

// emitRagged gives the records to fn, filled up with missing cells.
func (b *recordBlock) emitRagged(first int64, width int, fn func(*columnar.Cells) error) error {
	columns := b.cells.Columns
	step := max(1, maxRunCells/max(width, columns))
	run := columnar.Cells{First: first, Columns: columns, Data: b.data, Cell: b.cells.Cell[:0]}
	var err error
	flush := func() bool {
		if run.Rows > 0 {
			err = fn(&run)
			run.First += int64(run.Rows)
			run.Rows, run.Cell = 0, run.Cell[:0]
		}
		return err == nil
	}
	b.records(func(r fields) bool {
		if run.Rows == step && !flush() {
			return false
		}
		at := len(run.Cell)
		run.Cell = slices.Grow(run.Cell, columns)[:at+columns]
		clear(run.Cell[at:])
		start := r.start
		for i, end := range r.ends {
			run.Cell[at+i] = b.cell(int(start), int(end))
			start = end + 1
		}
		run.Rows++
		return true
	})
	if err == nil {
		flush()
	}
	b.cells.Cell = run.Cell[:0]
	return err
}

// cell is the cell of a field that is known to be well formed.
func (b *recordBlock) cell(start, end int) columnar.Cell {
	end = b.trimReturn(start, end)
	if start == end || b.data[start] != b.dialect.Quote {
		return columnar.NewCell(columnar.CellPlain, start, end)
	}
	return unescape(b.data, columnar.NewCell(columnar.CellQuoted, start+1, end-1), b.dialect.Quote)
}
