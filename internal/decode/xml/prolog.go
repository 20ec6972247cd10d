package xml

import (
	"bytes"
	"io"
)

// readProlog reads what stands before the root element, and its tag (2.8 [22] prolog).
func (r *Reader) readProlog() (Kind, error) {
	if !r.begun {
		if !r.readDeclaration() {
			return r.fault(stopped)
		}
	}
	for {
		if !r.passSpace() {
			return r.fault(r.endsEarly("the document has no element"))
		}
		here := r.buf[r.i:r.size]
		var end int
		switch {
		case here[0] != '<':
			end = r.fail(r.i, "a document must start with the tag of its root element, found %s; is the data XML?", r.charAt(r.i))
		case len(here) > 1 && classOf[here[1]]&nameStartByte != 0:
			r.phase, r.plain = inContent, true
			return r.readStart()
		case len(here) > 1 && here[1] == '/':
			end = r.fail(r.i, "unexpected end tag before the first element; remove it")
		case bytes.HasPrefix(here, []byte("<!DOCTYPE")):
			end = r.passDoctype()
		case bytes.HasPrefix(here, []byte("<![CDATA[")):
			end = r.fail(r.i, "a CDATA section is allowed only in an element; move it into the root element")
		default:
			end = r.passMisc()
		}
		if end < 0 {
			return r.fault(end)
		}
		r.i = end
	}
}

// readEpilog reads what stands behind the root element (2.1 [1] document).
func (r *Reader) readEpilog() (Kind, error) {
	for {
		if !r.passSpace() {
			if r.err = r.ending; r.err == nil {
				r.err = io.EOF
			}
			return r.fault(stopped)
		}
		here := r.buf[r.i:r.size]
		var end int
		switch {
		case here[0] != '<':
			end = r.fail(r.i, "only comments can follow the root element, found %s; remove it, or move it into the root element", r.charAt(r.i))
		case len(here) > 1 && classOf[here[1]]&nameStartByte != 0:
			end = r.fail(r.i, "a document must have one root element, and a second one starts here; wrap both in one element, or send two documents")
		case len(here) > 1 && here[1] == '/':
			end = r.fail(r.i, "unexpected end tag after the end of the root element; remove it")
		case bytes.HasPrefix(here, []byte("<!DOCTYPE")):
			end = r.fail(r.i, "a document type declaration is allowed only before the root element; remove it")
		case bytes.HasPrefix(here, []byte("<![CDATA[")):
			end = r.fail(r.i, "a CDATA section is allowed only in an element; move it into the root element")
		default:
			end = r.passMisc()
		}
		if end < 0 {
			return r.fault(end)
		}
		r.i = end
	}
}

// passSpace goes on to what is not white space, outside the root element, and makes enough be there to tell
// what it is. It reports false at the end.
func (r *Reader) passSpace() bool {
	for {
		r.i = r.endOfSpace(r.i)
		if r.i < r.size {
			return r.want("<!DOCTYPE")
		}
		if !r.fill(r.i) {
			return false
		}
		r.i = 0
	}
}

// passDoctype passes over a document type declaration that has no internal subset (2.8 [28]
// doctypedecl), and returns where it ends. What it refers to is never opened.
func (r *Reader) passDoctype() int {
	if r.doctype {
		return r.fail(r.i, "a document can have only one document type declaration; remove the second one")
	}
	for {
		d := doctypeScanner{r: r, i: r.i + len("<!DOCTYPE")}
		if end := d.scan(); end >= 0 {
			r.doctype = true
			return end
		}
		switch {
		case r.err != nil:
			return stopped
		case r.size-r.i > maxDeclarationBytes:
			return r.fail(r.i, "the document type declaration is longer than %d bytes, the maximum; remove it", maxDeclarationBytes)
		case !r.fill(r.i):
			return r.endsEarly("the document ends inside the document type declaration; is it truncated?")
		}
		r.i = 0
	}
}

// doctypeScanner reads a document type declaration from behind <!DOCTYPE on.
type doctypeScanner struct {
	r *Reader
	i int
}

// scan returns where the declaration ends.
func (d *doctypeScanner) scan() int {
	r := d.r
	if !d.space() {
		return r.unexpected(d.i, "<!DOCTYPE must be followed by a space and the name of the root element")
	}
	start := d.i
	if classOf[r.buf[d.i]]&nameStartByte == 0 {
		return r.unexpected(d.i, "expected the name of the root element after <!DOCTYPE, found %s", r.charAt(d.i))
	}
	if d.i = scanName(r.buf, d.i); d.i >= r.size {
		return stopped
	}
	if r.checkName(start, d.i, true) < 0 {
		return stopped
	}
	if spaced := d.space(); spaced && classOf[r.buf[d.i]]&nameStartByte != 0 && !d.external() {
		return stopped
	}
	d.space()
	switch r.buf[d.i] {
	case '>':
		return d.i + 1
	case '[':
		return r.fail(d.i, "a document type declaration with its own declarations is not supported, because they can change the content; "+
			"remove the <!DOCTYPE …[…]> and replace the entities that it declares")
	}
	return r.unexpected(d.i, "expected > at the end of the document type declaration, found %s", r.charAt(d.i))
}

// space passes over white space and reports whether there was any.
func (d *doctypeScanner) space() bool {
	start := d.i
	d.i = d.r.endOfSpace(d.i)
	return d.i > start
}

// external reads what the declaration refers to (4.2.2 [75] ExternalID).
func (d *doctypeScanner) external() bool {
	r, start := d.r, d.i
	if d.i = scanName(r.buf, d.i); d.i >= r.size {
		return false
	}
	switch string(r.buf[start:d.i]) {
	case "SYSTEM":
		return d.literal("SYSTEM", nil)
	case "PUBLIC":
		return d.literal("PUBLIC", isPublicID) && d.literal("the public identifier", nil)
	}
	r.fail(start, "expected SYSTEM, PUBLIC or > after the name in the document type declaration, found %s", excerpt(r.buf[start:d.i]))
	return false
}

// literal reads white space and a text in quotes.
func (d *doctypeScanner) literal(behind string, allowed func(c byte) bool) bool {
	r := d.r
	spaced := d.space()
	quote := r.buf[d.i]
	if !spaced || quote != '"' && quote != '\'' {
		r.unexpected(d.i, "%s in the document type declaration must be followed by a space and a quoted text", behind)
		return false
	}
	d.i++
	n := bytes.IndexByte(r.buf[d.i:r.size], quote)
	if n < 0 {
		return false
	}
	for k, c := range r.buf[d.i : d.i+n] {
		if allowed != nil && !allowed(c) {
			r.fail(d.i+k, "a public identifier must not contain the character %s; remove it", r.charAt(d.i+k))
			return false
		}
	}
	d.i += n + 1
	return true
}

// isPublicID reports whether a character may stand in a public identifier (2.3 [13]
// PubidChar).
func isPublicID(c byte) bool {
	return c == ' ' || c == '\n' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || bytes.IndexByte([]byte("-'()+,./:=?;!*#@$_%"), c) >= 0
}
