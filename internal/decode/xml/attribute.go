package xml

import (
	"encoding/binary"
	"math/bits"
)

// prefixedAttribute is an attribute whose name has a prefix.
type prefixedAttribute struct {
	symbol *symbol
	// index is that of the attribute, and at where it stands in the buffer.
	index, at int
}

// scanAttributes reads the attributes of a tag (3.1 [41] Attribute), from behind its
// name on, and returns where its > or /> is.
func (r *Reader) scanAttributes(s *symbol, i int) int {
	buf := r.buf
	r.tag++
	r.scratch = r.scratch[:0]
	for n := 0; ; n++ {
		spaced := i
		i = r.endOfSpace(i)
		switch c := buf[i]; {
		case c == '>':
			return i
		case c == '/':
			if buf[i+1] != '>' {
				return r.unexpected(i+1, "a / in a tag must be followed by >; write /> to end the tag, or put the / in quotes")
			}
			return i
		case i == spaced:
			return r.failInTag(i, n)
		case n == MaxAttributes:
			return r.unexpected(i, "the element has more than %d attributes, the maximum", MaxAttributes)
		}
		at := i
		var a *symbol
		var quote byte = '"'
		if n < len(s.attributes) && s.attributes[n].matches(buf, i) {
			a = s.attributes[n]
			i += len(a.spelling)
		} else {
			if a, i = r.scanAttributeName(i); i < 0 {
				return stopped
			}
			quote = buf[i-1]
			s.expect(n, a)
		}
		if a.seen == r.tag {
			return r.fail(at, "the attribute %s is repeated in the tag; remove one of them", excerpt(a.text))
		}
		a.seen = r.tag
		start := i
		var value []byte
		if i = scanValue(buf, i, quote); buf[i] == quote {
			value = buf[start:i]
		} else if value, i = r.unescapeValue(start, i, quote); i < 0 {
			return stopped
		}
		if i-start > maxValueBytes {
			return r.fail(start, "the value of the attribute %s is longer than %d bytes, the maximum; put long text between tags", excerpt(a.text), maxValueBytes)
		}
		i++
		if a.declares != nil {
			r.declarations = append(r.declarations, declaration{a.declares, value, at})
			continue
		}
		if a.prefix != nil {
			r.prefixed = append(r.prefixed, prefixedAttribute{a, len(r.attrs), at})
		}
		r.attrs = append(r.attrs, Attribute{a.name, value})
	}
}

// failInTag says what is wrong where an attribute or the end of a tag is expected.
func (r *Reader) failInTag(i, n int) int {
	if i >= r.size {
		return stopped
	}
	switch {
	case r.buf[i] == '<':
		return r.fail(i, "the tag is not closed before this <; end it with >")
	case n > 0 && classOf[r.buf[i]]&nameStartByte != 0:
		return r.fail(i, "two attributes must be separated by a space")
	}
	return r.fail(i, "unexpected %s in a tag; write attributes as name=\"value\"", r.charAt(i))
}

// expect remembers that the attribute of the number is this one.
func (s *symbol) expect(n int, a *symbol) {
	switch {
	case n < len(s.attributes):
		s.attributes[n] = a
	case n < maxExpected:
		s.attributes = append(s.attributes, a)
	}
}

// scanAttributeName reads the name of an attribute, the = and the quote, and returns
// what is behind it.
func (r *Reader) scanAttributeName(i int) (*symbol, int) {
	buf, start := r.buf, i
	if classOf[buf[i]]&nameStartByte == 0 {
		return nil, r.failInTag(i, 0)
	}
	i = scanName(buf, i)
	if i >= r.size && i-start <= MaxNameBytes {
		return nil, stopped
	}
	a := r.symbolAt(&r.attributes, start, i)
	if a == nil {
		return nil, stopped
	}
	i = r.endOfSpace(i)
	if buf[i] != '=' {
		return nil, r.unexpected(i, "the attribute %s has no value; write %[1]s=\"…\"", excerpt(a.text))
	}
	i++
	i = r.endOfSpace(i)
	if buf[i] != '"' && buf[i] != '\'' {
		return nil, r.unexpected(i, "the value of the attribute %s is not in quotes; write %[1]s=\"…\"", excerpt(a.text))
	}
	return a, i + 1
}

// scanValue is where something in a value has to be looked at: its quote, a <, a &, or
// white space that is no blank.
func scanValue(buf []byte, i int, quote byte) int {
	quotes := uint64(quote) * everyByte
	for {
		x := binary.LittleEndian.Uint64(buf[i:])
		q := x ^ quotes
		a := x ^ '&'*everyByte
		l := x ^ '<'*everyByte
		stops := ((q-everyByte)&^q | (a-everyByte)&^a | (l-everyByte)&^l | (x-' '*everyByte)&^x) & highBits
		if stops != 0 {
			return i + bits.TrailingZeros64(stops)>>3
		}
		i += 8
	}
}

// unescapeValue writes a value in full whose first special character is at i (3.3.3),
// and returns where its quote is.
func (r *Reader) unescapeValue(start, i int, quote byte) ([]byte, int) {
	first := len(r.scratch)
	for {
		r.scratch = append(r.scratch, r.buf[start:i]...)
		switch r.buf[i] {
		case quote:
			return r.scratch[first:], i
		case '&':
			if i = r.reference(i); i < 0 {
				return nil, stopped
			}
		case '\n', '\t':
			r.scratch = append(r.scratch, ' ')
			i++
		default:
			return nil, r.unexpected(i, "a value must not contain <; write &lt;, or close the quote before it")
		}
		start = i
		i = scanValue(r.buf, i, quote)
	}
}

// resolveAttributes finds what the attributes with a prefix mean, and that no two of them are
// the same then (Namespaces 6.3).
func (r *Reader) resolveAttributes() bool {
	for _, p := range r.prefixed {
		name := r.resolve(p.symbol, p.at)
		if name == nil {
			return false
		}
		if p.symbol.expanded.seen == r.tag {
			r.fail(p.at, "the attribute %s of the namespace %s is repeated in the tag with two prefixes; remove one of them",
				excerpt(name.Local), excerpt(name.Space))
			return false
		}
		p.symbol.expanded.seen = r.tag
		r.attrs[p.index].Name = name
	}
	return true
}
