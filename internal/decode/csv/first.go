package csv

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/share"
)

// firstReading is the state of the first reading of all records. Blocks are scanned
// by several goroutines at the same time and taken up in order, so that each
// knows how many records come before it, and that all before it are well formed.
type firstReading struct {
	table *Table
	chunk int64 // how many bytes the chunks have
	// outside says for each chunk of the text whether it begins outside of quotes.
	outside []bool
	// arrivals has that for a text that is not yet there in full; else it is nil.
	arrivals *arrivals

	mu    sync.Mutex
	moved sync.Cond
	claim int   // the next chunk to be scanned
	next  int   // the next chunk to be taken up
	over  bool  // no more chunk is taken up
	from  int64 // where the first block that is not well formed begins, or -1
}

// readFirst reads all records and finds out what the file is like.
func (c *Table) readFirst(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	r := c.newFirstReading()
	if !c.Dialect.fast() {
		r.from = c.begin
	} else if err := r.findParity(); err != nil {
		return err
	}
	return c.readOn(ctx, r, workers, fn)
}

// newFirstReading begins a first reading.
func (c *Table) newFirstReading() *firstReading {
	c.rows, c.ragged, c.broken, c.blocks = c.base, raggedness{}, brokenQuotes{}, nil
	head := int(c.begin / c.text.Survey.Chunk)
	r := &firstReading{table: c, chunk: c.text.Survey.Chunk, from: -1, next: head, claim: head}
	r.moved.L = &r.mu
	return r
}

// readOn reads all records that were not read.
func (c *Table) readOn(ctx context.Context, r *firstReading, workers int, fn func(*columnar.Cells) error) error {
	if r.from < 0 {
		if err := input.Together(ctx, workers, func(ctx context.Context) error { return r.scan(ctx, fn) }); err != nil {
			return err
		}
	}
	if r.from >= 0 {
		rest := &tolerantReader{table: c, offset: r.from}
		if err := input.Together(ctx, workers, func(ctx context.Context) error { return rest.scan(ctx, fn) }); err != nil {
			return err
		}
	}
	c.whole = true
	return nil
}

// findParity adds up the quotes before each chunk.
func (r *firstReading) findParity() error {
	c := r.table
	quotes := uint32(0)
	base := c.begin / r.chunk * r.chunk
	skipped := make([]byte, c.begin-base)
	if err := input.ReadFull(c.text, skipped, base); err != nil {
		return fmt.Errorf("read the header: %w", err)
	}
	quotes -= uint32(bytes.Count(skipped, []byte{'"'}))
	r.outside = make([]bool, len(c.text.Survey.Quotes)+1)
	for k := range r.outside {
		r.outside[k] = c.Dialect.Quote == 0 || quotes%2 == 0
		if k < len(c.text.Survey.Quotes) && k >= r.claim {
			quotes += c.text.Survey.Quotes[k]
		}
	}
	return nil
}

// scan is the work of one goroutine.
func (r *firstReading) scan(ctx context.Context, fn func(*columnar.Cells) error) (err error) {
	scan := r.table.scanner()
	defer scanners.Put(scan)
	defer func() {
		if err != nil {
			r.stop(-1)
		}
	}()
	for {
		k, ok := r.claimChunk()
		if !ok || r.arrivals != nil && !r.arrivals.wait(k) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		start, fine, err := r.loadChunk(ctx, k, scan)
		if err != nil {
			return err
		}
		scan.block.base = start
		fine = fine && scan.scan()
		if !r.awaitTurn(k) {
			return nil
		}
		if !fine {
			r.stop(start)
			return nil
		}
		first, err := r.table.addBlock(start, &scan.block)
		if err != nil {
			return err
		}
		r.endTurn()
		if err := scan.block.emit(first, r.table.columns, fn); err != nil {
			return err
		}
	}
}

// inside reports whether a chunk begins inside quotes.
func (r *firstReading) inside(k int) bool {
	if r.arrivals != nil {
		return r.arrivals.inside(k)
	}
	return !r.outside[k]
}

// claimChunk claims the next chunk.
func (r *firstReading) claimChunk() (k int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k = r.claim
	r.claim++
	return k, !r.over && int64(k)*r.chunk < r.table.end
}

// awaitTurn waits until all chunks before k are taken up, and reports false where one
// of them ended the reading.
func (r *firstReading) awaitTurn(k int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.next != k && !r.over {
		r.moved.Wait()
	}
	return !r.over
}

func (r *firstReading) endTurn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	r.moved.Broadcast()
}

// stop ends the reading; from is where it must go on in another way, or -1.
func (r *firstReading) stop(from int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.over, r.from = true, from
	}
	r.moved.Broadcast()
}

