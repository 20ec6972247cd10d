package csv

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// tolerantReader reads the rest of a table that is not well formed. The records
// are found one after the other; what is done with them runs in parallel.
type tolerantReader struct {
	table    *Table
	mu       sync.Mutex
	offset   int64
	unclosed int64
	failed   bool
}

// scan is the work of one goroutine.
func (r *tolerantReader) scan(ctx context.Context, fn func(*columnar.Cells) error) error {
	scan := r.table.scanner()
	defer scanners.Put(scan)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch err := r.next(&scan.cells); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
		if scan.cells.Rows > 0 {
			if err := fn(&scan.cells); err != nil {
				return err
			}
		}
	}
}

// next reads the next run of records.
func (r *tolerantReader) next(cells *columnar.Cells) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.table
	if r.failed || r.offset >= c.end {
		return io.EOF
	}
	block := blockRange{start: r.offset, end: c.end, first: c.rows, tolerant: true, unclosed: r.unclosed}
	t, size, err := c.parseTolerant(block, cells)
	if err == nil {
		c.ragged.add(t.ragged, block.first)
		err = c.checkRagged(block.start)
	}
	if err != nil {
		r.failed = true
		return err
	}
	block.end, block.rows = block.start+int64(size), cells.Rows
	r.offset, r.unclosed = block.end, t.unclosed
	c.rows += int64(cells.Rows)
	c.blocks = append(c.blocks, block)
	if c.broken.count == 0 {
		c.broken = t.broken
	} else {
		c.broken.count += t.broken.count
	}
	return nil
}

// readTolerant reads a part that has been read before.
func (c *Table) readTolerant(block blockRange, scan *scanner, fn func(*columnar.Cells) error) error {
	last := block.first + int64(block.rows)
	for block.start < block.end {
		t, size, err := c.parseTolerant(block, &scan.cells)
		if err != nil {
			return err
		}
		block.start += int64(size)
		block.first += int64(scan.cells.Rows)
		block.unclosed = t.unclosed
		if scan.cells.Rows > 0 {
			if err := fn(&scan.cells); err != nil {
				return err
			}
		}
	}
	if block.first != last {
		return fmt.Errorf("%w, before byte %d", input.ErrChanged, block.end)
	}
	return nil
}

// tolerantRun is a run of records with what was noticed in it.
type tolerantRun struct {
	tolerant
	ragged raggedness
}

// parseTolerant reads the first records of a part into cells, as many as make a
// run, and says how many bytes they are.
func (c *Table) parseTolerant(block blockRange, cells *columnar.Cells) (*tolerantRun, int, error) {
	for window := c.text.Survey.Chunk; ; window *= 2 {
		size := min(window, block.end-block.start)
		cells.Data = slices.Grow(cells.Data[:0], int(size))[:size]
		if err := input.ReadFull(c.text, cells.Data, block.start); err != nil {
			return nil, 0, err
		}
		t := &tolerantRun{tolerant: tolerant{
			dialect: c.Dialect, special: c.Dialect.special(), columns: c.columns, data: cells.Data, final: block.start+size == block.end,
			base: block.start, unclosed: block.unclosed, cells: cells.Cell[:0], maxField: int(c.limits.field),
		}}
		for !t.final && len(t.data) > 0 && t.data[len(t.data)-1] == '\r' {
			t.data = t.data[:len(t.data)-1]
		}
		consumed, err := c.parseRun(t, block.first, cells)
		if err != nil || consumed > 0 {
			return t, consumed, err
		}
		if window >= c.limits.record {
			return nil, 0, c.refuseAt("record-too-long", block.start, "the record is longer than %d bytes, the maximum", c.limits.record)
		}
	}
}

// parseRun reads records until the data ends or the run is full.
func (c *Table) parseRun(t *tolerantRun, first int64, cells *columnar.Cells) (consumed int, err error) {
	cells.First, cells.Rows, cells.Columns = first, 0, c.columns
	raw := t.data
	var widths []int
	for consumed < len(t.data) {
		begin, broken := len(t.cells), t.broken
		next, complete := t.record(consumed, first+int64(cells.Rows))
		if t.tooMany {
			return 0, c.refuseAt("too-many-fields", t.base+int64(consumed), "the record has more than %d fields, the maximum; the table has %d columns", maxFields, c.columns)
		}
		if !complete {
			t.cells, t.broken = t.cells[:begin], broken
			break
		}
		width := len(t.cells) - begin
		if c.columns > 1 && width == 1 && t.cells[begin].Kind() == columnar.CellPlain && t.cells[begin].Empty() {
			t.cells = t.cells[:begin]
			t.ragged.blanks.add(t.base + int64(consumed))
			consumed = next
			continue
		}
		if len(c.header) > 0 && isHeaderLine(c.header, bytes.TrimRight(raw[consumed:next], "\r\n")) {
			t.cells, t.broken = t.cells[:begin], broken
			t.ragged.repeats.add(t.base + int64(consumed))
			consumed = next
			continue
		}
		for _, cell := range t.cells[begin:] {
			if start, end := cell.Range(); int64(end-start) > c.limits.field {
				return 0, c.refuseAt("field-too-long", t.base+int64(start), "a field is longer than %d bytes, the maximum", c.limits.field)
			}
		}
		columns := max(cells.Columns, width)
		if cells.Rows > 0 && (cells.Rows+1)*max(columns, c.columns) > maxRunCells {
			t.cells, t.broken = t.cells[:begin], broken
			break
		}
		cells.Columns = columns
		t.ragged.record(int64(cells.Rows), width, c.columns)
		widths = append(widths, width)
		cells.Rows++
		consumed = next
	}
	cells.Cell = fillUp(t.cells, widths, cells.Columns)
	return consumed, nil
}

// fillUp gives every record as many cells as there are columns. It works
// from the end, so that nothing is overwritten before it has moved.
func fillUp(cells []columnar.Cell, widths []int, columns int) []columnar.Cell {
	from, to := len(cells), len(widths)*columns
	if from == to {
		return cells
	}
	cells = slices.Grow(cells, to-from)[:to]
	for row := len(widths) - 1; row >= 0; row-- {
		width := widths[row]
		from -= width
		to -= columns
		copy(cells[to:to+columns], cells[from:from+width])
		clear(cells[to+width : to+columns])
	}
	return cells
}
