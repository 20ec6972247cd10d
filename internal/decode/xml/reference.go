package xml

import "unicode/utf8"

// reference appends what a reference stands for to the scratch (4.1 [67] Reference), and
// returns where it ends.
func (r *Reader) reference(i int) int {
	buf, start := r.buf, i+1
	if buf[start] == '#' {
		return r.characterReference(i)
	}
	end := scanName(buf, start)
	if end-start > MaxNameBytes {
		return r.fail(i, "the name of the entity is longer than %d bytes, the maximum", MaxNameBytes)
	}
	if end >= r.size {
		return stopped
	}
	text := buf[start:end]
	if len(text) == 0 || buf[end] != ';' {
		return r.fail(i, "write & as &amp; if it does not start a reference")
	}
	var c byte
	switch string(text) {
	case "amp":
		c = '&'
	case "lt":
		c = '<'
	case "gt":
		c = '>'
	case "quot":
		c = '"'
	case "apos":
		c = '\''
	default:
		return r.fail(i, "the entity &%s; is not supported; use &amp;, &lt;, &gt;, &quot; or &apos;, the character itself, or its number such as &#233;", excerpt(text))
	}
	r.scratch = append(r.scratch, c)
	return end + 1
}

// characterReference is reference for the number of a character (4.1 [66] CharRef).
func (r *Reader) characterReference(at int) int {
	buf, i := r.buf, at+2
	base := rune(10)
	if buf[i] == 'x' {
		base = 16
		i++
	}
	var c rune
	first := i
	for ; ; i++ {
		digit := digitOf(buf[i])
		if digit >= base {
			break
		}
		// A number that is too large stays so, however many digits follow.
		c = min(c*base+digit, utf8.MaxRune+1)
	}
	switch {
	case i-at > MaxNameBytes:
		return r.fail(at, "the reference is longer than %d bytes, the maximum", MaxNameBytes)
	case i >= r.size:
		return stopped
	case i == first || buf[i] != ';':
		return r.fail(at, "write a character reference as &#233; or &#xE9;, with only digits and a semicolon")
	case !isChar(c):
		return r.fail(at, "the reference &%s is a character that XML does not allow; remove it", excerpt(buf[at+1:i+1]))
	}
	r.scratch = utf8.AppendRune(r.scratch, c)
	return i + 1
}

// digitOf is the value of a hexadecimal digit, or one that no digit has.
func digitOf(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return utf8.MaxRune
}
