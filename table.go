package feedmill

import "time"

// Table is a feed as a table that other programs read: metadata files over the files of its
// versions.
type Table struct {
	Workspace, Feed ID
	// Metadata is the name of the current metadata file, and Version the version of the feed
	// that its current snapshot has.
	Metadata string
	Version  int64
}

// TableClaim is the right of one writer to write the next metadata file of a table.
type TableClaim struct {
	Table
	// Sequence is the number of the metadata file, greater than that of all claims before.
	Sequence int64
	// At is the time of the claim by the clock of the database.
	At time.Time
	// Changes is how often the feed had changed since its table was written.
	Changes int64
}

// TableClaimTime is how long a claim holds. A claim that is not released expires then.
const TableClaimTime = time.Minute

// TableFiles are what a table consists of: the metadata file, and all files that must exist
// for as long as it is the current one.
type TableFiles struct {
	Metadata string
	Version  int64
	Names    []string
}

// NamedTable is a table in the list of a workspace.
type NamedTable struct {
	Name string
	Feed ID
}
