package feedmill

import (
	"io"
	"time"
)

// HeldFor is how long the body of a preview is held.
const HeldFor = 15 * time.Minute

// HeldBody is the body of a request that is held for requests that follow, so that a
// large file need not be sent again. Whoever sent it may use it, and nobody else.
type HeldBody struct {
	ID        ID
	Workspace ID
	// Owner is the subject of the credential.
	Owner string
	// ContentType and Disposition are the headers of the request that say what the
	// body is.
	ContentType, Disposition string
	ExpiresAt                time.Time
}

// BodyHolder takes a body that may be held. It must be kept or closed.
type BodyHolder interface {
	io.Writer
	// Keep holds what was written. It returns false where there is no room for it.
	Keep(HeldBody) (HeldBody, bool)
	io.Closer
}
