package sheet

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill/internal/columnar"
)

// columnFormat is what is known of the number formats of a column. What its cells become is known only once
// all of them were seen: amounts of one currency are numbers, and those of several are texts with it; durations are
// numbers of seconds where nothing else is beside them.
type columnFormat struct {
	unit string // of the first cell that has one
	// several says that cells have another, numbers that there are numbers without any, and others that there is
	// something else than numbers.
	several, numbers, others bool
}

// The kinds of cells with a unit while they are in the file. No cell of a sheet is of these kinds otherwise. Their texts
// have the number behind the last space: "€ 3.5" and "26:15:00 94500".
const (
	filedAmount   = columnar.CellQuoted
	filedDuration = columnar.CellJSON
)

// note takes a cell.
func (f *columnFormat) note(c *cell) {
	switch {
	case c.unit != "":
		f.several = f.several || f.unit != "" && f.unit != c.unit
		if f.unit == "" {
			f.unit = c.unit
		}
	case c.kind == columnar.CellNumber:
		f.numbers = true
	case c.kind != columnar.CellError:
		f.others = true
	}
}

// common is the unit of all numbers of the column.
func (f columnFormat) common() string {
	if f.several || f.numbers || f.others {
		return ""
	}
	return f.unit
}

// append appends the text of a cell to those of the run, and returns its kind there.
func (w *tableWriter) append(c *cell) columnar.CellKind {
	t, run := w.table, &w.run
	kind := c.kind
	if !w.page {
		if more := c.column + 1 - len(t.formats); more > 0 {
			t.formats = append(t.formats, make([]columnFormat, more)...)
		}
		t.formats[c.column].note(c)
		if c.unit != "" && c.unit != unitSeconds {
			run.Data = append(append(run.Data, c.unit...), ' ')
			kind = filedAmount
		}
	}
	run.Data = append(run.Data, c.text...)
	if !w.page && c.unit == unitSeconds {
		run.Data = appendSeconds(append(run.Data, ' '), c.text)
		kind = filedDuration
	}
	return kind
}

// forget forgets the formats where no column has a unit.
func (t *Table) forget() {
	if !slices.ContainsFunc(t.formats, func(f columnFormat) bool { return f.unit != "" }) {
		t.formats = nil
	}
}

// resolve makes the cells with a unit what they are in their column.
func (t *Table) resolve(run *columnar.Cells) {
	for column := range run.Columns {
		f := t.formatOf(column)
		if f.unit == "" {
			continue
		}
		for i := column; i < len(run.Cell); i += run.Columns {
			from, to := run.Cell[i].Range()
			text := run.Data[from:to]
			switch number := bytes.LastIndexByte(text, ' ') + 1; run.Cell[i].Kind() {
			case filedAmount:
				if f.several {
					run.Cell[i] = columnar.NewCell(columnar.CellPlain, int(from), int(to))
				} else {
					run.Cell[i] = columnar.NewCell(columnar.CellNumber, int(from)+number, int(to))
				}
			case filedDuration:
				if f.common() == "" {
					run.Cell[i] = columnar.NewCell(columnar.CellString, int(from), int(from)+number-1)
				} else {
					run.Cell[i] = columnar.NewCell(columnar.CellNumber, int(from)+number, int(to))
				}
			}
		}
	}
}

// appendSeconds appends how many seconds a duration such as -26:15:00.5 has.
func appendSeconds(to, duration []byte) []byte {
	text, negative := strings.CutPrefix(string(duration), "-")
	seconds, fraction, _ := strings.Cut(text, ".")
	sum := int64(0)
	for part := range strings.SplitSeq(seconds, ":") {
		n, _ := strconv.ParseInt(part, 10, 64) // it is one
		sum = 60*sum + n
	}
	if negative {
		to = append(to, '-')
	}
	to = strconv.AppendInt(to, sum, 10)
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		to = append(append(to, '.'), fraction...)
	}
	return to
}
