package sheet

import (
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

// tables tells several tables of one sheet apart, while its rows come.
type tables struct {
	// number is that of the table whose rows come, from 1.
	number int
	// gap says that a row waits that follows a missing one and was not checked, and checked is
	// the last such row that was.
	gap     bool
	checked int
	// second is the header of the table behind the one that is read, from its first row, and
	// behind its last, 0 where there is no such table.
	second       layout.Row
	from, behind int
}

// lookAhead is how many rows must be there to tell whether a table begins with the first,
// or with titles above it.
const lookAhead = 8

// passes reports whether a row is of a table behind the one that is read, and else notes that
// a row is missing before it.
func (w *tableWriter) passes(r *line) bool {
	if w.behind > 0 {
		w.behind = r.number
		return true
	}
	if n := len(w.waiting); w.extent.Table > 0 && n > 0 && r.number > w.waiting[n-1].number+1 {
		w.gap = true
	}
	return false
}

// noteGaps has the first rows checked for further tables.
func (w *tableWriter) noteGaps() { w.gap = w.extent.Table > 0 }

// splitOff finds out whether another table begins among the rows that wait. Final says that no
// more come.
func (w *tableWriter) splitOff(final bool) error {
	if !w.gap {
		return nil
	}
	for i := 1; i < len(w.waiting); i++ {
		r := w.waiting[i]
		if r.number <= w.checked || r.number == w.waiting[i-1].number+1 {
			continue
		}
		if !final && len(w.waiting)-i < lookAhead {
			return nil
		}
		w.checked = r.number
		if w.table.width < 2 {
			continue
		}
		rows := w.layoutRows(w.waiting[i:])
		header := layout.Second(rows, w.layoutNames(), w.textFirst)
		if header < 0 {
			continue
		}
		w.split(i, rows[header])
		return nil
	}
	w.gap = false
	return nil
}

// layoutNames are the names of the columns as rows of the layout have them.
func (w *tableWriter) layoutNames() []string {
	first := w.table.first
	for _, r := range w.waiting {
		first = min(first, r.cells[0].column)
	}
	return slices.Concat(make([]string, max(w.named-first, 0)), w.table.names)
}

// split ends the table before a row that waits, of a table with a header. It is the one that is wanted, or the rows so far
// are forgotten.
func (w *tableWriter) split(at int, header layout.Row) {
	t, rest := w.table, w.waiting[at:]
	if w.number == w.extent.Table {
		w.second, w.from, w.behind = header, rest[0].number, rest[len(rest)-1].number
		w.waiting = w.waiting[:at]
		w.narrow()
		return
	}
	w.number++
	w.waiting, w.found, w.held, w.last, w.textFirst = slices.Clone(rest), false, 0, 0, false
	w.repeated, w.hidden, w.run = feedmill.Warning{}, feedmill.Warning{}, columnar.Cells{}
	*t = Table{spool: t.spool}
}

// narrow leaves out columns at the sides of the table that only titles above it and the tables
// behind it have.
func (w *tableWriter) narrow() {
	t := w.table
	if t.rows > 0 || len(t.names) == 0 {
		return // the first rows, which have its width, are written
	}
	from, to := w.named, w.named+len(t.names)
	empty := func(column int) bool {
		return t.names[column-w.named] == "" && !slices.ContainsFunc(w.waiting, func(r *line) bool {
			return slices.ContainsFunc(r.cells, func(c cell) bool { return c.column == column })
		})
	}
	for to > from && empty(to-1) {
		to--
	}
	for from < to && empty(from) {
		from++
	}
	last := to
	for _, r := range w.waiting {
		last = max(last, r.cells[len(r.cells)-1].column+1)
	}
	if t.units != nil {
		t.units = t.units[min(from-w.named, len(t.units)):min(to-w.named, len(t.units))]
	}
	t.names = t.names[from-w.named : to-w.named]
	t.first, t.width, w.named, w.names = from, last-from, from, len(t.names)
}

// splitRest finds the table among the rows that wait, once all are there.
func (w *tableWriter) splitRest() error {
	for {
		if !w.found {
			if err := w.find(); err != nil {
				return err
			}
		}
		number := w.number
		if w.behind == 0 {
			if err := w.splitOff(true); err != nil {
				return err
			}
		}
		if w.number == number {
			break
		}
	}
	if w.extent.Table > w.number {
		return layout.NoTable(w.extent.Table, w.number)
	}
	return nil
}

// secondTable warns of the table behind the one that is read.
func (w *tableWriter) secondTable() feedmill.Warning {
	if w.behind == 0 {
		return feedmill.Warning{}
	}
	return layout.SecondTable(int64(w.from), w.second, int64(w.behind), w.number+1)
}

// footerExamples are the rows that are dropped below the table.
func (w *tableWriter) footerExamples(dropped []*line) (examples []feedmill.Example) {
	for _, r := range dropped {
		var cells []string
		for _, c := range r.cells {
			cells = append(cells, shown(c))
		}
		examples = append(examples, feedmill.Example{Line: int64(r.number), Value: layout.Excerpt(strings.Join(cells, " | "))})
	}
	return examples
}
