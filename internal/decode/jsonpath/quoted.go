package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// quoted reads a name or a string in single or double quotes.
func (p *parser) quoted() string {
	start := p.pos
	quote := p.text[p.pos]
	p.pos++
	var b strings.Builder
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == quote:
			p.pos++
			return b.String()
		case c == '\\':
			b.WriteRune(p.escape(quote))
		case c < 0x20:
			p.fail(p.pos, "a control character in quotes must be escaped, such as \\n")
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
	p.fail(start, "the closing quote is missing")
	return ""
}

// escape reads a backslash and what belongs to it.
func (p *parser) escape(quote byte) rune {
	start := p.pos
	p.pos++
	c := p.peek()
	p.pos++
	switch c {
	case quote, '\\', '/':
		return rune(c)
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'u':
		return p.unicodeEscape(start)
	}
	p.fail(start, `the escape is not valid; use \b \f \n \r \t \/ \\ \u or the escaped quote`)
	return 0
}

// unicodeEscape reads the digits of \u, and a second escape where the first is
// one half of a pair of surrogates.
func (p *parser) unicodeEscape(start int) rune {
	first := p.hex(start)
	if !utf16.IsSurrogate(first) {
		return first
	}
	if p.accept(`\u`) {
		if r := utf16.DecodeRune(first, p.hex(start)); r != '\uFFFD' {
			return r
		}
	}
	p.fail(start, "the escape is half of a surrogate pair, and the other half is missing")
	return 0
}

func (p *parser) hex(start int) rune {
	end := p.pos + 4
	if end > len(p.text) {
		p.fail(start, "\\u must be followed by four hexadecimal digits")
	}
	digits := p.text[p.pos:end]
	n, err := strconv.ParseUint(digits, 16, 16)
	if err != nil || strings.ContainsAny(digits, "+_") {
		p.fail(start, "\\u must be followed by four hexadecimal digits")
	}
	p.pos = end
	return rune(n)
}
