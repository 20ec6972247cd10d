package csv

import (
	"bytes"
	"slices"
)

// likeBytes is how much of a table is read to see that it is like another.
const likeBytes = 4 << 10

// template is a table that others are expected to look like.
type template struct {
	dialect Dialect
	// names are what it calls its columns, empty where it does not.
	names []string
}

// find reads the head of a table in the dialect of the other one. It is nil
// where the two do not look alike.
func (l *template) find(head []byte, final bool) (found *trial, header int, named bool) {
	t := tryDialect(head, final, l.dialect)
	if t.tooMany || t.broken > 0 || t.width != len(l.names) || t.agree < 20 {
		return nil, 0, false
	}
	header = t.nextLine(0)
	if header == len(t.records) {
		return t, header, false
	}
	return t, header, l.namedBy(t, header)
}

// namedBy reports whether a record names the columns. One that is a header by
// its looks, but has none of the names, is a record of a table whose header
// was not repeated.
func (l *template) namedBy(t *trial, record int) bool {
	same, other := 0, 0
	for _, cell := range t.records[record] {
		text := string(bytes.TrimSpace(t.text(cell)))
		switch {
		case text == "":
		case slices.Contains(l.names, text):
			same++
		default:
			other++
		}
	}
	return same > 0 && (other == 0 || t.namesColumns(record))
}
