package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNesting is how deep parentheses, filters and function calls may stand in
// each other.
const maxNesting = 64

// maxInt is the largest index and, negated, the smallest (I-JSON).
const maxInt = 1<<53 - 1

// Parse reads a path. Its error is a [*SyntaxError].
func Parse(text string) (*Path, error) {
	p := &parser{text: text}
	path, err := p.path()
	if err != nil {
		return nil, err
	}
	return path, nil
}

// parser reads a path from front to back. Its methods panic with a
// *SyntaxError, which path recovers.
type parser struct {
	text string
	pos  int
	// depth counts what is open around the current place.
	depth int
}

func (p *parser) path() (path *Path, err error) {
	defer func() {
		if r := recover(); r != nil {
			syntax, ok := r.(*SyntaxError)
			if !ok {
				panic(r)
			}
			err = syntax
		}
	}()
	if at := firstInvalid(p.text); at >= 0 {
		p.fail(at, "the path is not valid UTF-8")
	}
	if !p.accept("$") {
		p.fail(p.pos, "a path must start with $")
	}
	segments := p.segments()
	if p.pos < len(p.text) {
		p.fail(p.pos, "expected . or [ or the end of the path, found "+p.found())
	}
	return &Path{text: p.text, segments: segments}, nil
}

// firstInvalid is the offset of the first byte that is not UTF-8, or -1.
func firstInvalid(text string) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// fail ends the parsing with an error at a byte of the text.
func (p *parser) fail(at int, detail string) {
	panic(&SyntaxError{Offset: utf8.RuneCountInString(p.text[:at]), Detail: detail})
}

// found names what stands at the current place.
func (p *parser) found() string {
	if p.pos >= len(p.text) {
		return "the end of the path"
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	if r == ' ' || r == '\t' || r == '\n' || r == '\r' {
		return "a space"
	}
	return strconv.QuoteRune(r)
}

func (p *parser) peek() byte {
	if p.pos >= len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *parser) accept(token string) bool {
	if !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	return true
}

func (p *parser) expect(token string) {
	if !p.accept(token) {
		p.fail(p.pos, fmt.Sprintf("expected %s, found %s", token, p.found()))
	}
}

func (p *parser) blanks() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// enter counts one more level of nesting; the caller defers leave.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.pos, fmt.Sprintf("parentheses, filters and functions are nested more than %d levels deep", maxNesting))
	}
}

func (p *parser) leave() { p.depth-- }

// segments reads all that follow. Blanks before something that is no segment
// are left alone.
func (p *parser) segments() []segment {
	var segments []segment
	for {
		before := p.pos
		p.blanks()
		switch {
		case p.accept(".."):
			segments = append(segments, segment{deep: true, selectors: p.afterDots()})
		case p.accept("."):
			segments = append(segments, segment{selectors: []selector{p.shorthand("the dot")}})
		case p.peek() == '[':
			segments = append(segments, segment{selectors: p.brackets()})
		default:
			p.pos = before
			return segments
		}
	}
}

func (p *parser) afterDots() []selector {
	if p.peek() == '[' {
		return p.brackets()
	}
	return []selector{p.shorthand("the two dots")}
}

// shorthand reads what may stand after a dot: * or a plain name.
func (p *parser) shorthand(after string) selector {
	if p.accept("*") {
		return selector{kind: selectAll}
	}
	start := p.pos
	for p.pos < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.pos:])
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
		digit := r >= '0' && r <= '9'
		if !letter && (!digit || p.pos == start) {
			break
		}
		p.pos += size
	}
	if p.pos == start {
		p.fail(p.pos, fmt.Sprintf("expected a name or * after %s, found %s; write names with special characters as ['a name']", after, p.found()))
	}
	return selector{kind: selectName, name: p.text[start:p.pos]}
}

func (p *parser) brackets() []selector {
	p.expect("[")
	var selectors []selector
	for {
		p.blanks()
		selectors = append(selectors, p.selector())
		p.blanks()
		if p.accept("]") {
			return selectors
		}
		if !p.accept(",") {
			p.fail(p.pos, "expected , or ] after a selector, found "+p.found())
		}
	}
}

func (p *parser) selector() selector {
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		return selector{kind: selectName, name: p.quoted()}
	case c == '*':
		p.pos++
		return selector{kind: selectAll}
	case c == '?':
		p.pos++
		p.blanks()
		return selector{kind: selectFilter, filter: p.logical()}
	case c == '-' || c == ':' || c >= '0' && c <= '9':
		return p.indexOrSlice()
	}
	p.fail(p.pos, "expected a quoted name, *, a number, a slice or a filter that starts with ?, found "+p.found())
	return selector{}
}

func (p *parser) indexOrSlice() selector {
	var s slice
	if p.peek() != ':' {
		s.start, s.hasStart = p.integer(), true
	}
	before := p.pos
	p.blanks()
	if !p.accept(":") {
		p.pos = before
		return selector{kind: selectIndex, index: s.start}
	}
	p.blanks()
	if p.atInteger() {
		s.end, s.hasEnd = p.integer(), true
		p.blanks()
	}
	if p.accept(":") {
		p.blanks()
		if p.atInteger() {
			s.step, s.hasStep = p.integer(), true
		}
	}
	return selector{kind: selectSlice, slice: s}
}

func (p *parser) atInteger() bool {
	c := p.peek()
	return c == '-' || c >= '0' && c <= '9'
}

func (p *parser) integer() int64 {
	start := p.pos
	p.accept("-")
	digits := p.digits()
	switch {
	case digits == 0:
		p.fail(p.pos, "expected a digit, found "+p.found())
	case p.text[p.pos-digits] == '0' && p.pos-start > 1:
		p.fail(start, "a number must not start with 0, and -0 is not valid")
	}
	n, err := strconv.ParseInt(p.text[start:p.pos], 10, 64)
	if err != nil || n > maxInt || n < -maxInt {
		p.fail(start, "the number must be between -9007199254740991 and 9007199254740991")
	}
	return n
}

// digits reads as many as there are and counts them.
func (p *parser) digits() int {
	start := p.pos
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
	}
	return p.pos - start
}
