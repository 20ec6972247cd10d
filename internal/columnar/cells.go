package columnar

// Cells is a run of records as a decoder found them in the data, before
// anything is known of types. Nothing is copied for a cell: it is a range of
// Data.
//
// Runs are independent of each other, so that several goroutines can work on
// them at the same time and in any order; First puts them in order again.
// A decoder may reuse a run once the function that it was given to returns.
type Cells struct {
	// First is the number of the first record in the data, from 0.
	First int64
	// Rows and Columns are how many records there are and how many cells
	// each has. A decoder can learn of columns late: a later run then has more
	// of them, and in the earlier ones their cells count as missing.
	Rows, Columns int
	// Data is the text that the cells are ranges of, at most MaxCellData bytes.
	Data []byte
	// Cell has the cells, row by row.
	Cell []Cell
	// Errors is how many of the cells are of the kind CellError.
	Errors int
}

// MaxCellData is how many bytes the Data of a run can have.
const MaxCellData = 1<<28 - 1

// At is the cell of a row and a column, missing where the run has no such column.
func (c *Cells) At(row, column int) Cell {
	if column >= c.Columns {
		return 0
	}
	return c.Cell[row*c.Columns+column]
}

// Text is the text of a cell. It shares the memory of the run.
func (c *Cells) Text(cell Cell) []byte {
	start, end := cell.Range()
	return c.Data[start:end:end]
}

// Reset empties the run and keeps its memory.
func (c *Cells) Reset() {
	*c = Cells{Data: c.Data[:0], Cell: c.Cell[:0]}
}

// CellKind is what a cell is in the data.
type CellKind uint8

// The kinds of cells. All but missing and null cells and booleans have a text.
const (
	// CellMissing is the zero value: the record has no such field.
	CellMissing CellKind = iota
	// CellPlain is text from a source that knows no types, and may denote
	// anything: a CSV field, the content of an XML element. Without any text
	// it is null.
	CellPlain
	// CellQuoted is a quoted CSV field, with the quotes undone. It may denote
	// anything too, but without any text it is an empty string, or null where the
	// column turns out not to be text.
	CellQuoted
	// CellString is text that the source says is text, such as a JSON string,
	// with escapes undone. It denotes no number and no boolean.
	CellString
	// CellNumber is a number, with its digits as the source has them, by the
	// grammar of JSON.
	CellNumber
	CellTrue
	CellFalse
	CellNull
	// CellJSON is the text of a JSON array or object.
	CellJSON
	// CellDate is a day or a time that the source says is one, such as a cell
	// of a spreadsheet: 2026-11-15, or 2026-11-15T12:30:00.
	CellDate
	// CellError is an error that a spreadsheet shows instead of a value, with
	// its name, such as #N/A. It is null. A run counts those that it has.
	CellError
	// CellToken is a text that means null in a column that is not text, because
	// somebody has said so. Modelling makes such cells; no decoder does.
	CellToken
)

// Cell is a kind and a range of bytes: the start in the lower 32 bits, then the
// end in 28 bits, and the kind in the highest four. The zero value is missing.
type Cell uint64

const (
	cellEndShift  = 32
	cellKindShift = 60
)

// NewCell is the cell of the kind whose text begins at start and ends before end.
func NewCell(kind CellKind, start, end int) Cell {
	return Cell(kind)<<cellKindShift | Cell(end)<<cellEndShift | Cell(start)
}

// Kind says what the cell is.
func (c Cell) Kind() CellKind { return CellKind(c >> cellKindShift) }

// Range is where the text of the cell begins, and where it ends.
func (c Cell) Range() (start, end uint32) {
	return uint32(c), uint32(c>>cellEndShift) & MaxCellData
}

// Empty reports whether the cell has no text.
func (c Cell) Empty() bool {
	start, end := c.Range()
	return start == end
}

// PlainColumns is embedded by tables whose source has no units and no number formats for its
// columns, or only one of the two.
type PlainColumns struct{}

// Units are none.
func (PlainColumns) Units() []string { return nil }

// Formats are none.
func (PlainColumns) Formats() []string { return nil }
