package xml

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// input is the part of the document that is in memory. What is in the buffer is
// right already as far as single characters go: it is UTF-8, has only characters that
// XML allows, and every line ends with a line feed (XML 2.2 and 2.11).
type input struct {
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
	// lines is how many lines end before the buffer, and lineStart where the
	// line begins that goes on in it.
	lines, lineStart int64

	// rest are bytes that were read, and cannot be judged without those that follow.
	rest    [utf8.UTFMax]byte
	resting int
}

// sentinel stands behind the data. It can stand nowhere in a tag, and ends text.
const sentinel = '<'

func (in *input) reset(src io.Reader) {
	*in = input{src: src, block: cmp.Or(in.block, blockBytes), buf: in.buf, returns: in.returns[:0]}
	if in.buf == nil {
		in.buf = make([]byte, in.block+utf8.UTFMax+padding)
	}
	in.close(0)
}

// close puts the sentinel behind the data.
func (in *input) close(size int) {
	in.size = size
	in.buf[size] = sentinel
	clear(in.buf[size+1 : size+padding])
}

// offsetOf is where in the document a place in the buffer is.
func (in *input) offsetOf(at int) int64 {
	if len(in.returns) > 0 {
		at += in.returnsUpTo(at)
	}
	return in.base + int64(at)
}

// returnsUpTo is how many carriage returns were taken out up to a place.
func (in *input) returnsUpTo(at int) int {
	n, _ := slices.BinarySearch(in.returns, at+1)
	return n
}

// fill drops what stands before keep and reads more, at least as much as is kept,
// so that what has to be looked at from its start again takes linear time. It
// reports whether more came; all places in the buffer are less by keep then.
func (in *input) fill(keep int) bool {
	if in.ended {
		return false
	}
	in.drop(keep)
	old := in.size
	for in.size == old && !in.ended {
		in.read(max(in.block, in.size))
	}
	return true
}

// drop forgets what stands before keep.
func (in *input) drop(keep int) {
	if keep == 0 {
		return
	}
	gone := in.buf[:keep]
	if lines := bytes.Count(gone, []byte{'\n'}); lines > 0 {
		in.lines += int64(lines)
		in.lineStart = in.offsetOf(bytes.LastIndexByte(gone, '\n') + 1)
	}
	n := in.returnsUpTo(keep)
	in.base += int64(keep + n)
	in.returns = append(in.returns[:0], in.returns[n:]...)
	for i := range in.returns {
		in.returns[i] -= keep
	}
	copy(in.buf, in.buf[keep:in.size])
	in.close(in.size - keep)
}

// read reads up to so many bytes behind what is there.
func (in *input) read(want int) {
	start := in.size
	if need := start + in.resting + want + padding; len(in.buf) < need {
		grown := make([]byte, need)
		copy(grown, in.buf[:start])
		in.buf = grown
	}
	copy(in.buf[start:], in.rest[:in.resting])
	end := start + in.resting
	n, err := io.ReadFull(in.src, in.buf[end:end+want])
	fresh := in.buf[start : end+n]
	if err != nil {
		in.ended = true
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			in.ending = fmt.Errorf("read XML: %w", err)
		}
	}
	if !in.begun {
		if len(fresh) < len(utf8Mark) && !in.ended {
			in.resting = copy(in.rest[:], fresh)
			return
		}
		in.begun = true
		if bytes.HasPrefix(fresh, utf8Mark) {
			in.base, in.lineStart = int64(len(utf8Mark)), int64(len(utf8Mark))
			fresh = fresh[:copy(fresh, fresh[len(utf8Mark):])]
		}
	}
	in.take(fresh)
}

// take makes the bytes behind the data part of it, as far as they are right.
func (in *input) take(fresh []byte) {
	whole := len(fresh)
	if !in.ended {
		whole -= unsettled(fresh)
	}
	in.resting = copy(in.rest[:], fresh[whole:])
	fresh = fresh[:whole]
	start, returns, bad := in.size, true, -1
	if returns, bad = checkCharacters(fresh); bad >= 0 {
		fresh = fresh[:bad]
	}
	size := start + len(fresh)
	if returns {
		size = in.endLines(start, size)
	}
	if bad >= 0 {
		detail := illegalCharacter(in.buf[start+bad : start+whole])
		in.close(size)
		in.ended, in.ending = true, in.faultAt(size, detail)
		return
	}
	in.close(size)
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
func (in *input) endLines(start, end int) int {
	buf := in.buf
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
			in.returns = append(in.returns, to)
			from++
		}
		buf[to] = '\n'
		from, to = from+1, to+1
	}
	return to
}
