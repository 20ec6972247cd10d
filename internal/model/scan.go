package model

import (
	"github.com/feedmill/feedmill/internal/columnar"
)

// scan is the work on one column of one run of records: loops that each expect
// one shape and run for as long as they find it.
type scan struct {
	*column
	cells  *columnar.Cells
	index  int // of the column
	row    int
	tokens *nullTokens
}

// scan goes through all cells of a column.
func (c *column) scan(cells *columnar.Cells, index int, tokens *nullTokens) {
	l := scan{column: c, cells: cells, index: index, tokens: tokens}
	if c.settled && !c.givenUp {
		l.passOver()
	}
	for l.row < cells.Rows {
		if c.givenUp {
			l.onlyNulls()
			break
		}
		l.one()
	}
	c.rows += int64(cells.Rows)
}

// kinds of cells as bits.
const (
	anyText = 1<<columnar.CellPlain | 1<<columnar.CellQuoted
	digital = anyText | 1<<columnar.CellNumber
	textual = anyText | 1<<columnar.CellString
	dated   = anyText | 1<<columnar.CellString | 1<<columnar.CellDate
	nothing = 1<<columnar.CellMissing | 1<<columnar.CellNull | 1<<columnar.CellPlain
)

func (l *scan) at() columnar.Cell { return l.cells.Cell[l.row*l.cells.Columns+l.index] }

// null counts a cell without text that holds no value, and reports false for others.
func (l *scan) null(cell columnar.Cell) bool {
	switch kind := cell.Kind(); {
	case nothing>>kind&1 != 0:
		l.column.nulls++
	case kind == columnar.CellQuoted:
		l.empties++
	default:
		return false
	}
	return true
}

// one classifies the next cell, whatever it is, and goes on with the loop for
// cells of its shape.
func (l *scan) one() {
	cell := l.at()
	if cell.Empty() && l.null(cell) {
		l.row++
		return
	}
	v := l.tokens.classify(cell.Kind(), l.cells.Text(cell))
	l.value(l.cells.First+int64(l.row), &v)
	l.row++
	switch v.shape {
	case shapeInteger:
		l.integers()
	case shapeDecimal:
		l.decimals(v.amount.point.scale)
	case shapeDate, shapeTime:
		switch {
		case l.clock != nil: // each has to be looked up
		case v.shape == shapeDate:
			l.dates()
		default:
			l.times()
		}
	case shapeBoolean:
		l.booleans()
	case shapeText:
		l.texts()
	}
}

// seen adds what a loop has found from a row on.
func (l *scan) seen(s shape, from int, found int64) {
	if found == 0 {
		return
	}
	t := &l.tallies[s]
	t.count += found
	for row := from; row < l.row && t.wants(l.cells.First+int64(row)); row++ {
		cell := l.cells.At(row, l.index)
		if cell.Empty() && !isTruth(cell.Kind()) {
			continue
		}
		// A loop can count several shapes, so that each cell has to be looked at.
		if text := l.cells.Text(cell); l.tokens.classify(cell.Kind(), text).shape == s {
			t.remember(example{l.cells.First + int64(row), sample(text)})
		}
	}
}

// maxPadded is how many digits can be no date, which has at least six characters: with a leading
// zero they are nothing else than text.
const maxPadded = 5

