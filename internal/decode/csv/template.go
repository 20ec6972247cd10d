package csv

import (
	"bytes"
	"slices"

	"github.com/feedmill/feedmill/internal/decode/layout"
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
// where the two do not look alike. The record is the first of the table, which
// names the columns where named is set.
func (l *template) find(head []byte, final bool) (found *trial, record int, named bool) {
	t := tryDialect(head, final, l.dialect)
	if t.tooMany || t.broken > 0 || t.width != len(l.names) || t.agree < 20 {
		return nil, 0, false
	}
	record = t.nextLine(0)
	if record == len(t.records) {
		return t, record, false
	}
	return t, record, l.namedBy(t, record)
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
	return same > 0 && (other == 0 || layout.IsHeader(t.rows(record), 0))
}
