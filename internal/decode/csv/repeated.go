package csv

import (
	"bytes"
	"slices"

	"github.com/feedmill/feedmill"
)

// headerLines are the lines that repeat a record of the header: the record as it is and, from
// the second version of the rules on, with quotes around every name and around none that needs
// none. By the original rules no line is left out. Programs that write a header on every page do not always quote it as they quote the
// first one.
func (c *Table) headerLines(found *trial, record int) [][]byte {
	if c.options.Rules == feedmill.RulesOriginal {
		return nil // they are rows
	}
	line := bytes.Clone(found.line(record))
	lines := [][]byte{line}
	if c.options.Rules <= feedmill.RulesFirst || c.Dialect.Quote == 0 || c.Dialect.Spaces > 0 {
		return lines
	}
	var quoted, plain []byte
	for j, cell := range found.records[record] {
		if j > 0 {
			quoted, plain = append(quoted, c.Dialect.Delimiter), append(plain, c.Dialect.Delimiter)
		}
		name := bytes.TrimSpace(found.text(cell))
		inQuotes := c.Dialect.inQuotes(name)
		quoted = append(quoted, inQuotes...)
		if bytes.ContainsAny(name, string([]byte{c.Dialect.Delimiter, c.Dialect.Quote, '\r', '\n'})) {
			name = inQuotes
		}
		plain = append(plain, name...)
	}
	// The tolerant reader compares a line after it has undone the doubled quotes in place.
	undone := func(line []byte) []byte { return tryDialect(line, true, c.Dialect).data }
	for _, other := range [][]byte{quoted, plain, undone(quoted), undone(plain)} {
		if !slices.ContainsFunc(lines, func(known []byte) bool { return bytes.Equal(known, other) }) {
			lines = append(lines, other)
		}
	}
	return lines
}

// inQuotes is a field in quotes.
func (d Dialect) inQuotes(field []byte) []byte {
	out := []byte{d.Quote}
	for _, c := range field {
		if c == d.Quote || c == d.Escape {
			out = append(out, d.Escape)
		}
		out = append(out, c)
	}
	return append(out, d.Quote)
}
