package csv

import (
	"bytes"
	"strings"
)

// Recognise reports whether text that begins with head looks like a table of
// separated fields, other than by tabs.
func Recognise(head []byte, _ bool) bool {
	line, ok := firstLine(head)
	return ok && !byTabs(line) && (bytes.ContainsAny(line, ",;|") || len(line) < len(head))
}

// RecogniseTabs is [Recognise] for tables whose fields are separated by tabs.
func RecogniseTabs(head []byte, _ bool) bool {
	line, ok := firstLine(head)
	return ok && byTabs(line)
}

// firstLine is the first line of a text that may be a table: no binary data, no
// JSON and no markup.
func firstLine(head []byte) (line []byte, ok bool) {
	if len(head) == 0 || strings.IndexByte("{[<", head[0]) >= 0 || bytes.IndexByte(head, 0) >= 0 {
		return nil, false
	}
	line, _, _ = bytes.Cut(head, []byte("\n"))
	return line, true
}

func byTabs(line []byte) bool {
	return bytes.Count(line, []byte("\t")) > bytes.Count(line, []byte(","))
}
