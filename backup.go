package feedmill

import "errors"

// ErrPinLost is the error of a backup whose pin has expired. Files that its records name may have
// been deleted since.
var ErrPinLost = errors.New("the pin has expired, so files may have been deleted meanwhile")

// KeptFile is a file that the records of a store name.
type KeptFile struct {
	Name string
	// Bytes is negative and SHA256 empty if they are not known.
	Bytes  int64
	SHA256 string
	Feed   ID
	// First and Last are the versions that have the file. They are zero for the file with the
	// rows that a refresh rejected.
	First, Last int64
}

// Snapshot describes the records of a store at one moment.
type Snapshot struct {
	// Engine is "sqlite" or "postgres", and Schema the version of its schema.
	Engine string
	Schema int
	// Keyset is the encrypted keyset of the vault, nil if there is none.
	Keyset []byte
	// Files are the files that the records name, by their names.
	Files []KeptFile
}

// The engines of a [Snapshot].
const (
	EngineSQLite   = "sqlite"
	EnginePostgres = "postgres"
)
