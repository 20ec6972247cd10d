package json

import (
	"encoding/binary"
	"math/bits"
)

// skip passes over the value that begins here, looking only for its end. With
// a limit it fails for a value that is longer; without, the value is dropped
// as it is passed. The start of the value is returned; it ends at i, or where
// the document does.
func (w *walker) skip(limit int) (start int, ok bool) {
	start = w.i
	var s skipper
	for !s.skip(w.data, w.size, &w.i) {
		if w.complete() {
			w.i = w.size
			return start, true
		}
		if limit > 0 && w.size-start > limit {
			return 0, w.failLong(start, limit)
		}
		keep := w.i
		if limit > 0 {
			keep = start
		}
		shift, ok := w.fill(keep, w.readBytes)
		if !ok {
			return 0, false
		}
		start -= shift
	}
	if limit > 0 && w.i-start > limit {
		return 0, w.failLong(start, limit)
	}
	return start, true
}

func (w *walker) failLong(start, limit int) bool {
	w.fail(start, "the record is longer than %d bytes, the maximum; set path to select smaller records", limit)
	return false
}

// skipper finds the end of a value by its brackets and quotes alone.
type skipper struct {
	depth          int
	quoted, scalar bool
}

const (
	skipQuote = 1 + iota
	skipOpen
	skipClose
)

var skipClass = [256]uint8{'"': skipQuote, '{': skipOpen, '[': skipOpen, '}': skipClose, ']': skipClose}

// skip goes on from i in data of the given size and moves i. It reports
// whether the value has ended there; where not, it wants more data.
func (s *skipper) skip(data []byte, size int, i *int) bool {
	at := *i
	if !s.quoted && s.depth == 0 && skipClass[data[at]] != skipQuote && skipClass[data[at]] != skipOpen {
		s.scalar = true
	}
	if s.scalar {
		for at < size && !endsScalar(data[at]) {
			at++
		}
		*i = at
		return at < size
	}
	for at < size {
		var ended bool
		if at, ended = s.blocks(data, size, at); ended {
			*i = at
			return true
		}
		if at == size {
			break
		}
		if s.quoted {
			if at = closingQuote(data, size, at); at < size && data[at] == '"' {
				at++
				s.quoted = false
				if s.depth == 0 {
					*i = at
					return true
				}
				continue
			}
			break
		}
		switch skipClass[data[at]] {
		case skipQuote:
			s.quoted = true
		case skipOpen:
			s.depth++
		case skipClose:
			if s.depth--; s.depth == 0 {
				*i = at + 1
				return true
			}
		}
		at++
	}
	*i = at
	return false
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// closingQuote is where the string ends that goes on at i: at a quote, at the
// end of the data, or at a backslash before it whose escape is not all there.
func closingQuote(data []byte, size, i int) int {
	for i < size {
		x := binary.LittleEndian.Uint64(data[i:])
		quote := x ^ '"'*everyByte
		slash := x ^ '\\'*everyByte
		stops := ((quote-everyByte)&^quote | (slash-everyByte)&^slash) & highBits
		if stops == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(stops) >> 3
		if i >= size || data[i] == '"' || i+1 >= size {
			break
		}
		i += 2
	}
	return min(i, size)
}
