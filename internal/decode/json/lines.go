package json

import (
	"bytes"
	"context"
	"fmt"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// OpenLines reads data with one JSON value in each line, which is a record, or
// where there is a path the value that it is applied to. Blank lines are
// passed over. UTF-16 is written again as UTF-8.
func OpenLines(ctx context.Context, src input.Source, options Options) (*Table, error) {
	return open(options, func(j *Table) error {
		j.lines = true
		return j.read(ctx, src)
	})
}

// lineBlocks are the blocks of NDJSON. Because no JSON value has a line end
// inside a line, a block is the lines that begin in a fixed range of the data,
// and goroutines find theirs without each other.
type lineBlocks struct {
	source
	next int
	// large is called before much is held.
	large func() error
}

func (b *lineBlocks) seek(mark blockMark) { b.next = mark.number }

func (b *lineBlocks) claim(block *block) (bool, error) {
	from := b.start + int64(b.next)*int64(b.blockBytes)
	if size, err := input.AwaitSize(b.src, from+1); err != nil || from >= size {
		return false, err
	}
	block.mark = blockMark{number: b.next}
	b.next++
	return true, nil
}

// load reads the lines that begin in the range of the block.
func (b *lineBlocks) load(block *block) error {
	from := b.start + int64(block.mark.number)*int64(b.blockBytes)
	size, err := input.AwaitSize(b.src, from+int64(b.blockBytes))
	if err != nil {
		return err
	}
	to := min(from+int64(b.blockBytes), size)
	// A line begins at the start of the range if a line end stands before it.
	behind := int64(1)
	if block.mark.number == 0 {
		behind = 0
	}
	block.base = from - behind
	data, err := readMore(b.src, block.data[:0], block.base, to)
	if err != nil {
		return err
	}
	first := 0
	if behind > 0 {
		if first = bytes.IndexByte(data, '\n') + 1; first == 0 {
			first = len(data)
		}
	}
	end := len(data)
	if first < end {
		if data, end, err = b.finishLine(data, block.base, first); err != nil {
			return err
		}
	}
	end = max(end, first)
	data = append(data[:end], make([]byte, textPadding)...)
	// What stands before the first line is not looked at.
	for i := range first {
		data[i] = ' '
	}
	block.data, block.size, block.records = data, end, nil
	return nil
}

// finishLine reads on until the last line has ended, and returns where.
func (b *lineBlocks) finishLine(data []byte, base int64, first int) ([]byte, int, error) {
	looked := len(data) - 1
	for {
		end := looked
		line := bytes.IndexByte(data[looked:], '\n')
		if looked = len(data); line >= 0 {
			looked = end + line
		}
		if looked-first > b.limits.record {
			if start := max(bytes.LastIndexByte(data[:looked], '\n')+1, first); looked-start > b.limits.record {
				return nil, 0, &dataFault{base + int64(start), fmt.Sprintf("the line is longer than %d bytes, the maximum", b.limits.record)}
			}
		}
		if line >= 0 {
			return data, looked + 1, nil
		}
		at := base + int64(looked)
		size, err := input.AwaitSize(b.src, at+1)
		if err != nil || at == size {
			return data, looked, err
		}
		if looked > input.LargeBytes {
			if err := b.large(); err != nil {
				return nil, 0, err
			}
		}
		more := int64(max(b.readBytes, min(looked/2, maxReadOn)))
		if data, err = readMore(b.src, data, at, min(at+more, size)); err != nil {
			return nil, 0, err
		}
	}
}

// readMore appends the bytes of src from one offset to another.
func readMore(src input.Source, data []byte, from, to int64) ([]byte, error) {
	size, more := len(data), int(to-from)
	if need := size + more + textPadding; cap(data) < need {
		grown := make([]byte, size, need+need/4)
		copy(grown, data)
		data = grown
	}
	data = data[:size+more]
	if err := input.ReadFull(src, data[size:], from); err != nil {
		return nil, fmt.Errorf("read NDJSON: %w", err)
	}
	return data, nil
}

// readLines reads a record from each line that is not blank.
func (r *recordReader) readLines() bool {
	for i := 0; ; {
		if i = r.space(i); i >= r.size {
			return true
		}
		r.newline = false
		end := r.record(i)
		if end < 0 || r.newline {
			return r.failLine()
		}
		if i = r.space(end); i < r.size && !r.newline {
			r.fail(i, "expected the end of the line after the value, found %s; write one value per line", r.found(i))
			return false
		}
	}
}

// failLine finds the fault of a line whose value is not right or goes on in
// the next.
func (r *recordReader) failLine() bool {
	if r.failure == nil && r.newline {
		r.fail(r.newlineAt, "the line ends inside the value; write one value per line, or set format=json if values span lines")
	}
	return false
}

// selectLines copies what the path selects in each line of the block.
func (r *recordReader) selectLines() bool {
	out := &r.selected
	out.data, out.records, out.origins = out.data[:0], out.records[:0], out.origins[:0]
	if out.records == nil {
		out.records = []textRange{}
	}
	for i := 0; ; {
		if i = r.space(i); i >= r.size {
			break
		}
		r.newline = false
		r.tree.Reset()
		end := r.lexer.tree(&r.tree, i, 0)
		if end < 0 || r.newline {
			return r.failLine()
		}
		nodes, err := r.table.path.Select(r.work, &r.tree)
		if err != nil {
			r.failPath(i, err)
			return false
		}
		for _, node := range nodes {
			start, stop := r.tree.Range(node)
			if len(out.data)+stop-start > r.table.limits.tree {
				r.fail(i, "the path selects more than %d bytes here, the maximum", r.table.limits.tree)
				return false
			}
			out.add(r.data[start:stop], r.base+int64(start))
		}
		if i = r.space(end); i < r.size && !r.newline {
			r.fail(i, "expected the end of the line after the value, found %s; write one value per line", r.found(i))
			return false
		}
	}
	out.seal()
	return true
}