// loadChunk reads the records that begin in a chunk. It reports false where they
// do not end in time.
func (r *firstReading) loadChunk(ctx context.Context, k int, scan *scanner) (start int64, fine bool, err error) {
	c := r.table
	low, high := max(int64(k)*r.chunk, c.begin), min(int64(k+1)*r.chunk, c.end)
	before := min(low-c.begin, 1)
	if err := scan.load(c.text, low-before, high); err != nil {
		return 0, false, err
	}
	scan.buffer = scan.buffer[:high-low+before]
	skip := 0
	if before > 0 {
		// The byte before the chunk tells whether a record begins with it.
		inside := r.inside(k)
		if inside || scan.buffer[0] != c.Dialect.Newline {
			if skip, _ = c.Dialect.recordEnd(scan.buffer[1:], inside); skip < 0 {
				scan.records = nil
				return low, true, nil
			}
		}
		skip++
	}
	start = low - before + int64(skip)
	if skip == len(scan.buffer) {
		scan.records = nil
		return start, true, nil
	}
	fine, err = r.finish(ctx, k, high, scan)
	scan.records = scan.buffer[skip:]
	return start, fine, err
}

// finish reads on to the end of the last record that begins in a chunk.
func (r *firstReading) finish(ctx context.Context, k int, high int64, scan *scanner) (fine bool, err error) {
	c := r.table
	inside := r.inside(k + 1)
	if high == c.end {
		scan.endLine()
		return true, nil
	}
	if !inside && scan.buffer[len(scan.buffer)-1] == c.Dialect.Newline {
		return true, nil
	}
	for step := int64(8 << 10); high < c.end; step = min(2*step, 4<<20) {
		size := len(scan.buffer)
		more := min(step, c.end-high, r.chunk+c.limits.record-int64(size))
		if more <= 0 {
			return false, nil
		}
		if size, err := input.AwaitSize(c.text.Source, high+more); err != nil {
			return false, err
		} else if high+more > size {
			return false, input.ErrArriving
		}
		if size > input.LargeBytes {
			if err := share.Large(ctx); err != nil {
				return false, err
			}
		}
		scan.buffer = append(scan.buffer, make([]byte, more)...)
		if err := input.ReadFull(c.text, scan.buffer[size:], high); err != nil {
			return false, fmt.Errorf("read the table: %w", err)
		}
		high += more
		var end int
		if end, inside = c.Dialect.recordEnd(scan.buffer[size:], inside); end >= 0 {
			scan.buffer = scan.buffer[:size+end]
			return true, nil
		}
	}
	scan.endLine()
	return true, nil
}

// addBlock adds the records of a block to the table.
func (c *Table) addBlock(start int64, block *recordBlock) (first int64, err error) {
	first = c.rows
	if len(block.data) == 0 {
		return first, nil
	}
	end := min(start+int64(len(block.data)), c.end)
	c.ragged.add(block.ragged, first)
	c.rows += int64(block.rows)
	c.blocks = append(c.blocks, blockRange{start: start, end: end, first: first, rows: block.rows})
	if int64(len(block.data)) > c.limits.field {
		if err := c.checkLengths(start, block); err != nil {
			return first, err
		}
	}
	if c.ragged.width > maxFields {
		offset, fields := block.firstWider(maxFields)
		return first, c.refuseAt("too-many-fields", start+offset, "the record has %d fields; the maximum is %d", fields, maxFields)
	}
	return first, c.checkRagged(start)
}

// checkLengths holds fields and records to their limits.
func (c *Table) checkLengths(start int64, block *recordBlock) error {
	maxField, maxRecord := uint32(c.limits.field), uint32(c.limits.record)
	field, record := uint32(0), uint32(0)
	for _, end := range block.ends {
		if end-field > maxField {
			return c.refuseAt("field-too-long", start+int64(field), "a field is longer than %d bytes, the maximum", maxField)
		}
		if end-record > maxRecord {
			return c.refuseAt("record-too-long", start+int64(record), "the record is longer than %d bytes, the maximum", maxRecord)
		}
		field = end + 1
		if block.data[end] == c.Dialect.Newline {
			record = field
		}
	}
	return nil
}

// checkRagged holds the records to the limits on fields that differ in number.
func (c *Table) checkRagged(start int64) error {
	switch {
	case c.ragged.missing > c.limits.missing+input.CellsOfByte*start:
		return c.refuseAt("too-few-fields", start, "most records before this one have too few fields for %d columns; %d fields are missing in total", c.columns, c.ragged.missing)
	case c.ragged.width > c.columns:
		return input.CheckCells(c.rows, c.ragged.width, c.limits.missing, start)
	}
	return nil
}

// refuseAt refuses the data for what stands at a byte of the text.
func (c *Table) refuseAt(problem string, offset int64, format string, args ...any) error {
	at, err := c.position(offset)
	if err != nil {
		return err
	}
	return input.Refuse(problem, "%s: %s", at, fmt.Sprintf(format, args...))
}
