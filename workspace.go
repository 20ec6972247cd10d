package feedmill

import "time"

// Workspace is a tenant. Every other record belongs to exactly one, and no
// request reads or changes what belongs to another.
type Workspace struct {
	ID        ID
	Name      string
	CreatedAt time.Time
}

// DefaultWorkspace is the name of the workspace that the first start makes. An
// admin of it, and of no other, works across workspaces.
const DefaultWorkspace = "default"

// MaxNameLen is how many characters a name given by a client may have.
const MaxNameLen = 200
