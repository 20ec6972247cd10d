package xml

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// scanText is where something in text has to be looked at: a <, a & or a ].
func scanText(buf []byte, i int) int {
	for {
		x := binary.LittleEndian.Uint64(buf[i:])
		l := x ^ '<'*everyByte
		a := x ^ '&'*everyByte
		b := x ^ ']'*everyByte
		if stops := ((l-everyByte)&^l | (a-everyByte)&^a | (b-everyByte)&^b) & highBits; stops != 0 {
			return i + bits.TrailingZeros64(stops)>>3
		}
		i += 8
	}
}

// readText reads text up to the next < (2.4 [14] CharData and 3.1 [43] content).
func (r *Reader) readText() (Kind, error) {
	if r.DropBlank && r.dropBlank() {
		return again, nil
	}
	for i := r.i; ; {
		i = scanText(r.buf, i)
		switch c := r.buf[i]; {
		case c == '<' && i < r.size:
			return r.giveText(r.buf[r.i:i], i)
		case c == '&' && !r.cut(i):
			return r.readReferences(i)
		case c == ']' && !r.cut(i+2):
			if r.failBrackets(i) {
				return r.fault(stopped)
			}
			i++
			continue
		}
		// The buffer ends here, or in what is here.
		if i-r.i >= r.block || r.ended && i > r.i {
			return r.giveText(r.buf[r.i:i], i)
		}
		from := i - r.i
		if !r.fill(r.i) {
			return r.fault(r.endsInElement())
		}
		i, r.i = from, 0
	}
}

// cut reports whether a place is behind the end of the buffer although more of the
// document may follow there.
func (r *Reader) cut(at int) bool { return at >= r.size && !r.ended }

// giveText makes the token a piece of text.
func (r *Reader) giveText(text []byte, end int) (Kind, error) {
	r.text, r.passage.possible = text, false
	r.start, r.i = r.i, end
	r.kind = Text
	return Text, nil
}

// failBrackets refuses the end of a CDATA section where there is none.
func (r *Reader) failBrackets(i int) bool {
	if r.buf[i+1] != ']' || r.buf[i+2] != '>' {
		return false
	}
	r.fail(i, "text must not contain ]]>; write ]]&gt;")
	return true
}

// dropBlank goes on to the next tag where only white space stands before it, unless that
// is all that an element has.
func (r *Reader) dropBlank() bool {
	i := r.endOfSpace(r.i)
	if i+1 >= r.size && i-r.i < r.block && r.fill(r.i) {
		r.i = 0
		i = r.endOfSpace(0)
	}
	if r.buf[i] != '<' || i+1 >= r.size || r.kind == StartElement && r.buf[i+1] == '/' {
		return false
	}
	r.i = i
	return true
}

// endOfSpace is where the white space at a place ends.
func (r *Reader) endOfSpace(i int) int {
	for classOf[r.buf[i]]&spaceByte != 0 {
		i++
	}
	return i
}

// readReferences reads text that has a reference at i, up to the next <.
func (r *Reader) readReferences(i int) (Kind, error) {
	r.scratch = r.scratch[:0]
	start := r.i
	for {
		r.scratch = append(r.scratch, r.buf[start:i]...)
		switch c := r.buf[i]; {
		case c == '<' && i < r.size || len(r.scratch) >= r.block:
			return r.giveText(r.scratch, i)
		case c == '&' && i < r.size:
			if start = r.reference(i); start >= 0 {
				i = scanText(r.buf, start)
				continue
			}
			if r.err != nil {
				return r.fault(stopped)
			}
		case c == ']' && !r.cut(i+2):
			if r.failBrackets(i) {
				return r.fault(stopped)
			}
			start = i
			i = scanText(r.buf, i+1)
			continue
		}
		// The buffer ends here, or in what is here.
		if i-r.i >= r.block && i > r.i || r.ended && r.buf[i] != '&' {
			return r.giveText(r.scratch, i)
		}
		if !r.fill(r.i) {
			return r.fault(r.endsEarly("the document ends inside a reference; is it truncated?"))
		}
		r.i = 0
		return again, nil
	}
}

// readCDATA reads a piece of a CDATA section (2.7 [20] CData).
func (r *Reader) readCDATA() (Kind, error) {
	for {
		data := r.buf[r.i:r.size]
		if n := bytes.Index(data, cdataEnd); n >= 0 {
			r.phase, r.plain = inContent, true
			if n == 0 {
				r.i += len(cdataEnd)
				return again, nil
			}
			return r.giveText(data[:n], r.i+n+len(cdataEnd))
		}
		if n := len(data) - len(cdataEnd) + 1; n >= r.block {
			return r.giveText(data[:n], r.i+n)
		}
		if !r.fill(r.i) {
			return r.fault(r.endsEarly("the document ends inside a CDATA section; close it with ]]>"))
		}
		r.i = 0
	}
}

var cdataEnd = []byte("]]>")
