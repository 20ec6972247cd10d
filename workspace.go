package feedmill

import "time"

// Workspace is a tenant. Every other record belongs to exactly one, and no
// request reads or changes what belongs to another.
type Workspace struct {
	ID   ID
	Name string
	// ExternalID is what the operator's own system calls the workspace; empty for none.
	ExternalID string
	// Metadata is a JSON object of the operator, empty for none.
	Metadata  string
	Quotas    Quotas
	CreatedAt time.Time
	// LastRequestAt is when a credential of the workspace was last used; zero for never.
	LastRequestAt time.Time
	// Deleting is the progress of the deletion, nil while nobody deletes the workspace.
	Deleting *Deletion
}

// DefaultWorkspace is the name of the workspace that the first start creates. An
// admin of it, and of no other, works across workspaces. It is never renamed or deleted, so
// the name always belongs to the same id.
const DefaultWorkspace = "default"

// MaxNameLen is how many characters a name given by a client may have.
const MaxNameLen = 200

// MaxMetadata is the maximum size of the metadata of a workspace in bytes.
const MaxMetadata = 16 << 10

// MaxConcurrentUploads is the largest quota of concurrent uploads, and the default of a
// server. MaxConcurrentQueries is the largest quota of concurrent queries.
const (
	MaxConcurrentUploads = 32
	MaxConcurrentQueries = 1000
)

// Quotas limit a workspace. A limit that is nil is the server's default.
type Quotas struct {
	StoredBytes       *int64 `json:"storedBytes,omitempty"`
	Subscriptions     *int   `json:"subscriptions,omitempty"`
	ConcurrentUploads *int   `json:"concurrentUploads,omitempty"`
	ConcurrentQueries *int   `json:"concurrentQueries,omitempty"`
}

// Usage is what a workspace uses of its quotas.
type Usage struct {
	StoredBytes   int64
	Feeds         int64
	Subscriptions int64
	// Events counts the events of the last 24 hours.
	Events int64
}

// UsageWindow is the time in which events count as usage.
const UsageWindow = 24 * time.Hour

// Deletion is the progress of the deletion of a workspace, in records and files. Total is zero
// until they are counted.
type Deletion struct {
	Since       time.Time
	Done, Total int64
}
