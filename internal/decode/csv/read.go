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

// blockRange is a part of the text that begins and ends where a record does.
type blockRange struct {
	start, end int64
	first      int64 // number of the first record
	rows       int
	// tolerant says that it must be read by [tolerant], which knows at its
	// start that no quoted field ends before unclosed.
	tolerant bool
	unclosed int64
}

// Each gives all records to fn in runs, from as many goroutines as there are
// workers; fn must not keep a run. The runs come in any order, and two
// readings may cut them differently, but a record has the same number and the same
// cells each time.
func (c *Table) Each(ctx context.Context, workers int, fn func(*columnar.Cells) error) error {
	switch {
	case c.whole:
	case c.arriving != nil:
		return c.readArriving(ctx, workers, fn)
	default:
		return c.readFirst(ctx, workers, fn)
	}
	return input.EachBlock(ctx, workers, len(c.blocks), func(ctx context.Context, block int) error {
		return c.Read(ctx, block, block+1, fn)
	})
}

// Blocks is how many parts the records can be read in, each of about half a megabyte,
// once the first reading has come to its end.
func (c *Table) Blocks() int { return len(c.blocks) }

// Read gives the records of the blocks [from, to) to fn, in order. Several
// goroutines may call it.
func (c *Table) Read(ctx context.Context, from, to int, fn func(*columnar.Cells) error) error {
	scan := c.scanner()
	defer scanners.Put(scan)
	for _, block := range c.blocks[from:to] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if block.tolerant {
			if err := c.readTolerant(block, scan, fn); err != nil {
				return err
			}
			continue
		}
		if err := scan.load(c.text, block.start, block.end); err != nil {
			return err
		}
		if !scan.scan() || scan.block.rows != block.rows {
			return fmt.Errorf("%w, at byte %d", input.ErrChanged, block.start)
		}
		if err := scan.block.emit(block.first, c.width(), fn); err != nil {
			return err
		}
	}
	return nil
}

// longText is from how many bytes on scanning them is work that takes long.
const longText = 64 << 10

// scanner is the memory of one goroutine that scans.
type scanner struct {
	buffer []byte
	// records is the part of buffer that is scanned.
	records []byte
	block   recordBlock
	cells   columnar.Cells
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

func (c *Table) scanner() *scanner {
	s := scanners.Get().(*scanner)
	s.block.dialect, s.block.columns, s.block.header = c.Dialect, c.columns, c.header
	return s
}

// load reads a part of the text and ends it with a line end.
func (s *scanner) load(text *input.Text, start, end int64) error {
	size := int(end - start)
	if cap(s.buffer) < size+1 {
		s.buffer = make([]byte, size+1, max(size+1, input.ChunkSize+input.ChunkSize/8))
	}
	s.buffer = s.buffer[:size]
	if err := input.ReadFull(text, s.buffer, start); err != nil {
		return fmt.Errorf("read the table: %w", err)
	}
	s.endLine()
	s.records = s.buffer
	return nil
}

// scan finds the records of what was loaded.
func (s *scanner) scan() bool {
	var long share.Long
	defer long.End()
	if len(s.records) >= longText {
		long.Step()
	}
	return s.block.scan(s.records)
}

func (s *scanner) endLine() {
	newline := s.block.dialect.Newline
	if len(s.buffer) > 0 && s.buffer[len(s.buffer)-1] != newline {
		s.buffer = append(s.buffer, newline)
	}
}

// recordEnd finds the first line end outside of quotes and is the place behind
// it; -1 where there is none. Inside says whether data begins inside quotes, and
// the result whether it ends there.
func (d Dialect) recordEnd(data []byte, inside bool) (end int, insideAfter bool) {
	for pos := 0; ; {
		if inside {
			quote := bytes.IndexByte(data[pos:], d.Quote)
			if quote < 0 {
				return -1, true
			}
			pos += quote + 1
			inside = false
		}
		newline := bytes.IndexByte(data[pos:], d.Newline)
		ahead := data[pos:]
		if newline >= 0 {
			ahead = ahead[:newline]
		}
		quote := -1
		if d.Quote != 0 {
			quote = bytes.IndexByte(ahead, d.Quote)
		}
		if quote < 0 {
			if newline < 0 {
				return -1, false
			}
			return pos + newline + 1, false
		}
		pos += quote + 1
		inside = true
	}
}
