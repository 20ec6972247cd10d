package xml

import "bytes"

// Recognise reports whether text that begins with head, without white space before it, looks like
// XML. An HTML page is none.
func Recognise(head []byte, _ bool) bool {
	if len(head) < 2 || head[0] != '<' || bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	if bytes.HasPrefix(head, []byte("<?xml")) || bytes.HasPrefix(head, []byte("<!DOCTYPE")) && !hasPrefixFold(head, "<!DOCTYPE html") {
		return true
	}
	if head[1] == ':' || classOf[head[1]]&nameStartByte == 0 || hasPrefixFold(head, "<html") {
		return false
	}
	end := 1
	for end < len(head) && classOf[head[end]]&nameByte != 0 {
		end++
	}
	return end == len(head) || head[end] == '>' || head[end] == '/' || classOf[head[end]]&spaceByte != 0
}

// hasPrefixFold reports whether a text begins with a prefix, in small or capital letters.
func hasPrefixFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && bytes.EqualFold(text[:len(prefix)], []byte(prefix))
}
