package csv

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

// Dialect is how a table is written in separated fields. All its characters are ASCII.
type Dialect struct {
	Delimiter byte
	// Quote is the character around fields that hold others of their own,
	// 0 where there is none.
	Quote byte
	// Escape is what stands before a quote inside quotes: the quote itself,
	// or a backslash.
	Escape byte
	// Newline is the last character of a line end: a line feed, before
	// which a carriage return may stand, or a carriage return alone.
	Newline byte
	// Padded says that a space stands behind each delimiter and belongs to it, and
	// Spaces, where the delimiter is a space, how many of them separate fields at
	// least; more of them are one delimiter, too.
	Padded bool
	Spaces int
}

// delimiters are those that are looked for, in the order in which they are
// preferred. Those from certain on are rare and must split every record into as
// many fields.
var delimiters = []byte(",;\t|^~\x1f\x01")

const certain = 4

// trial is a dialect with what the head of the data looks like in it.
type trial struct {
	Dialect
	records [][]columnar.Cell
	data    []byte
	// offsets is where each record begins, and where the last one ends.
	offsets []int
	// width is how many fields most records have, and agree the share of
	// records that have as many, in twentieths.
	width, agree int
	// typed is the share of fields that look like numbers or dates, in twentieths.
	typed  int
	broken int64
	// tooMany says that the first record has more fields than any table.
	tooMany bool
}

// findDialect finds the dialect of the head of a text, which is all of it
// where final is set. What the options do not say is looked for.
func findDialect(head []byte, final bool, options Options) *trial {
	newline := byte('\n')
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
		newline = '\r'
	}
	among := delimiters
	if options.Delimiter != 0 {
		among = []byte{options.Delimiter}
	}
	quote := byte('"')
	switch options.Quote {
	case 0:
	case NoQuote:
		quote = 0
	default:
		quote = options.Quote
	}
	original := options.Rules == feedmill.RulesOriginal
	try := func(dialect Dialect) *trial {
		t := tryDialect(head, final, dialect)
		if original {
			t.measureAll() // titles above the table do not make room for it
		}
		return t
	}
	best := try(Dialect{Delimiter: among[0], Quote: quote, Escape: quote, Newline: newline})
	for i, delimiter := range among[1:] {
		next := try(Dialect{Delimiter: delimiter, Quote: quote, Escape: quote, Newline: newline})
		if next.better(best) && (i+1 < certain || next.agree == 20 && len(next.records) > 1) {
			best = next
		}
	}
	for _, other := range []Dialect{
		{Delimiter: best.Delimiter, Quote: quote, Escape: '\\', Newline: newline},
		{Delimiter: best.Delimiter, Quote: '\'', Escape: '\'', Newline: newline},
	} {
		if options.Quote != 0 && (quote == 0 || other.Quote != quote) {
			continue
		}
		next := try(other)
		if other.Escape == '\\' && best.broken > 0 && next.broken < best.broken && next.width >= best.width ||
			other.Quote == '\'' && next.quotesProven() && next.agree >= best.agree && next.width > 0 {
			return next
		}
	}
	if original {
		return best
	}
	if best.width <= 1 && options.Delimiter == 0 || options.Delimiter == ' ' {
		best = best.orSpaces(head, final, options.Delimiter == ' ')
	}
	if best.padded() {
		padded := best.Dialect
		padded.Padded = true
		return try(padded)
	}
	return best
}

// better reports whether t explains the data better than o, which is preferred
// where both do as well.
func (t *trial) better(o *trial) bool {
	if t.tooMany != o.tooMany {
		return t.tooMany
	}
	if (t.width > 1) != (o.width > 1) {
		return t.width > 1
	}
	if t.width <= 1 && t.splitsFirst() != o.splitsFirst() {
		return t.splitsFirst()
	}
	return slices.Compare(t.rank(), o.rank()) > 0
}

// splitsFirst reports whether the first record has several fields, although most
// others have one.
func (t *trial) splitsFirst() bool { return len(t.records) > 0 && len(t.records[0]) > 1 }

func (t *trial) rank() []int {
	clean, first := 0, 0
	if t.broken*10 < int64(len(t.records)) || t.broken == 0 {
		clean = 1
	}
	if len(t.records) > 0 && len(t.records[0]) == t.width {
		first = 1
	}
	return []int{clean, t.agree, first, t.typed, t.width}
}

