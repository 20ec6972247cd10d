// Package backup copies the records of a store and the files that they name to a folder or bucket,
// verifies such copies, and restores stores from them.
//
// The target of backups has these files:
//
//	files/<name>           the files of feeds, with the names that they have in the store
//	records/<backup>/<n>   the records of one backup, compressed, in parts
//	backups/<backup>.json  the manifest of one backup, which lists the others with their checksums
//
// Files are never changed and their names are never reused, so each backup copies only those that
// the target does not have. The manifest is written last: a backup without a manifest does not count.
package backup

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Files are the files of a store or of backups, in a folder or bucket.
type Files interface {
	// Begin begins a file, which appears under its name when it is kept.
	Begin(name string) (Draft, error)
	Open(ctx context.Context, name string) (File, error)
	Size(ctx context.Context, name string) (int64, error)
	Delete(ctx context.Context, name string) error
	List(ctx context.Context) iter.Seq2[string, error]
	// Sweep removes drafts that were last written before a time.
	Sweep(ctx context.Context, before time.Time) (int, error)
	// Owner is the store that the files belong to, empty if there is none.
	Owner(ctx context.Context) (string, error)
	SetOwner(ctx context.Context, owner string) error
}

// Draft is a file that is being written.
type Draft = interface {
	io.Writer
	io.ReaderAt
	Size() int64
	Keep(context.Context) error
	Close()
}

// File is a file that is open for reading.
type File = feedmill.FeedFile

// Records are the records of a store.
type Records interface {
	// StoreID returns the id of the store. The first call assigns the given one.
	StoreID(ctx context.Context, assign string) (string, error)
	// Pin keeps all files that records name from now on, until the lease ends. RenewPin returns
	// [feedmill.ErrPinLost] if it has ended.
	Pin(ctx context.Context, id string, lease time.Duration) error
	RenewPin(ctx context.Context, id string, lease time.Duration) error
	Unpin(ctx context.Context, id string) error
	// Snapshot writes the records as they are at one moment. It can use a folder for temporary
	// files. Finished deliveries are included with log, or always.
	Snapshot(ctx context.Context, folder string, log bool, to io.Writer) (feedmill.Snapshot, error)
	// KeptFiles lists files behind a name that records name.
	KeptFiles(ctx context.Context, after string, limit int) ([]feedmill.KeptFile, error)
}

// Finding is a file that is missing or damaged.
type Finding struct {
	File    feedmill.KeptFile
	Problem string
}

// Findings are missing and damaged files, as an error that names all of them.
type Findings []Finding

func (f Findings) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d files are missing or damaged:", len(f))
	if len(f) == 1 {
		b.Reset()
		b.WriteString("1 file is missing or damaged:")
	}
	for _, one := range f {
		fmt.Fprintf(&b, "\n  %s: %s", one.File.Name, one.Problem)
		switch {
		case one.File.Feed == "":
		case one.File.Last == 0:
			fmt.Fprintf(&b, " (rejected rows of feed %s)", one.File.Feed)
		case one.File.First == one.File.Last:
			fmt.Fprintf(&b, " (feed %s, version %d)", one.File.Feed, one.File.First)
		default:
			fmt.Fprintf(&b, " (feed %s, versions %d to %d)", one.File.Feed, one.File.First, one.File.Last)
		}
	}
	return b.String()
}

// sorted orders findings by the names of their files.
func (f Findings) sorted() Findings {
	slices.SortFunc(f, func(a, b Finding) int { return strings.Compare(a.File.Name, b.File.Name) })
	return f
}
