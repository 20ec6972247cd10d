package csv

import "github.com/feedmill/feedmill/internal/decode/input"

const (
	// maxFields is how many fields a record can have in any table.
	maxFields = input.MaxColumns
	// maxRunCells is how many cells a run of records has at most, so that it
	// takes bounded memory however many columns there are.
	maxRunCells = 1 << 19
)

// limits are how large the parts of a table can be, and how much of it is read
// at once, all in bytes. What passes a limit is refused, with its place.
type limits struct {
	field, record int64
	// missing is how many fields all records together can lack, and how many
	// cells those can have that the header does not name, besides some for each
	// byte. It keeps a small file from becoming a huge table of nothing.
	missing int64
	// chunk is how much one goroutine reads in one go.
	chunk int64
	// head is how much of a file the dialect is found in, and farHead how
	// much where everything in that has one field: what stands before the table
	// may be long. A table that begins behind it is read with one column, and
	// what else its records have is extra.
	head, farHead int64
	// tail is how much of the end of a file is searched for a footer.
	tail int64
}

// usual are the limits outside of tests.
var usual = limits{
	field: input.MaxFieldBytes, record: input.MaxRecordBytes, missing: input.MaxEmptyCells,
	chunk: input.ChunkSize, head: 256 << 10, farHead: 4 << 20, tail: 64 << 10,
}
