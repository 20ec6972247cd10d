package xml

import "strings"

// AppendOpenTag appends a start tag of the open element at a depth, from 1, with the
// declarations of namespaces that it has and the attributes that are given, each with a
// space before it. With the tags of all open elements before it, what follows in the document
// can be read as a document of its own.
func (r *Reader) AppendOpenTag(to []byte, depth int, attributes string) []byte {
	open := r.stack[depth-1]
	to = append(append(to, '<'), open.symbol.text...)
	bound := r.bound[open.bound:]
	if depth < len(r.stack) {
		bound = r.bound[open.bound:r.stack[depth].bound]
	}
	for _, b := range bound {
		to = append(to, " xmlns"...)
		if b.prefix.text != "" {
			to = append(append(to, ':'), b.prefix.text...)
		}
		to = append(append(append(to, `="`...), valueEscapes.Replace(b.now.uri)...), '"')
	}
	return append(append(to, attributes...), '>')
}

var valueEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", "\t", "&#9;", "\n", "&#10;", "\r", "&#13;")

// End is where in the document the token ends.
func (r *Reader) End() int64 { return r.offsetOf(r.i) }

// OpenAt is where in the document the open element at a depth, from 1, begins.
func (r *Reader) OpenAt(depth int) int64 { return r.stack[depth-1].offset }
