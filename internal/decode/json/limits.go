package json

import "github.com/feedmill/feedmill/internal/decode/input"

// The limits of JSON beyond those that all formats have. What passes one of them
// is refused, with its place.
const (
	// maxDepth is how many arrays and objects can stand in each other in a
	// record, and around it.
	maxDepth = 1000
	// maxNameBytes is how long the name of a JSON column can be, with the
	// names of all the objects around it.
	maxNameBytes = 1024

	// maxNodes is how many names a decoder knows, columns and the objects
	// around them.
	maxNodes = 8 * input.MaxColumns
	// maxSuperseded is how many values on the way to the records can have a
	// name that stands in its object again.
	maxSuperseded = 1 << 16
	// maxNestedKeys is how many names the objects that are open at one place of
	// a cell can have.
	maxNestedKeys = 1 << 20
	// maxWayName is how long a name can be on the way to the records.
	maxWayName = 64 << 10
	// usualBlockBytes and usualReadBytes are how much is decoded and read at once.
	usualBlockBytes = 1 << 20
	usualReadBytes  = 256 << 10
	// maxReadOn is how much more is read at once to find the end of a long line.
	maxReadOn = 4 << 20
	// maxRunCells is how many cells a run has at most.
	maxRunCells = 1 << 19
	// maxGrown is how many bytes of texts that are longer than in the data a run of rows has before its last one.
	maxGrown = 4 << 20
	// textPadding is how many zero bytes stand after the data of a block. They
	// end whatever is being read, so that nothing looks for the end of the
	// data but what has met a zero.
	textPadding = 16
)

// limits are those that tests make smaller.
type limits struct {
	// field and record are how many bytes a cell and a record can have.
	field, record int
	// tree is how large a document can be that has to be in memory as a whole,
	// because its path cannot be followed from front to back.
	tree int
	// emptyCells is how many cells there can be besides those that the size of
	// the data allows.
	emptyCells int64
	// exploded is how many values a record can have that is exploded.
	exploded int
}

// nodes is how many values such a document can have.
func (l *limits) nodes() int { return max(l.tree/16, 1<<10) }

// usual are the limits outside of tests.
var usual = limits{
	field: input.MaxFieldBytes, record: input.MaxRecordBytes, tree: 32 << 20, emptyCells: input.MaxEmptyCells, exploded: input.MaxExploded,
}
