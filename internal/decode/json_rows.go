package decode

import "slices"

// rowInBlock is the number of the row that is being read, in its block.
func (r *jsonReader) rowInBlock() int64 { return r.done + int64(r.cells.Rows) }

// beginRow makes ready for the next record. Where it fails, failure says why.
func (r *jsonReader) beginRow() bool {
	r.lastStamp++
	r.stamp = r.lastStamp
	r.log = r.log[:0]
	if r.explosion != nil {
		r.explosion.begin()
		return true
	}
	return r.openRow()
}

// endRow ends the record.
func (r *jsonReader) endRow() bool {
	if r.explosion != nil {
		return r.explosion.end(r)
	}
	r.cells.Rows++
	return true
}

// openRow adds an empty row to the run, or begins another run with it.
func (r *jsonReader) openRow() bool {
	if r.cells.Rows > 0 && (r.cells.Columns != r.columns || len(r.cells.Cell)+r.columns > jsonRunCells) {
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
func (r *jsonReader) addColumn(node *jsonNode, i int) bool {
	columns := r.json.columns
	path := node.path()
	column, filled := columns.lookup(path)
	if column < 0 {
		if r.turn == nil {
			r.failure = errChanged
			return false
		}
		if !r.turn.wait(r.block.index) {
			r.failure = errSuperseded
			return false
		}
		if column = columns.add(node); column >= MaxColumns {
			r.fail(i, "the records have more than %d columns; where they are keys of a map, a path can select its values", MaxColumns)
			return false
		}
	}
	node.column, node.filled = column, filled
	if column < r.columns {
		return true
	}
	r.columns = columns.count()
	return r.explosion != nil || r.widenRow()
}

// widenRow gives the row that is being read as many cells as there are columns
// now. The rows before it are handed on as they are.
func (r *jsonReader) widenRow() bool {
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
func (r *jsonReader) flush() bool {
	if !r.knowFirst() {
		return false
	}
	if !r.json.whole && !r.affordable() {
		return false
	}
	r.cells.First = r.first + r.done
	r.cells.Data = r.data[:r.size]
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
func (r *jsonReader) affordable() bool {
	rows := r.first + r.rowInBlock()
	columns := r.json.columns.count()
	r.failure = checkCells(rows, columns, r.json.emptyCells+32*(r.json.before+r.json.src.Size()))
	return r.failure == nil
}

// checkCells refuses a table that has more cells than it may.
func checkCells(rows int64, columns int, most int64) error {
	if rows*int64(columns) <= most {
		return nil
	}
	return refuse("too-many-cells", "the first %d rows and their %d columns are too many for data of this size: "+
		"almost all cells are empty or repeated; where the columns are keys of a map, a path can select its values", rows, columns)
}

// knowFirst finds the number of the block's first row, which takes all blocks
// before this one in the first reading.
func (r *jsonReader) knowFirst() bool {
	if r.firstKnown {
		return true
	}
	if !r.turn.wait(r.block.index) {
		r.failure = errSuperseded
		return false
	}
	r.first, r.firstKnown = r.turn.rows, true
	return true
}
