package duckdb

// Attached is what statements call the database of a file that a worker has
// attached.
const Attached = "attached"

// Statement is SQL with the values of its parameters.
type Statement struct {
	SQL  string
	Args []string
	// Guard is a query of one text, which must be GuardText at the time of the
	// statement; empty means none.
	Guard, GuardText string
	// Inside says that names without a database and a schema are those of the file.
	Inside bool
}
