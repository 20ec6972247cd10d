package csv

import (
	"bytes"

	"github.com/feedmill/feedmill/internal/columnar"
)

// tolerant reads records one after the other and makes sense of those that are
// not well formed:
//
//   - A quote inside a field that does not begin with one stands for itself.
//   - A quoted field ends at a quote that a delimiter or a line end follows,
//     with spaces between them or not. Other quotes in it stand for themselves.
//   - A quoted field that never ends, or that runs over a line end into what
//     looks like the beginning of another one, was none: its quote stands for itself.
//   - A carriage return alone ends a record that is complete at it, and is a
//     character of its field elsewhere.
type tolerant struct {
	dialect Dialect
	// special are the characters that mean something outside of quotes.
	special *[256]bool
	columns int
	// everyReturn makes a carriage return alone end every record, for as long
	// as the number of columns is not known.
	everyReturn bool
	// data is what is read, final whether nothing comes after it. Where
	// something does, data does not end in a carriage return, whose meaning
	// depends on what follows.
	data  []byte
	final bool
	// base is where data begins in the text, and unclosed up to where the end
	// of a quoted field was looked for in vain. Before it, such fields are only
	// looked for in single lines, because each search could take as long.
	base, unclosed int64
	cells          []columnar.Cell
	broken         brokenQuotes
	// maxField is how long a quoted field can be whose end is still to come.
	maxField int
	// tooMany says that the last record has more than maxFields fields.
	tooMany bool
}

// brokenQuotes counts what was put right.
type brokenQuotes struct {
	count       int64
	firstRow    int64
	firstOffset int64
}

// special are the characters that mean something outside of quotes.
func (d Dialect) special() *[256]bool {
	var special [256]bool
	for _, c := range []byte{d.Delimiter, d.Quote, d.Newline, '\r'} {
		special[c] = true
	}
	return &special
}

// record appends the cells of the record at pos to t.cells and says where the
// next one begins. It reports false where data ends before the record does, or
// where the record has too many fields.
func (t *tolerant) record(pos int, row int64) (next int, complete bool) {
	first := len(t.cells)
	if t.dialect.Spaces > 0 {
		pos = t.pastSpaces(pos)
	}
	for {
		broken := -1
		cell, end, ok := t.field(pos, len(t.cells)-first, &broken)
		if !ok {
			return 0, false
		}
		if broken >= 0 {
			if t.broken.count == 0 {
				t.broken.firstRow, t.broken.firstOffset = row, t.base+int64(broken)
			}
			t.broken.count++
		}
		if t.cells = append(t.cells, cell); len(t.cells)-first > maxFields {
			t.tooMany = true
			return 0, false
		}
		if end == len(t.data) {
			return end, true
		}
		if t.dialect.Spaces > 0 && t.data[end] == ' ' {
			if pos = t.pastSpaces(end); pos == len(t.data) {
				return pos, t.final
			}
			if !t.endsLine(pos, 0) {
				continue
			}
			end = pos // spaces at the end of a line separate nothing
		}
		switch t.data[end] {
		case t.dialect.Delimiter:
			pos = end + 1
		case '\r':
			if end+1 < len(t.data) && t.data[end+1] == '\n' && t.dialect.Newline == '\n' {
				end++
			}
			return end + 1, true
		default:
			return end + 1, true
		}
	}
}

// field reads the field at pos, the index-th of its record. The end is where
// the delimiter or the line end behind it stands, or the end of the data.
func (t *tolerant) field(pos, index int, broken *int) (cell columnar.Cell, end int, ok bool) {
	quote := pos
	for quote < len(t.data) && t.data[quote] == ' ' {
		quote++
	}
	if t.dialect.Quote != 0 && quote < len(t.data) && t.data[quote] == t.dialect.Quote {
		cell, end, verdict := t.quoted(quote, index, broken)
		if verdict != notQuoted {
			return cell, end, verdict == closed
		}
		*broken = quote
	}
	return t.plain(pos, index, broken)
}