// integers runs over whole numbers of up to 15 digits. Short ones that begin with a zero, which
// are text, are counted beside them: columns of postal codes alternate between the two.
func (l *scan) integers() {
	data, stride := l.cells.Data, l.cells.Columns
	from, found, longest := -1, int64(0), 0
	fromPadded, padded := -1, int64(0)
	at := l.row*stride + l.index
	for ; l.row < l.cells.Rows; l.row++ {
		cell := l.cells.Cell[at]
		at += stride
		s, e := cell.Range()
		start, end := int(s), int(e)
		if start == end {
			if l.null(cell) {
				continue
			}
			break
		}
		start += one(data[start] == '-')
		n := end - start
		if uint(n-1) >= 15 || digital>>cell.Kind()&1 == 0 {
			break
		}
		if n <= 8 && end >= 8 {
			if !digits8(lastBytes(data, end, n)) {
				break
			}
		} else if !allDigits(data, start, end) {
			break
		}
		if n > 1 && data[start] == '0' {
			if n > maxPadded || start != int(s) || anyText>>cell.Kind()&1 == 0 {
				break
			}
			if padded == 0 {
				fromPadded = l.row
			}
			padded++
			if !l.sole.several {
				l.sole.add(data[start:end])
			}
			continue
		}
		if found == 0 {
			from = l.row
		}
		found++
		longest = max(longest, n)
	}
	l.seen(shapeInteger, from, found)
	l.seen(shapeText, fromPadded, padded)
	l.point, l.comma = l.point.max(extent{whole: longest}), l.comma.max(extent{whole: longest})
}

// decimals runs over numbers with a point and others without, of up to 15
// digits. The scale is how many digits stand after the point, most of the time. It is one loop
// without calls, because it runs for every value.
func (l *scan) decimals(scale int) {
	scale = min(max(scale, 1), 7)
	data, stride := l.cells.Data, l.cells.Columns
	var from [2]int
	var found [2]int64
	size := extent{}
	grouped := extent{} // those that could be whole numbers in groups of three digits
	at := l.row*stride + l.index
	for ; l.row < l.cells.Rows; l.row++ {
		cell := l.cells.Cell[at]
		at += stride
		s, e := cell.Range()
		start, end := int(s), int(e)
		if start == end {
			if l.null(cell) {
				continue
			}
			break
		}
		if data[start] == '-' {
			start++
		}
		whole, fraction := 0, scale
		if digital>>cell.Kind()&1 == 0 {
			break
		}
		if shift := uint(8*(7-scale)) & 63; uint(end-start-1) < 8 && end >= 8 && byte(lastBytes(data, end, end-start)>>shift) == '.' {
			// The point is made a digit so that one check covers all bytes.
			if !digits8(lastBytes(data, end, end-start) ^ ('.'^'0')<<shift) {
				break
			}
			whole = end - start - 1 - scale
		} else if uint(end-start-9) < 8 && end >= 16 && byte(lastBytes(data, end, 8)>>shift) == '.' {
			if !digits8(lastBytes(data, end, 8)^('.'^'0')<<shift) || !digits8(lastBytes(data, end-8, end-start-8)) {
				break
			}
			whole = end - start - 1 - scale
		} else {
			whole = leadingDigits(data[start:end])
			fraction = max(0, end-start-whole-1)
			if fraction == 0 && whole < end-start || fraction > 0 && (data[start+whole] != '.' || !allDigits(data, end-fraction, end)) {
				break
			}
		}
		if whole == 0 || whole+fraction > 15 || whole > 1 && data[start] == '0' {
			break
		}
		i := 0
		if fraction > 0 {
			i, scale = 1, min(fraction, 7)
			if fraction == 3 && whole <= 3 && data[start] != '0' {
				grouped.whole = max(grouped.whole, whole+3)
				l.points++
			} else {
				l.read &= point
			}
		}
		if found[i] == 0 {
			from[i] = l.row
		}
		found[i]++
		size = extent{max(size.whole, whole), max(size.scale, fraction)}
	}
	l.seen(shapeInteger, from[0], found[0])
	l.seen(shapeDecimal, from[1], found[1])
	l.point, l.comma = l.point.max(size), l.comma.max(grouped)
	if found[0] > 0 {
		l.comma.whole = max(l.comma.whole, size.whole)
	}
}

// dates runs over days.
func (l *scan) dates() {
	l.while(shapeDate, func(data []byte, start, end int) bool {
		d, ok := parseDate(data, start, end)
		return ok && d.real()
	})
}

