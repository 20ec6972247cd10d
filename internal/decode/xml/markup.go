package xml

import "bytes"

// readMarkup reads, in the content of an element, what begins with < and is no tag.
func (r *Reader) readMarkup() (Kind, error) {
	if !r.want("<![CDATA[") {
		return r.fault(r.endsInElement())
	}
	var end int
	switch here := r.buf[r.i:r.size]; {
	case len(here) > 1 && (here[1] == '/' || classOf[here[1]]&nameStartByte != 0):
		return again, nil // a tag, of which nothing but the < was there before
	case bytes.HasPrefix(here, []byte("<![CDATA[")):
		r.i += len("<![CDATA[")
		r.phase, r.plain = inCDATA, false
		return r.readCDATA()
	case bytes.HasPrefix(here, []byte("<!DOCTYPE")):
		end = r.fail(r.i, "a document type declaration is allowed only before the root element; remove it")
	default:
		end = r.passMisc("</", "<![CDATA[")
	}
	if end < 0 {
		return r.fault(end)
	}
	r.i = end
	return again, nil
}

// want makes as many bytes be there as the longest text has that is looked for, or all
// that are left. It reports false where none are.
func (r *Reader) want(text string) bool {
	for r.size-r.i < len(text) && r.fill(r.i) {
		r.i = 0
	}
	return r.i < r.size
}

// passMisc passes over a comment or a processing instruction, and returns where it ends
// (2.8 [27] Misc). Anything else is refused.
func (r *Reader) passMisc(others ...string) int {
	here := r.buf[r.i:r.size]
	switch {
	case bytes.HasPrefix(here, []byte("<!--")):
		return r.passComment()
	case bytes.HasPrefix(here, []byte("<?")):
		return r.passInstruction()
	case bytes.HasPrefix(here, []byte("<!")):
		for _, known := range append(others, "<!--", "<!DOCTYPE") {
			if r.ended && bytes.HasPrefix([]byte(known), here) {
				return r.endsEarly("the document ends inside %s…; is it truncated?", here)
			}
		}
		if len(here) >= len("<!DOCTYPE") && bytes.EqualFold(here[:len("<!DOCTYPE")], []byte("<!DOCTYPE")) {
			return r.fail(r.i, "<!DOCTYPE must be uppercase in XML; is the data an HTML page?")
		}
		return r.fail(r.i, "<! must start a comment <!--…--> or, in an element, a section <![CDATA[…]]>; write &lt; for the character <")
	case len(here) == 1 && r.ended:
		return r.endsEarly("the document ends with a <; is it truncated?")
	}
	return r.fail(r.i, "expected the name of an element after <, found %s; write &lt; for the character", r.charAt(r.i+1))
}

// passComment passes over a comment (2.5 [15] Comment).
func (r *Reader) passComment() int {
	r.i += len("<!--")
	for {
		n := bytes.Index(r.buf[r.i:r.size], []byte("--"))
		if n >= 0 && !r.cut(r.i+n+2) {
			end := r.i + n + 2
			if r.buf[end] != '>' {
				if end >= r.size {
					return r.endsEarly("the document ends inside a comment; close it with -->")
				}
				return r.fail(end-2, "a comment must not contain -- or end with --->; remove the hyphens, or close it with -->")
			}
			return end + 1
		}
		if !r.passTo(n, 1) {
			return r.endsEarly("the document ends inside a comment; close it with -->")
		}
	}
}

// passTo drops what was searched, up to the place n behind r.i where something was found, or
// all but the last bytes where n is negative, and reads more.
func (r *Reader) passTo(n, last int) bool {
	if n < 0 {
		n = max(r.size-r.i-last, 0)
	}
	if !r.fill(r.i + n) {
		return false
	}
	r.i = 0
	return true
}

// passInstruction passes over a processing instruction (2.6 [16] PI).
func (r *Reader) passInstruction() int {
	var end int
	for {
		if end = scanName(r.buf, r.i+2); end < r.size || end-r.i > MaxNameBytes {
			break
		}
		if !r.fill(r.i) {
			return r.endsEarly("the document ends inside a processing instruction; close it with ?>")
		}
		r.i = 0
	}
	start := r.i + 2
	target := r.buf[start:end]
	switch {
	case len(target) == 0:
		return r.fail(start, "expected the name of the processing instruction after <?, found %s", r.charAt(start))
	case string(target) == "xml":
		return r.fail(r.i, "the XML declaration is allowed only at the start of the document; remove it, or the text before it")
	case len(target) == 3 && string(bytes.ToLower(target)) == "xml":
		return r.fail(start, "the name %s of a processing instruction is reserved; write the XML declaration as <?xml …?>, in lowercase", target)
	case r.checkName(start, end, false) < 0:
		return stopped
	}
	r.i = end
	if !r.want("?>") {
		return r.endsEarly("the document ends inside a processing instruction; close it with ?>")
	}
	if classOf[r.buf[r.i]]&spaceByte == 0 && !bytes.HasPrefix(r.buf[r.i:r.size], []byte("?>")) {
		return r.unexpected(r.i, "expected a space or ?> after the name of a processing instruction, found %s", r.charAt(r.i))
	}
	for {
		if n := bytes.Index(r.buf[r.i:r.size], []byte("?>")); n >= 0 {
			return r.i + n + 2
		}
		if !r.passTo(-1, 1) {
			return r.endsEarly("the document ends inside a processing instruction; close it with ?>")
		}
	}
}
