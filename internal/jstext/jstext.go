// Package jstext writes JSON in the one text that JavaScript gives back for it,
// so that a receiver who parses and serialises a payload still has its bytes.
//
// It is a leaf. Every package may import it, and it imports nothing of ours.
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

// MaxDepth is how many arrays and objects of a JSON text may be open at once.
const MaxDepth = 64

// Error is the refusal of a text that is not one JSON value. It repeats no
// value of the text.
type Error struct {
	// Pointer is the JSON Pointer of the value at fault, or of the array or
	// object that the fault lies between the values of.
	Pointer string
	// Offset is how many bytes stand before the fault.
	Offset int
	// Detail says what is wrong.
	Detail string
}

func (e *Error) Error() string {
	return fmt.Sprintf("JSON byte %d, at %q: %s", e.Offset, e.Pointer, e.Detail)
}

// within moves a fault one level up, out of the value that token names.
func (e *Error) within(token string) *Error {
	e.Pointer = "/" + pointerEscapes.Replace(token) + e.Pointer
	return e
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Append appends the JSON value src to dst in the one text that
// JavaScript gives back for it: no white space, strings escaped as
// JSON.stringify escapes them, array indices first among the keys of an object
// and in ascending order, numbers as JavaScript prints them. For the result t,
// JSON.stringify(JSON.parse(t)) === t.
//
// The one exception are numbers that JavaScript cannot hold, those whose print
// there denotes another decimal value: they stay as they are written, and with
// them the law does not hold for the text.
//
// src must be strict JSON (RFC 8259) in UTF-8, without lone surrogates, without
// duplicate keys and at most [MaxDepth] deep; all else is a [*Error],
// and dst comes back as it was. src must not lie in the spare capacity of dst.
func Append(dst, src []byte) ([]byte, error) {
	s := scanners.Get().(*scanner)
	defer s.release()
	s.src = src
	text, fault := s.value(slices.Grow(dst, len(src)), 0)
	if fault == nil {
		if s.next(); s.pos < len(src) {
			fault = s.fault("the value is complete and more text follows it")
		}
	}
	if fault != nil {
		return dst, fault
	}
	return text, nil
}

// scanner reads src once, from front to back. Its methods append what they
// read to dst in its final form and leave pos behind it.
type scanner struct {
	src []byte
	pos int
	// members are those of every open object, the innermost object's last.
	members []member
	// moved holds the members of an object while they change places.
	moved []byte
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// release keeps the room that this text took for another one, unless the text
// was far larger than most.
func (s *scanner) release() {
	*s = scanner{members: s.members[:0], moved: s.moved[:0]}
	if cap(s.members) <= 1<<10 && cap(s.moved) <= 1<<16 {
		scanners.Put(s)
	}
}

// member is a member of an object, by its places in the source and in the
// text written so far. Two keys are equal exactly when they are written alike,
// so that the written keys stand for the keys themselves.
type member struct {
	at              int // of the key in the source
	key, value, end int // of the key, of the colon after it, and of the comma or brace after the value
	index           uint32
}

// notIndex is the least integer that is not an array index. It stands for all
// keys that are none, which sort behind those that are.
const notIndex = math.MaxUint32

func (s *scanner) fault(detail string) *Error {
	if s.pos == len(s.src) {
		detail = "the text ends too early"
	}
	return &Error{Offset: s.pos, Detail: detail}
}

// next moves to the next byte that is not white space. It is 0 at the end,
// which no grammar rule expects either.
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
			return nil, s.fault("arrays and objects are nested more than " + strconv.Itoa(MaxDepth) + " deep")
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
	return nil, s.fault("a value must stand here")
}

func (s *scanner) literal(dst []byte, word string) ([]byte, *Error) {
	if !bytes.HasPrefix(s.src[s.pos:], []byte(word)) {
		return nil, s.fault("a value must stand here")
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
			return nil, s.fault("a comma or the end of the array must stand here")
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
			return nil, s.fault("a key must stand here")
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
			return nil, s.fault("a colon must stand here")
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
			return nil, s.fault("a comma or the end of the object must stand here")
		}
		s.pos++
		dst = append(dst, c)
		if c == ',' {
			continue
		}
		members := s.members[first:]
		if at := duplicateKey(dst, members); at >= 0 {
			s.pos = at
			return nil, s.fault("the object has this key already").within(s.keyAt(at))
		}
		if !ordered {
			s.reorder(dst, members)
		}
		s.members = s.members[:first]
		return dst, nil
	}
}

// keyAt reads again the key at a place of the source where one was read before.
func (s *scanner) keyAt(at int) string {
	again := scanner{src: s.src, pos: at}
	written, _ := again.text(nil)
	// What JSON.stringify escapes in a string, it escapes as Go does.
	key, _ := strconv.Unquote(string(written))
	return key
}

// arrayIndex is the value of a key that ECMAScript calls an array index: the
// plain decimal text of an integer below 2^32-1.
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

// duplicateKey is the place in the source of the first key that repeats an
// earlier one, or -1. It may change the order of the members.
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

// reorder moves the members of the object at the end of text into the order in
// which JavaScript lists them.
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
