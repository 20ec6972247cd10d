package feed

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/feedmill/feedmill"
)

// Blobs keeps files and verifies those with the rows of versions; see [VerifiedFiles].
type Blobs interface {
	Files
	// LeaseHead leases the first rows of a Parquet file; see [lake.Blobs].
	LeaseHead(ctx context.Context, name string, size int64, columns []int, rows int64) (lease feedmill.FileLease, ok bool, err error)
	// Verify returns [feedmill.ErrDamaged] for a Parquet file whose bytes are not those
	// that were written, and reports whether the store has the file.
	Verify(ctx context.Context, name string) (stored bool, err error)
	// Discard deletes a file that no record has.
	Discard(ctx context.Context, name string) error
}

// Files keeps files that are written once and never changed, in a folder or a
// bucket.
type Files interface {
	// Put writes a blob, whole or not at all.
	Put(ctx context.Context, name string, write func(io.Writer) error) error
	// Lease finds the file of a blob and keeps it there until it is released.
	Lease(ctx context.Context, name string) (feedmill.FileLease, error)
	// Extract leases a file that is made of ranges of a blob, if the blob is not on the local disk.
	// The file is kept under a key, and made by a function that writes it.
	Extract(ctx context.Context, name, key string, write func(ctx context.Context, from io.ReaderAt, to io.Writer) error) (lease feedmill.FileLease, ok bool, err error)
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