// plain reads a field without regard to quotes.
func (t *tolerant) plain(pos, index int, broken *int) (cell columnar.Cell, end int, ok bool) {
	for end = pos; end < len(t.data); end++ {
		c := t.data[end]
		if !t.special[c] {
			continue
		}
		switch {
		case c == t.dialect.Delimiter && t.delimits(end) || t.endsLine(end, index):
			cell = columnar.NewCell(columnar.CellPlain, pos, end)
			if t.dialect.Padded {
				cell = t.unpad(cell)
			}
			return cell, end, true
		case c == t.dialect.Quote && c != 0 && *broken < 0 && !t.formula(pos):
			*broken = end
		}
	}
	if !t.final {
		return 0, 0, false
	}
	cell = columnar.NewCell(columnar.CellPlain, pos, end)
	if t.dialect.Padded {
		cell = t.unpad(cell)
	}
	return cell, end, true
}

// formula reports whether the field at pos begins with ="…, by which Excel keeps digits as
// text: its quotes are part of it.
func (t *tolerant) formula(pos int) bool {
	return pos+1 < len(t.data) && t.data[pos] == '=' && t.data[pos+1] == t.dialect.Quote
}

// endsLine reports whether a line end stands at pos, behind the index-th field.
func (t *tolerant) endsLine(pos, index int) bool {
	c := t.data[pos]
	if c == t.dialect.Newline {
		return true
	}
	if c != '\r' {
		return false
	}
	return pos+1 == len(t.data) || t.data[pos+1] == '\n' || index == t.columns-1 || t.everyReturn
}

type verdict int

const (
	closed verdict = iota
	cut            // data ends before the field does
	notQuoted
)

// quoted reads the field whose opening quote stands at open.
func (t *tolerant) quoted(open, index int, broken *int) (columnar.Cell, int, verdict) {
	quote, escape := t.dialect.Quote, t.dialect.Escape
	undo, stray, lines := false, -1, false
	reach, oneLine := len(t.data), t.base+int64(open) < t.unclosed
	if oneLine {
		if newline := bytes.IndexByte(t.data[open:], t.dialect.Newline); newline >= 0 {
			reach = open + newline
		}
	}
	for pos := open + 1; pos < reach; pos++ {
		at := bytes.IndexByte(t.data[pos:reach], quote)
		if at < 0 {
			break
		}
		lines = lines || bytes.IndexByte(t.data[pos:pos+at], t.dialect.Newline) >= 0
		pos += at
		if escape == '\\' && backslashes(t.data[open+1:pos])%2 == 1 {
			undo = true
			continue
		}
		if pos+1 < len(t.data) && t.data[pos+1] == quote {
			undo = true
			pos++
			continue
		}
		if pos+1 == len(t.data) && !t.final {
			return 0, 0, cut
		}
		end := pos + 1
		for end < len(t.data) && t.data[end] == ' ' && t.dialect.Delimiter != ' ' {
			end++
		}
		if end == len(t.data) && !t.final {
			return 0, 0, cut
		}
		if end == len(t.data) || t.data[end] == t.dialect.Delimiter || t.endsLine(end, index) {
			if stray >= 0 {
				*broken = stray
			}
			cell := columnar.NewCell(columnar.CellQuoted, open+1, pos)
			if undo || escape == '\\' {
				cell = t.undo(cell)
			}
			return cell, end, closed
		}
		if lines && t.opens(pos) {
			return 0, 0, notQuoted
		}
		if stray < 0 {
			stray = pos
		}
	}
	if !t.final && reach == len(t.data) && reach-open <= t.maxField {
		return 0, 0, cut
	}
	t.unclosed = max(t.unclosed, t.base+int64(reach))
	return 0, 0, notQuoted
}

// opens reports whether the quote at pos looks like the opening quote of a field.
func (t *tolerant) opens(pos int) bool {
	before := pos - 1
	for before > 0 && t.data[before] == ' ' {
		before--
	}
	return t.data[before] == t.dialect.Delimiter || t.data[before] == t.dialect.Newline
}

// undo takes the escapes out of a quoted cell, where it stands.
func (t *tolerant) undo(cell columnar.Cell) columnar.Cell {
	start, end := cell.Range()
	quote, escape := t.dialect.Quote, t.dialect.Escape
	to := start
	for from := start; from < end; from++ {
		if from+1 < end {
			next := t.data[from+1]
			doubled := t.data[from] == quote && next == quote
			escaped := escape == '\\' && t.data[from] == '\\' && (next == quote || next == '\\')
			if doubled || escaped {
				from++
			}
		}
		t.data[to] = t.data[from]
		to++
	}
	return columnar.NewCell(cell.Kind(), int(start), int(to))
}

// backslashes counts those at the end of p.
func backslashes(p []byte) int {
	return len(p) - len(bytes.TrimRight(p, `\`))
}
