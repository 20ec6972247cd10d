package decode

// The limits of tables of separated fields. What passes one of them is refused,
// with its place.
const (
	// MaxColumns is how many columns a header can name.
	MaxColumns = 10_000
	// MaxExtraColumns is how many columns rows can have that the header does not name.
	MaxExtraColumns = 256
	// MaxFieldBytes is how long a field can be.
	MaxFieldBytes = 16 << 20
	// MaxRecordBytes is how long a record can be, with everything in it.
	MaxRecordBytes = 32 << 20
	// MaxMissingFields is how many fields all records together can lack. It
	// keeps a small file from becoming a huge table of nothing.
	MaxMissingFields = 1 << 28

	// maxRunCells is how many cells a run of records has at most, so that it
	// takes bounded memory however many columns there are.
	maxRunCells = 1 << 21
	// headBytes is how much of a file the dialect is found in, and
	// farHeadBytes how much where everything in that has one field: what
	// stands before the table may be long. A table that begins behind it is
	// read with one column, and what else its records have is extra.
	headBytes    = 256 << 10
	farHeadBytes = 4 << 20
)
