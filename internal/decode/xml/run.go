package xml

import (
	"slices"

	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode/input"
)

const (
	// maxRunCells is how many cells a run has at most, and runBytes about how much text.
	maxRunCells = 1 << 19
	runBytes    = 1 << 20
)

// run is how far the reading of a block is.
type run struct {
	block int
	// shift is what the reader's places lack to those in the data.
	shift int64
	// first is the number of the block's first row, where known says so, and done how
	// many of its rows were handed on.
	first, done int64
	known       bool
	// turn orders the blocks of the first reading; it is nil in later ones.
	turn *input.Turns
	emit func(*columnar.Cells) error
}

// rows is how many rows of the block were read.
func (r *recordReader) rows() int64 { return r.run.done + int64(r.cells.Rows) }

// begin makes ready for a record.
func (u *run) begin(r *recordReader) error {
	if len(r.cells.Data) < runBytes {
		return nil
	}
	if err := u.flush(r); err != nil {
		return err
	}
	r.cells.Data = r.cells.Data[:0]
	return nil
}

// openRow adds an empty row to the run, or begins another run with it.
func (u *run) openRow(r *recordReader) error {
	columns := r.cells.Columns
	if len(r.cells.Cell)+columns > maxRunCells && r.cells.Rows > 0 {
		if err := u.flush(r); err != nil {
			return err
		}
	}
	start := len(r.cells.Cell)
	r.cells.Cell = slices.Grow(r.cells.Cell, columns)[:start+columns]
	r.row = r.cells.Cell[start:]
	clear(r.row)
	return nil
}

// flush hands the rows on that are there.
func (u *run) flush(r *recordReader) error {
	if err := u.knowFirst(); err != nil {
		return err
	}
	if u.turn != nil {
		t := r.table
		if err := input.CheckCells(u.first+r.rows(), len(t.shape.names), t.emptyCells, t.src.Size()); err != nil {
			return err
		}
	}
	if r.cells.Rows > 0 {
		r.surround()
		r.cells.First = u.first + u.done
		if err := u.emit(&r.cells); err != nil {
			return err
		}
	}
	u.done += int64(r.cells.Rows)
	r.cells.Rows, r.cells.Errors, r.cells.Cell = 0, 0, r.cells.Cell[:0]
	return nil
}

// knowFirst finds the number of the block's first row, which takes all blocks before it in the
// first reading.
func (u *run) knowFirst() error {
	if u.known {
		return nil
	}
	if !u.turn.Wait(u.block) {
		return input.ErrSuperseded
	}
	u.first, u.known = u.turn.Rows, true
	return nil
}
