package sheet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

// write adds a row to the table, and rows of nulls where rows before it are missing.
func (w *tableWriter) write(r *line) error {
	t := w.table
	if w.repeats(r) {
		w.last = r.number
		return nil
	}
	for w.last > 0 && w.last < r.number-1 {
		w.last++
		if err := w.add(nil); err != nil {
			return err
		}
	}
	w.last = r.number
	first := min(t.first, r.cells[0].column)
	end := max(t.first+t.width, r.cells[len(r.cells)-1].column+1)
	if first < t.first || end > t.first+t.width {
		if err := w.flush(); err != nil {
			return err
		}
		t.first, t.width = first, end-first
	}
	return w.add(r)
}

// repeats reports whether a row has the names of the columns again.
func (w *tableWriter) repeats(r *line) bool {
	if w.names < 2 || len(r.cells) != w.names || w.exported {
		return false
	}
	for i := range r.cells {
		c := &r.cells[i]
		if c.column-w.named != i || w.table.names[i] == "" || !c.shows(w.table.names[i]) {
			return false
		}
	}
	if w.repeated.Count++; w.repeated.Count == 1 {
		w.repeated.Code = feedmill.WarnRepeatedHeader
		w.repeated.Detail = fmt.Sprintf("Rows that repeat the column names (first: row %d) were left out.", r.number)
	}
	if w.rules > feedmill.RulesFirst && len(w.repeated.Examples) < maxRepeated {
		w.repeated.Examples = append(w.repeated.Examples, feedmill.Example{Line: int64(r.number)})
	}
	return true
}

// noteHidden counts a row of the table that nobody sees who opens the workbook.
func (w *tableWriter) noteHidden(number int) {
	if w.hidden.Count++; w.hidden.Count == 1 {
		w.hidden.Code, w.hidden.FirstRow = feedmill.WarnHiddenRows, w.table.rows
		w.hidden.Detail = fmt.Sprintf("Some rows are hidden in the sheet (first: row %d) and were imported. Delete them in the workbook, or filter the feed, if you do not need them.", number)
	}
}

const (
	// maxRepeated is how many rows that repeat the header a warning names.
	maxRepeated = 20

	runTexts = 1 << 20
	runCells = 1 << 18
)

// add adds a row to the run.
func (w *tableWriter) add(r *line) error {
	t, run := w.table, &w.run
	if len(run.Data) >= runTexts || len(run.Cell)+t.width > runCells {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if run.Rows == 0 {
		*run = columnar.Cells{First: t.rows, Columns: t.width, Data: run.Data[:0], Cell: run.Cell[:0]}
	}
	if !w.textFirst && r != nil && len(r.cells) > 1 && r.cells[0].column == t.first && r.cells[0].kind == columnar.CellString {
		w.textFirst = true
	}
	start := len(run.Cell)
	run.Cell = slices.Grow(run.Cell, t.width)[:start+t.width]
	clear(run.Cell[start:])
	if r != nil {
		for i := range r.cells {
			c := &r.cells[i]
			from := len(run.Data)
			kind := w.append(c)
			run.Cell[start+c.column-w.table.first] = columnar.NewCell(kind, from, len(run.Data))
			if kind == columnar.CellError {
				run.Errors++
			}
		}
	}
	run.Rows++
	t.rows++
	if r != nil && r.hidden {
		w.noteHidden(r.number)
	}
	if most := maxTexts(w.size); w.texts+int64(len(run.Data)) > most {
		return input.Refuse("too-long", "the first %d rows of the sheet have more than %d bytes of text, the maximum for a workbook of %d bytes; the same text is in too many cells", t.rows, most, w.size)
	}
	return input.CheckCells(t.rows, t.width, input.MaxEmptyCells>>3, 4*w.size)
}

// maxTexts is how many bytes of text a workbook of some size can have, once those that its cells
// share and repeat are counted for each.
func maxTexts(size int64) int64 { return min(64<<20+64*size, 4<<30) }

// flush writes the run to the file.
func (w *tableWriter) flush() error {
	t, run := w.table, &w.run
	if run.Rows == 0 {
		return nil
	}
	w.encoded = slices.Grow(w.encoded[:0], 8*len(run.Cell))[:8*len(run.Cell)]
	cells := w.encoded
	for i, c := range run.Cell {
		binary.LittleEndian.PutUint64(cells[8*i:], uint64(c))
	}
	data, err := t.spool.Write(func(out io.Writer) error {
		_, err := io.Copy(out, io.MultiReader(bytes.NewReader(run.Data), bytes.NewReader(cells)))
		return err
	})
	if err != nil {
		return err
	}
	b := block{data: data, texts: len(run.Data), first: t.first, run: *run}
	b.run.Data, b.run.Cell = nil, nil
	t.blocks = append(t.blocks, b)
	w.texts += int64(len(run.Data))
	run.Rows, run.Errors, run.Data = 0, 0, run.Data[:0]
	return nil
}
