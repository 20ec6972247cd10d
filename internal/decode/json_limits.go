package decode

// The limits of JSON beyond those that all formats have. What passes one of them
// is refused, with its place.
const (
	// MaxDepth is how many arrays and objects can stand in each other in a
	// record, and around it.
	MaxDepth = 1000
	// MaxNameBytes is how long the name of a JSON column can be, with the
	// names of all the objects around it.
	MaxNameBytes = 1024
	// MaxTreeBytes is how large a document can be that has to be in memory
	// as a whole, because its path cannot be followed from front to back.
	MaxTreeBytes = 32 << 20
	// MaxExploded is how many values one record can have when it is exploded.
	MaxExploded = 1 << 21

	// maxJSONNodes is how many names a decoder knows, columns and the objects
	// around them.
	maxJSONNodes = 8 * MaxColumns
	// maxEmptyCells is how many cells a table can have besides 32 for each byte
	// of the data. It keeps a small file from becoming a huge table of nothing.
	maxEmptyCells = 1 << 28
	// maxSuperseded is how many values on the way to the records can have a
	// name that stands in its object again.
	maxSuperseded = 1 << 16
	// maxNestedKeys is how many names the objects that are open at one place of
	// a cell can have.
	maxNestedKeys = 1 << 20
	// maxWayName is how long a name can be on the way to the records.
	maxWayName = 64 << 10
	// jsonBlockBytes and jsonReadBytes are how much is decoded and read at once.
	jsonBlockBytes = 1 << 20
	jsonReadBytes  = 256 << 10
	// jsonRunCells is how many cells a run has at most.
	jsonRunCells = 1 << 19
	// jsonPadding is how many zero bytes stand after the data of a block. They
	// end whatever is being read, so that nothing looks for the end of the
	// data but what has met a zero.
	jsonPadding = 16
)
