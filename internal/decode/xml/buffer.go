package xml

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// buffer is the part of the document that is in memory. What is in the buffer is
// right already as far as single characters go: it is UTF-8, has only characters that
// XML allows, and every line ends with a line feed (XML 2.2 and 2.11).
type buffer struct {
	src io.Reader
	// block is how much is read at once at least.
	block int
	// buf has size bytes of the document, a < behind them where every search
	// ends, and zeros.
	buf  []byte
	size int
	// begun says that something was read, and ended that nothing more can be: the
	// document ends behind what is in the buffer, or ending says what is wrong there.
	begun, ended bool
	ending       error

	// base is how many bytes stand before the buffer, and returns are the places
	// in it before which a carriage return was taken out.
	base    int64
	returns []int
	// Returns says that there were any in the document so far.
	Returns bool
	// passed is how many of them are before the place that was asked for last, because places
	// are mostly asked for in their order.
	passed int
	// lines is how many lines end before the buffer, and lineStart where the
	// line begins that goes on in it.
	lines, lineStart int64

	// moves counts how often what is in the buffer moved.
	moves uint64
	// Trusted says that the data was read before and has no carriage returns, so that its
	// characters need not be looked at.
	Trusted bool

	// rest are bytes that were read, and cannot be judged without those that follow.
	rest    [utf8.UTFMax]byte
	resting int
}

// sentinel stands behind the data. It can stand nowhere in a tag, and ends text.
const sentinel = '<'

func (b *buffer) reset(src io.Reader) {
	*b = buffer{src: src, Trusted: b.Trusted, moves: b.moves + 1, block: cmp.Or(b.block, blockBytes), buf: b.buf, returns: b.returns[:0]}
	if b.buf == nil {
		b.buf = make([]byte, b.block+utf8.UTFMax+padding)
	}
	b.close(0)
}

// close puts the sentinel behind the data.
func (b *buffer) close(size int) {
	b.size = size
	b.buf[size] = sentinel
	clear(b.buf[size+1 : size+padding])
}

// offsetOf is where in the document a place in the buffer is.
func (b *buffer) offsetOf(at int) int64 {
	if len(b.returns) > 0 {
		at += b.returnsUpTo(at)
	}
	return b.base + int64(at)
}

// returnsUpTo is how many carriage returns were taken out up to a place.
func (b *buffer) returnsUpTo(at int) int {
	n := b.passed
	if n > 0 && b.returns[n-1] > at {
		n, _ = slices.BinarySearch(b.returns, at+1)
		return n
	}
	for n < len(b.returns) && b.returns[n] <= at {
		n++
	}
	b.passed = n
	return n
}

// fill drops what stands before keep and reads more, at least as much as is kept,
// so that what has to be looked at from its start again takes linear time. It
// reports whether more came; all places in the buffer are less by keep then.
func (b *buffer) fill(keep int) bool {
	if b.ended {
		return false
	}
	b.drop(keep)
	old := b.size
	for b.size == old && !b.ended {
		b.read(max(b.block, b.size))
	}
	return true
}

// drop forgets what stands before keep.
func (b *buffer) drop(keep int) {
	if keep == 0 {
		return
	}
	gone := b.buf[:keep]
	if lines := bytes.Count(gone, []byte{'\n'}); lines > 0 {
		b.lines += int64(lines)
		b.lineStart = b.offsetOf(bytes.LastIndexByte(gone, '\n') + 1)
	}
	n := b.returnsUpTo(keep)
	b.base += int64(keep + n)
	b.returns, b.passed = append(b.returns[:0], b.returns[n:]...), 0
	for i := range b.returns {
		b.returns[i] -= keep
	}
	b.moves++
	copy(b.buf, b.buf[keep:b.size])
	b.close(b.size - keep)
}

// read reads up to so many bytes behind what is there.
func (b *buffer) read(want int) {
	start := b.size
	if need := start + b.resting + want + padding; len(b.buf) < need {
		grown := make([]byte, need)
		copy(grown, b.buf[:start])
		b.buf = grown
	}
	copy(b.buf[start:], b.rest[:b.resting])
	end := start + b.resting
	n, err := io.ReadFull(b.src, b.buf[end:end+want])
	fresh := b.buf[start : end+n]
	if err != nil {
		b.ended = true
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			b.ending = fmt.Errorf("read XML: %w", err)
		}
	}
	if !b.begun {
		if len(fresh) < len(utf8Mark) && !b.ended {
			b.resting = copy(b.rest[:], fresh)
			return
		}
		b.begun = true
		if bytes.HasPrefix(fresh, utf8Mark) {
			b.base, b.lineStart = int64(len(utf8Mark)), int64(len(utf8Mark))
			fresh = fresh[:copy(fresh, fresh[len(utf8Mark):])]
		}
	}
	b.accept(fresh)
}

// accept makes the bytes behind the data part of it, as far as they are right.
func (b *buffer) accept(fresh []byte) {
	whole := len(fresh)
	if !b.ended {
		whole -= unsettled(fresh)
	}
	b.resting = copy(b.rest[:], fresh[whole:])
	fresh = fresh[:whole]
	if b.Trusted {
		b.close(b.size + whole)
		return
	}
	start := b.size
	returns, bad := checkCharacters(fresh)
	if bad >= 0 {
		fresh = fresh[:bad]
	}
	b.Returns = b.Returns || returns
	size := start + len(fresh)
	if returns {
		size = b.endLines(start, size)
	}
	if bad >= 0 {
		detail := illegalCharacter(b.buf[start+bad : start+whole])
		b.close(size)
		b.ended, b.ending = true, b.faultAt(size, detail)
		return
	}
	b.close(size)
}

// unsettled is how many bytes at the end of a part cannot be judged without what
// follows: the beginning of a character, or a carriage return.
func unsettled(p []byte) int {
	if len(p) > 0 && p[len(p)-1] == '\r' {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if utf8.RuneStart(p[len(p)-n]) {
			if utf8.FullRune(p[len(p)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// endLines makes every line of a part of the buffer end with a line feed, and
// returns where the part ends then.
func (b *buffer) endLines(start, end int) int {
	buf := b.buf
	to := start
	for from := start; from < end; {
		n := bytes.IndexByte(buf[from:end], '\r')
		if n < 0 {
			n = end - from
		}
		if to != from {
			copy(buf[to:], buf[from:from+n])
		}
		from, to = from+n, to+n
		if from == end {
			break
		}
		if from+1 < end && buf[from+1] == '\n' {
			b.returns = append(b.returns, to)
			from++
		}
		buf[to] = '\n'
		from, to = from+1, to+1
	}
	return to
}
