package csv

import (
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

// orSpaces is a trial with spaces between the fields, one or more of them or
// two or more, where that explains the data; else it is the trial itself. Where
// spaces are said to be the delimiter, it takes less.
func (t *trial) orSpaces(head []byte, final, said bool) *trial {
	for _, spaces := range []int{1, 2} {
		dialect := t.Dialect
		dialect.Delimiter, dialect.Spaces = ' ', spaces
		if next := tryDialect(head, final, dialect); next.width > 1 && (next.spaced() || said && next.agree == 20) {
			return next
		}
	}
	return t
}

// spaced reports whether spaces separate fields: every line has as many, a column
// has values, and the lines are more than numbers or dates with spaces in them.
func (t *trial) spaced() bool {
	if t.agree < 20 || t.broken > 0 || len(t.records) < 2 {
		return false
	}
	values, lines := make([]int, t.width), 0
	whole := true
	for i, record := range t.records {
		if t.blank(i) {
			continue
		}
		if lines++; lines == 1 {
			continue // it may have the names
		}
		whole = whole && layout.LooksTyped(string(t.line(i)))
		for j, cell := range record {
			if j < len(values) && layout.LooksTyped(string(t.text(cell))) {
				values[j]++
			}
		}
	}
	if whole && t.width < 4 {
		return false
	}
	for _, n := range values {
		if n > 0 && n == lines-1 {
			return true
		}
	}
	return false
}

// padded reports whether a space stands behind every delimiter.
func (t *trial) padded() bool {
	if t.Delimiter == ' ' || t.Delimiter == '\t' || t.width < 2 {
		return false
	}
	cells := 0
	for _, record := range t.records {
		for j, cell := range record {
			if j == 0 || cell.Empty() || cell.Kind() != columnar.CellPlain {
				continue
			}
			if text := t.text(cell); text[0] != ' ' {
				return false
			}
			cells++
		}
	}
	return cells >= len(t.records) && len(t.records) > 1
}

// unpad takes the spaces before a field off it.
func (t *tolerant) unpad(cell columnar.Cell) columnar.Cell {
	start, end := cell.Range()
	for start < end && t.data[start] == ' ' {
		start++
	}
	return columnar.NewCell(cell.Kind(), int(start), int(end))
}

// delimits reports whether the delimiter that stands at pos separates fields.
func (t *tolerant) delimits(pos int) bool {
	return t.dialect.Spaces < 2 || pos+1 < len(t.data) && t.data[pos+1] == ' '
}

// pastSpaces is the first character from pos on that is no space.
func (t *tolerant) pastSpaces(pos int) int {
	for pos < len(t.data) && t.data[pos] == ' ' {
		pos++
	}
	return pos
}
