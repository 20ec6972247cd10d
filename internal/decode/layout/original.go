package layout

// original finds the header by the rules of the first release: the first row, or a row
// with a name for every column below rows that are not part of the table.
func (f *finder) original(begin int, t *Table) {
	f.width = commonWidth(f.rows)
	t.Width = f.width
	header, named := f.behindPreamble(begin)
	if !named {
		header, named = begin, f.originalNames(begin)
	}
	if t.First = header; named {
		t.Header, t.First = []int{header}, header+1
	}
}

// commonWidth is how many cells most rows have.
func commonWidth(rows []Row) (width int) {
	counts := map[int]int{}
	for i := range rows {
		if !rows[i].Blank {
			counts[len(rows[i].Cells)]++
		}
	}
	for n, count := range counts {
		if most := counts[width]; count > most || count == most && n > width {
			width = n
		}
	}
	return width
}

// originalPreamble is how many rows can be above the header.
const originalPreamble = 50

// behindPreamble finds a header below a title, remarks, or pairs of names and values that
// a blank row follows.
func (f *finder) behindPreamble(first int) (header int, ok bool) {
	apart := true // no row so far is one of the table
	for i := first; i < min(len(f.rows), first+originalPreamble); i++ {
		r := &f.rows[i]
		if r.Blank {
			apart = apart || i > first
			continue
		}
		remark, filled := f.remark(i), r.filled()
		if !remark && len(r.Cells) == f.width && f.width > 1 && filled == f.width {
			return i, i > first && apart && f.originalNames(i)
		}
		if filled > 1 && !remark {
			if filled >= f.width {
				return 0, false
			}
			apart = false
		}
		if i+1 < len(f.rows) && f.rows[i+1].Blank {
			apart = true
		}
	}
	return 0, false
}

// originalNames reports whether a row holds names and no values. Several years or months
// in order are names where those below them are not years and months, too.
func (f *finder) originalNames(i int) bool {
	names, periods, again := 0, 0, 0
	last := ""
	var below Row
	if next := f.next(i + 1); next < len(f.rows) {
		below = f.rows[next]
	}
	for j, cell := range f.rows[i].Cells {
		switch {
		case cell == "":
		case isMonth(cell):
			if last >= cell {
				return false
			}
			last = cell
			periods++
			if isMonth(below.cell(j)) {
				again++
			}
		case LooksTyped(cell):
			return false
		default:
			names++
		}
	}
	return names > 0 && (periods == 0 || periods > 1 && again < periods)
}

// isMonth reports whether a text is a year or a month, such as 2026 or 2026-11.
func isMonth(text string) bool {
	if len(text) != 4 && len(text) != 7 || text[:2] != "19" && text[:2] != "20" {
		return false
	}
	_, ok := periodKey(text)
	return ok && (len(text) == 4 || text[4] == '-')
}

// Short finds the footer by the rules of the first release: up to ten rows behind a blank
// one, with fewer cells than the table has columns. It is the first of them, and the number of rows
// where there are none.
func Short(rows []Row, columns int) int {
	last := len(rows) - 1
	for i := last; i > 0 && i >= last-10; i-- {
		if rows[i].Blank {
			return i + 1
		}
		if len(rows[i].Cells) >= columns {
			break
		}
	}
	return len(rows)
}