// tryDialect reads the head of the data in a dialect.
func tryDialect(head []byte, final bool, dialect Dialect) *trial {
	t := &trial{Dialect: dialect, data: bytes.Clone(head), offsets: []int{0}}
	reader := tolerant{dialect: dialect, special: dialect.special(), data: t.data, final: final, everyReturn: true, maxField: input.MaxFieldBytes}
	if !final {
		reader.data = bytes.TrimRight(t.data, "\r")
	}
	for pos := 0; pos < len(reader.data); {
		first, broken := len(reader.cells), reader.broken
		next, complete := reader.record(pos, 0)
		if !complete {
			reader.cells, reader.broken = reader.cells[:first], broken
			t.tooMany = reader.tooMany && t.blankSoFar()
			if pos > len(reader.data)/2 || reader.tooMany {
				break
			}
			// A record of that length is more likely to have a quote too many.
			reader.final = true
			continue
		}
		t.records = append(t.records, reader.cells[first:len(reader.cells):len(reader.cells)])
		t.offsets = append(t.offsets, next)
		pos = next
	}
	t.broken = reader.broken.count
	t.measure()
	return t
}

// blankSoFar reports whether no record was found yet.
func (t *trial) blankSoFar() bool { return t.nextLine(0) == len(t.records) }

// measure looks at how many fields the records have and what is in them. Titles that are
// more than the rows of a table do not count.
func (t *trial) measure() {
	widths := t.measureAll()
	if t.width == 1 && widths[1] <= maxPreamble {
		t.measureBottom()
	}
	if t.width == 1 && widths[1] <= maxPreamble {
		t.measureBelow()
	}
}

// measureAll is measure for all records alike. It returns how many records have each number of fields.
func (t *trial) measureAll() (widths map[int]int) {
	widths = make(map[int]int)
	t.width = 0
	lines, typed, all := 0, 0, 0
	for i, record := range t.records {
		if t.blank(i) {
			continue
		}
		lines++
		widths[len(record)]++
		for _, cell := range record {
			if !cell.Empty() {
				all++
				if layout.LooksTyped(string(t.text(cell))) {
					typed++
				}
			}
		}
	}
	for width, count := range widths {
		if c := cmp.Compare(count, widths[t.width]); c > 0 || c == 0 && width > t.width {
			t.width = width
		}
	}
	t.agree = widths[t.width] * 20 / max(lines, 1)
	t.typed = typed * 20 / max(all, 1)
	return widths
}

// maxPreamble is how many lines without any delimiter can stand above a table that
// has fewer lines.
const maxPreamble = 200

// measureBottom finds a table below more lines than it has: at least three of as
// many fields, with values in them, and none above.
func (t *trial) measureBottom() {
	last := len(t.records) - 1
	for last >= 0 && (t.blank(last) || len(t.records[last]) == 1) {
		last--
	}
	if last < 0 {
		return
	}
	first, typed := last, false
	for ; first >= 0 && len(t.records[first]) == len(t.records[last]); first-- {
		for _, cell := range t.records[first] {
			typed = typed || !cell.Empty() && layout.LooksTyped(string(t.text(cell)))
		}
	}
	rows := last - first
	for ; first >= 0; first-- {
		if len(t.records[first]) > 1 {
			return
		}
	}
	if rows >= 3 && typed {
		t.width, t.agree = len(t.records[last]), 20
	}
}

// measureBelow finds a table below lines without any delimiter that has other lines behind it, such
// as another table: at least three of as many fields, with values in them, and most of the
// lines from the first one on have several.
func (t *trial) measureBelow() {
	first := 0
	for first < len(t.records) && len(t.records[first]) == 1 {
		first++
	}
	if first == len(t.records) {
		return
	}
	width := len(t.records[first])
	rows, lines, typed := 0, 0, false
	for i := first; i < len(t.records); i++ {
		if t.blank(i) {
			continue
		}
		if lines++; len(t.records[i]) == width {
			rows++
		}
		for _, cell := range t.records[i] {
			typed = typed || len(t.records[i]) == width && i > first && !cell.Empty() && layout.LooksTyped(string(t.text(cell)))
		}
	}
	several := 0
	for _, record := range t.records[first:] {
		if len(record) > 1 {
			several++
		}
	}
	if rows >= 3 && typed && several*10 >= lines*9 {
		t.width, t.agree = width, rows*20/lines
	}
}

func (t *trial) text(cell columnar.Cell) []byte {
	start, end := cell.Range()
	return t.data[start:end]
}

// blank reports whether the record is an empty line.
func (t *trial) blank(record int) bool {
	cells := t.records[record]
	return len(cells) == 1 && cells[0].Kind() == columnar.CellPlain && cells[0].Empty()
}

// quotesProven reports whether the quotes of the trial are more than
// apostrophes: several fields stand in them, none is broken, and no field stands
// in double quotes.
func (t *trial) quotesProven() bool {
	quoted := 0
	for _, record := range t.records {
		for _, cell := range record {
			text := t.text(cell)
			if cell.Kind() == columnar.CellQuoted {
				quoted++
			} else if len(text) > 0 && text[0] == '"' {
				return false
			}
		}
	}
	return quoted > 1 && t.broken == 0
}
