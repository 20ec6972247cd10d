package json

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/feedmill/feedmill/internal/decode/jsonpath"
)

// documentBlocks are the blocks of one document whose records are where the
// steps lead.
type documentBlocks struct {
	*walker
	steps []jsonpath.Step
	// mayFollow says that several objects may follow each other.
	mayFollow bool
	// match has for each open array and object how many steps lead to it, or
	// -1, and seen where the member stands that its step by name selected last.
	match []int
	seen  []int64
	// superseded are the values, by their offsets, whose name stands in the
	// object again. They are no records.
	superseded map[int64]bool

	records []textRange
	// locating says that nothing is wanted but superseded.
	locating bool
	// looking is told the name and the first byte of what would be a record; where it
	// returns false nothing more is looked at.
	looking func(name []byte, first byte) bool
	// hoping says that superseded is not known, and that the document is one
	// block: where a name stands in its object again, all is begun anew.
	hoping, repeated bool
	// strayed says that something else has come since the last record, and
	// scattered that it was so between two records.
	strayed, scattered bool
	ended              bool
}

func newDocumentBlocks(in source, steps []jsonpath.Step, sequence bool, superseded map[int64]bool) *documentBlocks {
	b := &documentBlocks{walker: newWalker(in), steps: steps, mayFollow: sequence, superseded: superseded}
	b.sequence = sequence
	return b
}

// locateSuperseded goes through a document for values on the way to the
// records whose name stands in its object again: only the last one counts.
func locateSuperseded(ctx context.Context, in source, steps []jsonpath.Step) (map[int64]bool, error) {
	found := make(map[int64]bool)
	b := newDocumentBlocks(in, steps, true, found)
	b.locating, b.interrupted = true, ctx.Err
	_, err := b.claim(&block{})
	if fault, ok := errors.AsType[*dataFault](err); ok {
		err = firstFault(ctx, in, fault)
	}
	return found, err
}

func (b *documentBlocks) load(*block) error { return nil }

func (b *documentBlocks) claim(block *block) (bool, error) {
	if b.ended {
		return false, b.failed()
	}
	if cap(b.data) < cap(block.data) && b.size == 0 {
		// The memory of a page before this one is enough for most.
		b.data, block.data = block.data[:textPadding], nil
		clear(b.data)
	}
	b.records = block.records[:0]
	b.strayed, b.scattered = false, false
	block.mark = b.mark()
	for {
		event := b.next()
		if event == walkValue && !b.visit() {
			event = walkFault
		}
		if b.repeated {
			return b.claimKnowing(block)
		}
		if event == walkClose {
			b.strayed = true
			b.match, b.seen = b.match[:len(b.match)-1], b.seen[:len(b.seen)-1]
		}
		if event == walkFault || event == walkEnd {
			b.ended = true
		}
		if b.ended || event == walkFull {
			break
		}
	}
	if len(b.records) == 0 {
		return false, b.failed()
	}
	b.cut(block)
	return true, nil
}

// claimKnowing begins anew, knowing what is superseded.
func (b *documentBlocks) claimKnowing(block *block) (bool, error) {
	found, err := locateSuperseded(context.Background(), b.source, b.steps)
	if err != nil {
		return false, err
	}
	maps.Copy(b.superseded, found)
	*b = *newDocumentBlocks(b.source, b.steps, b.mayFollow, b.superseded)
	return b.claim(block)
}

// mark is where the walk is.
func (b *documentBlocks) mark() blockMark {
	return blockMark{
		offset: b.base + int64(b.i), begun: b.begun, phase: b.phase, name: slices.Clone(b.name),
		frames: slices.Clone(b.frames), match: slices.Clone(b.match),
	}
}

func (b *documentBlocks) seek(mark blockMark) {
	if b.begun && b.base+int64(b.i) == mark.offset {
		return
	}
	b.base, b.size, b.i = mark.offset, 0, 0
	clear(b.data[:textPadding])
	b.begun, b.ended, b.pinned = mark.begun, false, false
	b.phase, b.name = mark.phase, append(b.name[:0], mark.name...)
	b.frames, b.match = append(b.frames[:0], mark.frames...), append(b.match[:0], mark.match...)
	b.seen = slices.Grow(b.seen[:0], len(b.match))[:len(b.match)]
}

// failed is why the walk ended, where it was not the end of the document.
func (b *documentBlocks) failed() error {
	switch {
	case b.err != nil:
		return b.err
	case b.fault != nil:
		return b.fault
	}
	return nil
}

// cut gives the data up to here to the block and goes on in the block's memory.
func (b *documentBlocks) cut(block *block) {
	rest := append(block.data[:0], b.data[b.i:b.size]...)
	padding := [textPadding]byte{}
	rest = append(rest, padding[:]...)
	// What follows the last record stays visible, for it can be what is wrong
	// with it.
	size := min(b.i+1, b.size)
	clear(b.data[size : size+textPadding])
	block.data, block.size, block.base = b.data[:size+textPadding], size, b.base
	block.records, b.records = b.records, nil
	block.scattered = b.scattered
	b.base += int64(b.i)
	b.data, b.size, b.i = rest, len(rest)-textPadding, 0
	b.pinned, b.full = false, false
}

// visit deals with the value that comes.
func (b *documentBlocks) visit() bool {
	matched := b.matched()
	switch {
	case b.fault != nil:
		return false
	case matched == len(b.steps) && b.looking != nil && !b.looking(b.name, b.data[b.i]):
		return false
	case matched == len(b.steps) && (b.locating || b.looking != nil):
		_, ok := b.skip(0)
		return ok
	case matched == len(b.steps):
		start, ok := b.skip(b.limits.record)
		if ok {
			if len(b.records) == 0 {
				b.pinned, b.pinnedLimit = true, start+b.blockBytes
			}
			if top := len(b.frames) - 1; top < 0 || b.frames[top].object || b.strayed && len(b.records) > 0 {
				b.scattered = true
			}
			b.strayed = false
			b.records = append(b.records, textRange{start, b.i})
		}
		return ok
	case !b.container():
		b.strayed = true
		return b.scalar()
	}
	b.strayed = true
	b.match, b.seen = append(b.match, matched), append(b.seen, -1)
	return b.enter()
}

// matched is how many steps lead to the value that comes, or -1.
func (b *documentBlocks) matched() int {
	top := len(b.frames) - 1
	if top < 0 {
		return 0
	}
	taken := b.match[top]
	if taken < 0 {
		return -1
	}
	step := &b.steps[taken]
	offset := b.base + int64(b.i)
	if !b.frames[top].object {
		if !step.Element(b.frames[top].count - 1) {
			return -1
		}
		return taken + 1
	}
	if !step.Member(b.name) {
		return -1
	}
	if _, named := step.Name(); named && b.hoping {
		b.repeated = b.repeated || b.seen[top] >= 0
		b.seen[top] = offset
	} else if named && b.locating {
		b.see(top, offset)
	} else if b.superseded[offset] {
		return -1
	}
	return taken + 1
}

// see notes where a member stands that a step selects by its name.
func (b *documentBlocks) see(top int, offset int64) {
	if before := b.seen[top]; before >= 0 {
		if len(b.superseded) == maxSuperseded {
			b.fail(b.i, "the key %.100q on the path to the records is repeated more than %d times", b.name, maxSuperseded)
		}
		b.superseded[before] = true
	}
	b.seen[top] = offset
}
