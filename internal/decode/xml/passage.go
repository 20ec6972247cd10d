package xml

import (
	"encoding/binary"
	"strings"
)

// Passage is what stands between two places of a document where it is nothing but tags without
// attributes, and white space: in a document of records the same stands there again and again. A
// caller that knows what a passage means can have it passed in one comparison.
type Passage struct {
	text string
	// ended are the elements that end in it, the innermost first, and begun those that begin in
	// it and are open behind it.
	ended []*symbol
	begun []begunElement
}

type begunElement struct {
	symbol *symbol
	name   *Name
	at     int // in the text
}

// passageStart is where a passage was begun.
type passageStart struct {
	// possible says that there has been nothing but what a passage may have.
	possible bool
	at       int
	moves    uint64
	// low is the least number of elements that were open since, and ended are those that ended.
	low   int
	ended []*symbol
}

const (
	maxPassageBytes = 1 << 10
	maxPassageDepth = 16
)

// BeginPassage says that a passage begins behind the token.
func (r *Reader) BeginPassage() {
	p := &r.passage
	p.possible, p.at, p.moves, p.low, p.ended = r.plain, r.i, r.moves, len(r.stack), p.ended[:0]
}

// Passage is the passage from where one was begun to behind the start tag that is the token, or
// nil where it cannot be one.
func (r *Reader) Passage() *Passage {
	p := &r.passage
	if !p.possible || r.kind != StartElement || !r.plain || p.moves != r.moves || r.i-p.at > maxPassageBytes {
		return nil
	}
	open := r.stack[p.low:]
	if len(open) == 0 || len(open) > maxPassageDepth || len(p.ended) > maxPassageDepth {
		return nil
	}
	made := &Passage{text: string(r.buf[p.at:r.i]), ended: append([]*symbol(nil), p.ended...)}
	if strings.Contains(made.text, "<!") || strings.Contains(made.text, "<?") {
		return nil
	}
	at := 0
	for _, e := range open {
		tag := "<" + e.symbol.text + ">"
		n := strings.Index(made.text[at:], tag)
		if n < 0 {
			return nil
		}
		made.begun = append(made.begun, begunElement{e.symbol, e.name, at + n})
		at += n + len(tag)
	}
	return made
}

// PassText goes to behind a passage where it stands behind the token, and reports whether it does. The
// token is then the start of the last element in it, or its end where the element has only text, as
// [Reader.TextOnly] would find; nothing is told of what is before that.
func (r *Reader) PassText(p *Passage) (text []byte, only, passed bool) {
	buf, start, depth := r.buf, r.i, len(r.stack)-len(p.ended)
	end := start + len(p.text)
	if !r.plain || end > r.size || depth < 1 || depth+len(p.begun) > MaxDepth || string(buf[start:end]) != p.text {
		return nil, false, false
	}
	bound := len(r.bound)
	for i, s := range p.ended {
		if open := &r.stack[len(r.stack)-1-i]; open.symbol != s || open.bound != bound {
			return nil, false, false
		}
	}
	for i := range p.begun {
		if s := p.begun[i].symbol; s.space != s.prefix.space || s.name != p.begun[i].name {
			return nil, false, false
		}
	}
	r.stack = r.stack[:depth]
	last := len(p.begun) - 1
	for i := range p.begun[:last] {
		e := &p.begun[i]
		r.stack = append(r.stack, element{e.symbol, e.name, bound, r.offsetOf(start + e.at)})
	}
	leaf := &p.begun[last]
	r.start, r.name, r.attrs = start+leaf.at, leaf.name, r.attrs[:0]
	at := scanText(buf, end)
	if binary.LittleEndian.Uint16(buf[at:]) == '<'|'/'<<8 && leaf.symbol.matches(buf, at+2) {
		if behind := at + 2 + len(leaf.symbol.text); buf[behind] == '>' {
			r.i, r.kind, r.expected = behind+1, EndElement, &leaf.symbol.sibling
			return buf[end:at], true, true
		}
	}
	r.stack = append(r.stack, element{leaf.symbol, leaf.name, bound, r.offsetOf(r.start)})
	r.i, r.kind, r.expected = end, StartElement, &leaf.symbol.child
	return nil, false, true
}

// Ahead is what of the document is in memory behind the token, for a caller who knows how it usually goes on and
// reads that faster than token by token. It is empty where something is under way. What was read is passed over
// with [Reader.Advance]; it must be whole elements, and well-formed.
func (r *Reader) Ahead() []byte {
	if !r.plain {
		return nil
	}
	return r.buf[r.i:r.size]
}

// Advance passes over so many bytes of what is ahead.
func (r *Reader) Advance(n int) { r.i += n }
