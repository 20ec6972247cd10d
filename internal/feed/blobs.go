package feed

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
)

// Blobs keeps files and verifies those with the rows of versions; see [VerifiedFiles].
type Blobs interface {
	Files
	// Verify returns [feedmill.ErrDamaged] for a Parquet file whose bytes are not those
	// that were written, and reports whether the store has the file.
	Verify(ctx context.Context, name string) (stored bool, err error)
	// Discard deletes a file that no record has.
	Discard(ctx context.Context, name string) error
}

// Files keeps files that are written once and never changed, in a folder or a
// bucket.
type Files interface {
	lake.Blobs
	// Begin begins a blob that can be read while it is written. It must be
	// closed.
	Begin(name string) (Draft, error)
	Open(ctx context.Context, name string) (Blob, error)
	// Delete removes a blob. One that is not there is no error.
	Delete(ctx context.Context, name string) error
	// Size is how many bytes a blob has.
	Size(ctx context.Context, name string) (int64, error)
	// Refetch forgets a damaged local copy of a blob, so that it is fetched again, and reports
	// whether there is another copy.
	Refetch(name string) bool
	// List yields the names of the blobs.
	List(ctx context.Context) iter.Seq2[string, error]
	// Sweep removes what drafts that were last written before a time have left
	// behind, and counts it.
	Sweep(ctx context.Context, before time.Time) (int, error)
}

// Draft is a blob that is being written. It is an alias, like [Blob], so that
// what keeps blobs can name the same type and need not know this package.
type Draft = interface {
	io.Writer
	io.ReaderAt
	Size() int64
	Keep(context.Context) error
	Close()
}

// Blob is a blob that is open for reading, also after it was deleted.
type Blob = feedmill.FeedFile
