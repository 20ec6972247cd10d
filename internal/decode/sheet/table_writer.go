package sheet

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
	"github.com/feedmill/feedmill/internal/decode/layout"
)

// headRows is how many of the first rows tell where the table is, and tailRows how many of the
// last tell where it ends.
const (
	headRows = 400
	tailRows = 24
	// headCells is how many cells the first rows have at most, where 64 bytes of text count as
	// a cell, and tailTexts how long the text of a row may be for others to wait beside it.
	headCells = 1 << 17
	tailTexts = 1 << 20
)

// tableWriter takes the rows of a sheet as they come.
type tableWriter struct {
	table  *Table
	within area
	page   bool
	header int64
	extent layout.Extent
	rules  feedmill.Rules
	// exported says that Feedmill wrote the workbook, so that all rows below the first are data.
	exported bool
	size     int64 // of the workbook
	texts    int64 // bytes that were written
	// charged are the cells of all rows so far, and ahead is how many copies come that are
	// among them.
	charged int64
	ahead   int

	// waiting are rows that are not written yet: the first ones until the table is found, and
	// then the last ones, which may stand behind it. Of free the memory is used again.
	waiting, free []*line
	held          int // cells of the first rows
	found         bool
	named, names  int  // the first column that has a name, and how many have one
	textFirst     bool // a row that was written has text in the first column
	tables
	repeated feedmill.Warning
	hidden   feedmill.Warning

	run     columnar.Cells
	encoded []byte // its cells, as they are written
	last    int    // the number of the row that came last
}

// row takes the next row of the sheet.
func (w *tableWriter) row(from *line) error {
	if err := w.charge(from); err != nil {
		return err
	}
	if from.number-1 < w.within.firstRow || from.number-1 > w.within.lastRow {
		return nil
	}
	texts, err := w.choose(from)
	if err == nil && w.exported {
		return w.exportedRow(from)
	}
	if err != nil || len(from.cells) == 0 {
		return err
	}
	if w.passes(from) {
		return nil
	}
	r := new(line)
	if n := len(w.free); n > 0 {
		r, w.free = w.free[n-1], w.free[:n-1]
	}
	*r, *from = *from, *r
	w.waiting = append(w.waiting, r)
	if !w.found {
		if w.held += len(r.cells) + texts/64; len(w.waiting) < headRows && w.held < headCells {
			return nil
		}
		if err := w.find(); err != nil {
			return err
		}
	}
	if err := w.splitOff(false); err != nil || !w.found {
		return err
	}
	for len(w.waiting) > tailRows || len(w.waiting) > 1 && texts > tailTexts {
		if err := w.write(w.waiting[0]); err != nil {
			return err
		}
		w.free = append(w.free, w.waiting[0])
		w.waiting = append(w.waiting[:0], w.waiting[1:]...)
	}
	return nil
}

// charge counts the cells of a row, and those of its copies before they are made. The sheet
// can have as many as the table: rows that are left out cost as much as others.
func (w *tableWriter) charge(r *line) error {
	if w.ahead > 0 { // a copy
		w.ahead--
		return nil
	}
	w.ahead = r.copies
	w.charged += int64(len(r.cells)) * int64(1+r.copies)
	if most := maxCells(w.size); w.charged > most {
		return input.Refuse("too-many-cells", "row %d of the sheet and its %d copies have %d cells; the sheet exceeds %d cells, the maximum for a workbook of %d bytes. Delete the repeated rows or columns",
			r.number, r.copies, int64(len(r.cells))*int64(1+r.copies), most, w.size)
	}
	return nil
}

// maxCells is how many cells a workbook of some size can have.
func maxCells(size int64) int64 { return input.MaxEmptyCells>>3 + input.CellsOfByte*4*size }

// choose leaves a row only those cells that have a value and are in the area, and returns how long their
// texts are.
func (w *tableWriter) choose(r *line) (texts int, err error) {
	kept := 0
	for i := range r.cells {
		c := &r.cells[i]
		if c.column < w.within.firstColumn || c.column > w.within.lastColumn || c.kind == columnar.CellMissing {
			continue
		}
		if texts += len(c.text); texts > input.MaxRecordBytes {
			return 0, input.Refuse("too-long", "row %d of the sheet has more than %d bytes of text, the maximum", r.number, input.MaxRecordBytes)
		}
		if kept < i {
			r.cells[kept] = *c
		}
		kept++
	}
	r.cells = r.cells[:kept]
	return texts, nil
}