// times runs over days with times.
func (l *scan) times() {
	l.while(shapeTime, func(data []byte, start, end int) bool {
		// This is how most times are written.
		if _, _, ok := parseSeconds(data, start, end); ok {
			return true
		}
		m, ok := parseMoment(data, start, end)
		return ok && m.timed && !m.overrun
	})
}

// while runs over cells whose texts are dates or times of a shape.
func (l *scan) while(s shape, is func(data []byte, start, end int) bool) {
	data, stride := l.cells.Data, l.cells.Columns
	from, found := -1, int64(0)
	at := l.row*stride + l.index
	for ; l.row < l.cells.Rows; l.row++ {
		cell := l.cells.Cell[at]
		at += stride
		start, end := cell.Range()
		if start == end {
			if l.null(cell) {
				continue
			}
			break
		}
		if dated>>cell.Kind()&1 == 0 || !is(data, int(start), int(end)) {
			break
		}
		if found == 0 {
			from = l.row
		}
		found++
	}
	l.seen(s, from, found)
	if found > 0 {
		l.namedLong = true
		l.format.add("")
	}
}

// texts runs over cells that can be nothing else than text. Short numbers which the source says
// are text are among them.
func (l *scan) texts() {
	data, stride := l.cells.Data, l.cells.Columns
	from, found, numeric := -1, int64(0), int64(0) // numeric is how many texts there were up to the last number
	at := l.row*stride + l.index
	for ; l.row < l.cells.Rows; l.row++ {
		cell := l.cells.Cell[at]
		at += stride
		start, end := cell.Range()
		if start == end {
			if l.null(cell) {
				continue
			}
			break
		}
		if textual>>cell.Kind()&1 == 0 {
			break
		}
		// Most texts are words; the others need a closer look.
		sure := end-start > 5 && ends[data[start]]&begins != 0 && ends[data[end-1]]&closes != 0 || surelyText(data[start:end:end])
		if !sure && (cell.Kind() != columnar.CellString || end-start > maxPadded || !allDigits(data, int(start), int(end))) {
			break
		}
		if found == 0 {
			from = l.row
		}
		if found++; !sure {
			l.numeric++
			numeric = found
		}
		if !l.sole.several {
			l.sole.add(data[start:end])
		}
	}
	l.seen(shapeText, from, found)
	l.settled = l.settled || found-numeric > settledTexts || l.row == l.cells.Rows && l.texted() > settledTexts
}

// texted counts the texts of a column that has nothing else, and is 0 for others. Runs of
// a wide table have few rows, so that texts in a row reach over several.
func (l *scan) texted() int64 {
	for s := range l.tallies {
		if shape(s) != shapeText && l.tallies[s].count > 0 {
			return 0
		}
	}
	return l.tallies[shapeText].count
}

// Of a column that is text, because so many texts stood in a row, a run is
// passed over where so many of its cells, evenly spread, are surely text: a
// close look at all of them would take most of the time, and can change no more
// than the warning that some of the texts are numbers or dates.
const (
	settledTexts = 256
	samples      = 16
)

// passOver counts all cells of the run as text, where they look like it.
func (l *scan) passOver() {
	rows, stride := l.cells.Rows, l.cells.Columns
	if rows < samples*4 {
		return
	}
	for i := range samples {
		cell := l.cells.Cell[(rows*i/samples)*stride+l.index]
		if cell.Empty() {
			continue
		}
		if textual>>cell.Kind()&1 == 0 || !surelyText(l.cells.Text(cell)) {
			return
		}
		l.sole.add(l.cells.Text(cell))
	}
	found := int64(0)
	for at := l.index; at < len(l.cells.Cell); at += stride {
		if cell := l.cells.Cell[at]; !cell.Empty() || !l.null(cell) {
			found++
		}
	}
	l.tallies[shapeText].count += found
	l.row = rows
}

// onlyNulls finds out whether there is any null, for a column that is text.
func (l *scan) onlyNulls() {
	for ; l.row < l.cells.Rows && l.column.nulls == 0; l.row++ {
		if isNull(l.at()) {
			l.column.nulls++
		}
	}
}
