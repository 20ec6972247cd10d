package json

import (
	"slices"

	"github.com/feedmill/feedmill/internal/decode/input"
)

// rowInBlock is the number of the row that is being read, in its block.
func (r *recordReader) rowInBlock() int64 { return r.done + int64(r.cells.Rows) }

// beginRow makes ready for the next record. Where it fails, failure says why.
func (r *recordReader) beginRow() bool {
	r.lastStamp++
	r.stamp = r.lastStamp
	r.log = r.log[:0]
	if len(r.grown) > maxGrown {
		if r.cells.Rows > 0 && !r.flush() {
			return false
		}
		r.grown = r.grown[:0]
	}
	if r.explosion != nil {
		r.explosion.Begin()
		return true
	}
	return r.openRow()
}

// endRow ends the record.
func (r *recordReader) endRow() bool {
	if r.explosion != nil {
		return r.explodedRows()
	}
	r.cells.Rows++
	return true
}

// openRow adds an empty row to the run, or begins another run with it.
func (r *recordReader) openRow() bool {
	if r.cells.Rows > 0 && (r.cells.Columns != r.columns || len(r.cells.Cell)+r.columns > maxRunCells) {
		if !r.flush() {
			return false
		}
	}
	r.cells.Columns = r.columns
	start := len(r.cells.Cell)
	r.cells.Cell = slices.Grow(r.cells.Cell, r.columns)[:start+r.columns]
	r.row = r.cells.Cell[start:]
	clear(r.row)
	return true
}

// addColumn gives the values of a name a column, for a value at i. Columns
// are numbered in the order of the data, so one that nobody knows yet waits for all
// blocks before this one.
func (r *recordReader) addColumn(node *nameNode, i int) bool {
	columns := r.table.columns
	path := node.path()
	column := columns.lookup(path)
	if column < 0 {
		if r.turn == nil {
			r.failure = input.ErrChanged
			return false
		}
		if !r.turn.Wait(r.block.index) {
			r.failure = input.ErrSuperseded
			return false
		}
		if column = columns.add(node); column >= input.MaxColumns {
			r.fail(i, "the records have more than %d columns, the maximum; if the keys are data, set path to select their values, such as $.*", input.MaxColumns)
			return false
		}
	}
	node.column = column
	if column < r.columns {
		return true
	}
	r.columns = columns.count()
	return r.explosion != nil || r.widenRow()
}

// widenRow gives the row that is being read as many cells as there are columns
// now. The rows before it are handed on as they are.
func (r *recordReader) widenRow() bool {
	if r.cells.Rows == 0 {
		was := len(r.row)
		r.cells.Cell = slices.Grow(r.cells.Cell, r.columns-was)[:r.columns]
		clear(r.cells.Cell[was:])
		r.row, r.cells.Columns = r.cells.Cell, r.columns
		return true
	}
	row := slices.Clone(r.row)
	r.cells.Cell = r.cells.Cell[:len(r.cells.Cell)-len(row)]
	if !r.flush() || !r.openRow() {
		return false
	}
	copy(r.row, row)
	return true
}

// flush hands the rows on that are there.
func (r *recordReader) flush() bool {
	r.long.End()
	if !r.knowFirst() {
		return false
	}
	if !r.table.whole && !r.affordable() {
		return false
	}
	r.cells.First = r.first + r.done
	r.cells.Data = append(r.data[:r.size:r.size], r.grown...)
	if r.table.contextAt != nil {
		r.surround()
	}
	if err := r.emit(&r.cells); err != nil {
		r.failure = err
		return false
	}
	r.done += int64(r.cells.Rows)
	r.cells.Rows, r.cells.Cell = 0, r.cells.Cell[:0]
	return true
}

// affordable reports whether the table so far is not too large for its data.
// It keeps a small file from becoming a huge table of nothing.
func (r *recordReader) affordable() bool {
	rows := r.first + r.rowInBlock()
	columns := r.table.columns.count()
	r.failure = input.CheckCells(rows, columns, r.table.limits.emptyCells, r.table.bytesBefore+r.table.src.Size())
	return r.failure == nil
}

// knowFirst finds the number of the block's first row, which takes all blocks
// before this one in the first reading.
func (r *recordReader) knowFirst() bool {
	if r.firstKnown {
		return true
	}
	r.long.End()
	if !r.turn.Wait(r.block.index) {
		r.failure = input.ErrSuperseded
		return false
	}
	r.first, r.firstKnown = r.turn.Rows, true
	return true
}
