package xml

import "encoding/binary"

// readStart reads a start tag (3.1 [40] STag) or the tag of an empty element
// ([44] EmptyElemTag).
func (r *Reader) readStart() (Kind, error) {
	for {
		if end := r.scanStart(r.i); end >= 0 {
			r.start, r.i = r.i, end
			r.kind = StartElement
			return StartElement, nil
		}
		if r.err != nil || !r.extendTag() {
			return r.fault(stopped)
		}
	}
}

// extendTag reads more of a tag that is not all in the buffer.
func (r *Reader) extendTag() bool {
	if r.size-r.i > maxTagBytes {
		r.failLongTag(r.i)
		return false
	}
	if !r.fill(r.i) {
		r.endsEarly("the document ends inside a tag; is it truncated?")
		return false
	}
	r.i = 0
	return true
}

// scanStart reads the tag at a place, which is the next one, and returns where it ends.
func (r *Reader) scanStart(at int) int {
	if r.knownBytes > maxKnownBytes {
		r.forgetNames()
	}
	buf, i := r.buf, at+1
	s := *r.expected
	if s != nil && s.matches(buf, i) && classOf[buf[i+len(s.text)]]&nameByte == 0 {
		i += len(s.text)
	} else if s, i = r.scanElementName(i); s == nil {
		return stopped
	}
	r.attrs, r.prefixed, r.declarations = r.attrs[:0], r.prefixed[:0], r.declarations[:0]
	if buf[i] == '>' {
		if !r.push(s, at) {
			return stopped
		}
		return i + 1
	}
	r.passage.possible = false
	if i = r.scanAttributes(s, i); i < 0 || !r.push(s, at) {
		return stopped
	}
	if buf[i] == '/' {
		r.phase, r.plain = inEmpty, false
		i++
	}
	if i-at >= maxTagBytes {
		return r.failLongTag(at)
	}
	return i + 1
}

// forgetNames lets go of all names that were met, because there are too many.
func (r *Reader) forgetNames() {
	r.forget()
	r.root, r.expected = nil, &r.root
	for _, open := range r.stack {
		open.symbol.child, open.symbol.sibling, open.symbol.attributes = nil, nil, nil
	}
}

func (r *Reader) failLongTag(at int) int {
	return r.fail(at, "the tag is longer than %d bytes, the maximum; put long text between tags, not in attributes", maxTagBytes)
}

// scanElementName reads the name of an element that is not the expected one.
func (r *Reader) scanElementName(i int) (s *symbol, end int) {
	if end = scanName(r.buf, i); end >= r.size && end-i <= MaxNameBytes {
		return nil, stopped
	}
	if s = r.symbolAt(&r.elements, i, end); s != nil {
		*r.expected = s
	}
	return s, end
}

// push opens an element whose tag is read.
func (r *Reader) push(s *symbol, at int) bool {
	if len(r.stack) >= MaxDepth {
		r.fail(at, "elements are nested more than %d levels deep", MaxDepth)
		return false
	}
	bound := len(r.bound)
	if len(r.declarations) > 0 && !r.declare() {
		return false
	}
	name := s.name
	if s.space != s.prefix.space || name == nil {
		if name = r.resolve(s, at+1); name == nil {
			return false
		}
	}
	if len(r.prefixed) > 0 && !r.resolveAttributes() {
		return false
	}
	r.stack = append(r.stack, element{s, name, bound, r.offsetOf(at)})
	r.expected = &s.child
	r.name = name
	return true
}

// pop closes the innermost element.
func (r *Reader) pop(end int) Kind {
	top := len(r.stack) - 1
	open := &r.stack[top]
	r.name = open.name
	r.expected = &open.symbol.sibling
	if top < r.passage.low {
		r.passage.low = top
		r.passage.ended = append(r.passage.ended, open.symbol)
	}
	if open.bound < len(r.bound) {
		r.release(open.bound)
	}
	r.stack = r.stack[:top]
	r.i = end
	r.kind = EndElement
	if top == 0 {
		r.phase, r.plain = inEpilog, false
	}
	return EndElement
}

// readEnd reads an end tag (3.1 [42] ETag).
func (r *Reader) readEnd() (Kind, error) {
	s := r.stack[len(r.stack)-1].symbol
	buf, i := r.buf, r.i+2
	if end := i + len(s.text); s.matches(buf, i) && buf[end] == '>' {
		r.start = r.i
		return r.pop(end + 1), nil
	}
	for {
		if end := r.scanEnd(r.i+2, s); end >= 0 {
			r.start = r.i
			return r.pop(end), nil
		}
		if r.err != nil || !r.extendTag() {
			return r.fault(stopped)
		}
	}
}

// scanEnd reads an end tag from its name on that is not in its shortest form.
func (r *Reader) scanEnd(i int, s *symbol) int {
	start := i
	i = scanName(r.buf, i)
	if i >= r.size {
		return stopped
	}
	if text := r.buf[start:i]; string(text) != s.text {
		open := r.stack[len(r.stack)-1]
		if len(text) == 0 {
			return r.fail(i, "an end tag must start with the name of the element, without a space before it; write </%s>", excerpt(s.text))
		}
		return r.fail(start, "found the end tag </%s>, expected </%s>, the end of <%[2]s> (byte %d); close inner elements before outer ones",
			excerpt(text), excerpt(s.text), open.offset)
	}
	i = r.endOfSpace(i)
	if r.buf[i] != '>' {
		return r.unexpected(i, "an end tag must contain only the name; write </%s>", excerpt(s.text))
	}
	return i + 1
}

// TextOnly reads what is left of an element that has just started where that is nothing
// but plain text and the end tag, and returns the text; nothing is told of the end then.
// Where there is anything else it reads nothing, reports false, and the caller goes on with
// Next. It is faster than Next for a document that has many small elements.
func (r *Reader) TextOnly() (text []byte, ok bool) {
	if r.kind != StartElement {
		return nil, false
	}
	if r.phase == inEmpty {
		r.phase, r.plain = inContent, true
		r.pop(r.i)
		return nil, true
	}
	buf, i := r.buf, r.i
	at := scanText(buf, i)
	if binary.LittleEndian.Uint16(buf[at:]) != '<'|'/'<<8 {
		return nil, false
	}
	s := r.stack[len(r.stack)-1].symbol
	end := at + 2 + len(s.text)
	if !s.matches(buf, at+2) || buf[end] != '>' {
		return nil, false
	}
	r.start = i
	r.pop(end + 1)
	return buf[i:at], true
}
