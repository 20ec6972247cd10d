// Package jstext writes JSON exactly as JavaScript serializes it. A receiver that parses a
// payload and serializes it again gets the same bytes, so its signature still verifies.
//
// It is a leaf package: any package can import it, and it imports no other package of
// this module.
package jstext

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// MaxDepth is the maximum nesting depth of arrays and objects.
const MaxDepth = 64

// Error reports why a text is not one valid JSON value. It contains no value of the text.
type Error struct {
	// Pointer is the JSON Pointer of the faulty value, or of the array or object around
	// the fault.
	Pointer string
	// Offset is the byte offset of the fault.
	Offset int
	// Detail describes the fault.
	Detail string
}

func (e *Error) Error() string {
	return fmt.Sprintf("JSON byte %d, at %q: %s", e.Offset, e.Pointer, e.Detail)
}

// within prepends a token to the pointer of e.
func (e *Error) within(token string) *Error {
	e.Pointer = "/" + pointerEscapes.Replace(token) + e.Pointer
	return e
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Append appends the JSON value src to dst as JavaScript serializes it: without white
// space, with strings escaped as by JSON.stringify, with the keys that are array indices
// first and in ascending order, and with numbers as JavaScript prints them. For the result
// t, JSON.stringify(JSON.parse(t)) === t.
//
// Numbers that JavaScript would print as another decimal value are kept as written. A text
// with such a number does not survive the round trip.
//
// src must be strict JSON (RFC 8259) in UTF-8, without lone surrogates and duplicate keys,
// and at most [MaxDepth] deep. Otherwise Append returns an [*Error] and dst unchanged. src
// must not overlap the spare capacity of dst.
func Append(dst, src []byte) ([]byte, error) {
	s := scanners.Get().(*scanner)
	defer s.release()
	s.src = src
	text, fault := s.value(slices.Grow(dst, len(src)), 0)
	if fault == nil {
		if s.next(); s.pos < len(src) {
			fault = s.fault("unexpected text after the value")
		}
	}
	if fault != nil {
		return dst, fault
	}
	return text, nil
}

// scanner reads src once, from start to end. Its methods append what they read to dst in
// its final form and move pos past it.
type scanner struct {
	src []byte
	pos int
	// members lists the members of all open objects, those of the innermost object last.
	members []member
	// moved is a buffer for the members of an object while they are reordered.
	moved []byte
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// release returns the scanner to the pool, unless its buffers are unusually large.
func (s *scanner) release() {
	*s = scanner{members: s.members[:0], moved: s.moved[:0]}
	if cap(s.members) <= 1<<10 && cap(s.moved) <= 1<<16 {
		scanners.Put(s)
	}
}

// member is a member of an object, by its offsets in the source and in the output. Two keys
// are equal exactly if their output is, so output is compared.
type member struct {
	at              int // offset of the key in the source
	key, value, end int // offsets of the key, of the colon, and of the comma or brace after the value in the output
	index           uint32
}

// notIndex is the smallest integer that is not an array index. It represents all other
// keys, which sort after array indices.
const notIndex = math.MaxUint32

func (s *scanner) fault(detail string) *Error {
	if s.pos == len(s.src) {
		detail = "the text is truncated"
	}
	return &Error{Offset: s.pos, Detail: detail}
}

// next skips white space and returns the next byte, or 0 at the end.
func (s *scanner) next() byte {
	for ; s.pos < len(s.src); s.pos++ {
		if c := s.src[s.pos]; c > ' ' || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

func (s *scanner) value(dst []byte, depth int) ([]byte, *Error) {
	switch s.next() {
	case '"':
		return s.text(dst)
	case '{', '[':
		if depth == MaxDepth {
			return nil, s.fault("arrays and objects are nested more than " + strconv.Itoa(MaxDepth) + " levels deep")
		}
		if s.src[s.pos] == '{' {
			return s.object(dst, depth+1)
		}
		return s.array(dst, depth+1)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.number(dst)
	case 't':
		return s.literal(dst, "true")
	case 'f':
		return s.literal(dst, "false")
	case 'n':
		return s.literal(dst, "null")
	}
	return nil, s.fault("expected a value")
}

func (s *scanner) literal(dst []byte, word string) ([]byte, *Error) {
	if !bytes.HasPrefix(s.src[s.pos:], []byte(word)) {
		return nil, s.fault("expected a value")
	}
	s.pos += len(word)
	return append(dst, word...), nil
}

func (s *scanner) array(dst []byte, depth int) ([]byte, *Error) {
	s.pos++
	dst = append(dst, '[')
	if s.next() == ']' {
		s.pos++
		return append(dst, ']'), nil
	}
	for i := 0; ; i++ {
		var fault *Error
		if dst, fault = s.value(dst, depth); fault != nil {
			return nil, fault.within(strconv.Itoa(i))
		}
		c := s.next()
		if c != ',' && c != ']' {
			return nil, s.fault("expected a comma or the end of the array")
		}
		s.pos++
		dst = append(dst, c)
		if c == ']' {
			return dst, nil
		}
	}
}

func (s *scanner) object(dst []byte, depth int) ([]byte, *Error) {
	s.pos++
	dst = append(dst, '{')
	if s.next() == '}' {
		s.pos++
		return append(dst, '}'), nil
	}
	first := len(s.members)
	for ordered, last := true, uint32(0); ; {
		if s.next() != '"' {
			return nil, s.fault("expected a key")
		}
		m := member{at: s.pos, key: len(dst)}
		var fault *Error
		if dst, fault = s.text(dst); fault != nil {
			return nil, fault
		}
		m.value = len(dst)
		m.index = arrayIndex(dst[m.key+1 : m.value-1])
		ordered, last = ordered && m.index >= last, m.index
		if s.next() != ':' {
			return nil, s.fault("expected a colon")
		}
		s.pos++
		dst = append(dst, ':')
		s.members = append(s.members, m)
		here := len(s.members) - 1
		if dst, fault = s.value(dst, depth); fault != nil {
			return nil, fault.within(s.keyAt(m.at))
		}
		s.members[here].end = len(dst)
		c := s.next()
		if c != ',' && c != '}' {
			return nil, s.fault("expected a comma or the end of the object")
		}
		s.pos++
		dst = append(dst, c)
		if c == ',' {
			continue
		}
		members := s.members[first:]
		if at := duplicateKey(dst, members); at >= 0 {
			s.pos = at
			return nil, s.fault("duplicate key in the object").within(s.keyAt(at))
		}
		if !ordered {
			s.reorder(dst, members)
		}
		s.members = s.members[:first]
		return dst, nil
	}
}

// keyAt returns the key at an offset of the source.
func (s *scanner) keyAt(at int) string {
	again := scanner{src: s.src, pos: at}
	written, _ := again.text(nil)
	// Every escape of JSON.stringify is also an escape in Go.
	key, _ := strconv.Unquote(string(written))
	return key
}

// arrayIndex returns the value of a key that is an array index in ECMAScript: the canonical
// decimal text of an integer below 2^32-1. It returns notIndex for other keys.
func arrayIndex(key []byte) uint32 {
	if len(key) == 0 || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return notIndex
	}
	var n uint64
	for _, c := range key {
		if c < '0' || c > '9' {
			return notIndex
		}
		n = n*10 + uint64(c-'0')
	}
	return uint32(min(n, notIndex))
}

// duplicateKey returns the source offset of the first key that repeats an earlier one, or
// -1. It can change the order of members.
func duplicateKey(text []byte, members []member) int {
	if len(members) <= 24 {
		for i := range members {
			a := &members[i]
			key := text[a.key:a.value]
			for j := range members[:i] {
				if b := &members[j]; len(key) == b.value-b.key && bytes.Equal(key, text[b.key:b.value]) {
					return a.at
				}
			}
		}
		return -1
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(bytes.Compare(text[a.key:a.value], text[b.key:b.value]), cmp.Compare(a.at, b.at))
	})
	at := -1
	for i, b := range members[1:] {
		a := members[i]
		if bytes.Equal(text[a.key:a.value], text[b.key:b.value]) && (at < 0 || b.at < at) {
			at = b.at
		}
	}
	return at
}

// reorder sorts the members of the object at the end of text into JavaScript's order.
func (s *scanner) reorder(text []byte, members []member) {
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.at, b.at))
	})
	s.moved = s.moved[:0]
	for _, m := range members {
		s.moved = append(append(s.moved, text[m.key:m.end]...), ',')
	}
	copy(text[len(text)-len(s.moved):], s.moved[:len(s.moved)-1])
}