// find finds the table in the rows that have come, and writes those that are data.
func (w *tableWriter) find() error {
	w.found = true
	if len(w.waiting) == 0 {
		return nil
	}
	w.table.first = w.waiting[0].cells[0].column
	for _, r := range w.waiting {
		w.table.first = min(w.table.first, r.cells[0].column)
	}
	rows := w.layoutRows(w.waiting)
	first := rows
	if w.extent.Table > 0 && w.header == 0 {
		first = rows[:layout.FirstTable(rows)]
	}
	place, err := layout.Find(first, w.header, w.rules)
	if err != nil {
		return err
	}
	t := w.table
	t.warnings = append(t.warnings, place.Warnings...)
	w.noteGaps()
	t.names, t.units, w.names, w.named = place.Names, place.Units, len(place.Names), t.first
	t.width = max(len(t.names), place.Width)
	if len(place.Header) > 0 {
		t.found.Header = feedmill.LineFinding{Finding: feedmill.Finding{Value: fmt.Sprint(rows[place.Header[0]].Line), By: feedmill.ByFound}}
		if w.rules > feedmill.RulesFirst && !place.Proven {
			t.found.Header.By = feedmill.ByAssumed
		}
		if w.header > 0 {
			t.found.Header.By = feedmill.BySet
		}
	}
	data := w.waiting
	for len(data) > 0 && place.First < len(rows) && int64(data[0].number) < rows[place.First].Line {
		data = data[1:]
	}
	if place.First >= len(rows) {
		data = nil
	}
	if len(data) > 0 {
		w.last = data[0].number - 1
	}
	w.waiting = slices.Clone(data)
	if w.rules > feedmill.RulesFirst {
		w.narrow()
	}
	return nil
}

// layoutRows are rows as the finder of tables takes them, with a blank row where rows are missing.
func (w *tableWriter) layoutRows(waiting []*line) (rows []layout.Row) {
	first, end := w.table.first, w.table.first+w.table.width
	for _, r := range waiting {
		first, end = min(first, r.cells[0].column), max(end, r.cells[len(r.cells)-1].column+1)
	}
	for i, r := range waiting {
		if i > 0 && r.number > waiting[i-1].number+1 {
			rows = append(rows, layout.Row{Line: int64(waiting[i-1].number + 1), Blank: true})
		}
		cells := make([]string, end-first)
		for _, c := range r.cells {
			cells[c.column-first] = shown(c)
		}
		rows = append(rows, layout.Row{Line: int64(r.number), Cells: cells})
	}
	return rows
}

// shown is a cell as text.
func shown(c cell) string {
	switch c.kind {
	case columnar.CellTrue:
		return "true"
	case columnar.CellFalse:
		return "false"
	}
	return strings.TrimSpace(string(c.text))
}

// shows reports whether a cell is a text, as [shown] shows it.
func (c *cell) shows(text string) bool {
	if c.kind == columnar.CellTrue || c.kind == columnar.CellFalse {
		return shown(*c) == text
	}
	return string(bytes.TrimSpace(c.text)) == text
}

// end takes the rows that still wait: all of them in a small sheet.
func (w *tableWriter) end() error {
	if err := w.splitRest(); err != nil {
		return err
	}
	t := w.table
	data := w.waiting
	if len(data) > 0 {
		rows := w.layoutRows(data)
		if end := w.extent.First(rows, t.width, w.textFirst); end < len(rows) {
			for len(data) > 0 && int64(data[len(data)-1].number) >= rows[end].Line {
				data = data[:len(data)-1]
			}
			if dropped := w.waiting[len(data):]; len(data) > 0 || t.rows > 0 {
				t.warnings = append(t.warnings, feedmill.Warning{
					Code: feedmill.WarnFooter, Count: int64(len(dropped)), Examples: w.footerExamples(dropped),
					Detail: layout.Lines(int64(dropped[0].number), int64(dropped[len(dropped)-1].number), "after the last row was", "after the last row were") + " left out. Set footer=keep to import every row.",
				})
			} else {
				data = w.waiting
			}
		}
	}
	for _, r := range data {
		if err := w.write(r); err != nil {
			return err
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	t.forget()
	for _, warning := range []feedmill.Warning{w.repeated, w.hidden, w.secondTable()} {
		if warning.Count > 0 {
			t.warnings = append(t.warnings, warning)
		}
	}
	// Columns that no name stands above have none, at the left of the others too.
	before := make([]string, w.named-t.first)
	t.names = append(slices.Concat(before, t.names), make([]string, t.width-len(t.names)-len(before))...)
	if t.units != nil {
		t.units = slices.Concat(before, t.units)
	}
	if t.rows == 0 {
		t.warnings = append(t.warnings, feedmill.Warning{Code: feedmill.WarnNoRows, Count: 1, Detail: "The sheet has no rows of data."})
	}
	return nil
}
