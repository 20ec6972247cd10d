package feedmill

import "time"

// RefreshState is how far a refresh has come.
type RefreshState string

// The states of a refresh.
const (
	// RefreshPending is asked for and not begun.
	RefreshPending   RefreshState = "pending"
	RefreshRunning   RefreshState = "running"
	RefreshSucceeded RefreshState = "succeeded"
	RefreshFailed    RefreshState = "failed"
)

// Refresh is one try to bring a feed new data: a fetch, or an upload. What was
// read is accounted for: RowsIn is RowsStored and RowsRejected together.
type Refresh struct {
	ID        ID
	Feed      ID
	State     RefreshState
	StartedAt time.Time
	// EndedAt is zero while the refresh runs.
	EndedAt time.Time
	// Requests and Pages are what was asked for and what of it was data; both
	// are 0 for an upload.
	Requests     int64
	Pages        int64
	BytesIn      int64
	RowsIn       int64
	RowsStored   int64
	RowsRejected int64
	// Parts is how many windows of time or rows of each there are to fetch, and
	// PartsDone how many of them are; both are 0 where it is all one.
	Parts, PartsDone int64
	// Rejects is the name of the blob with the rows that were rejected,
	// empty where there were none.
	Rejects string
	// Version is the one that the refresh made, 0 where it made none.
	Version int64
	// Changes are what is different in that version from the one before.
	Changes VersionChanges
	// Unchanged says that the refresh succeeded and found what was there before.
	Unchanged bool
	Warnings  []Warning
	// Error says why the refresh failed.
	Error *FeedError
}
