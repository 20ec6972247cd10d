package input

// The limits that all formats have. What passes one of them is refused, with its
// place.
const (
	// MaxColumns is how many columns the data can name.
	MaxColumns = 10_000
	// MaxFieldBytes is how long the text of a cell can be.
	MaxFieldBytes = 16 << 20
	// MaxRecordBytes is how long a record can be, with everything in it.
	MaxRecordBytes = 64 << 20
	// LargeBytes is from how many bytes of records on, held at the same time by one goroutine, its
	// work needs a turn among those that hold large values.
	LargeBytes = 8 << 20
	// MaxEmptyCells is how many cells a table can have besides CellsOfByte for
	// each byte of its data.
	MaxEmptyCells = 1 << 25
	CellsOfByte   = 32
)

// CheckCells refuses a table that has more cells than data of so many bytes can
// have, so that a small file does not become a huge table of nothing. Empty is
// mostly MaxEmptyCells.
func CheckCells(rows int64, columns int, empty, bytes int64) error {
	most := empty + CellsOfByte*bytes
	if rows*int64(columns) <= most {
		return nil
	}
	return Refuse("too-many-cells", "the first %d rows with %d columns exceed %d cells, the maximum for data of this size: "+
		"almost all cells are empty or repeated; if the column names are data, set path to select their values", rows, columns, most)
}
