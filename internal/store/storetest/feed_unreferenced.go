package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Files are the files of versions and refreshes.
type Files interface {
	// ForgetVersions removes up to limit versions, in any workspace, that need
	// not be kept any more at now, and returns the files that nothing has any
	// more, with their sizes as far as versions have them, for the caller to
	// note: what it does not come to is found again by UnusedFiles. It reports
	// whether there may be more.
	ForgetVersions(ctx context.Context, now time.Time, limit int) (files []feedmill.UnreferencedFile, more bool, err error)
	// ForgetRefreshes does the same for refreshes that began before the time
	// given (which is the time in their id), and their traces. The last one of
	// a feed stays, and so does one that has not ended while its feed is there.
	ForgetRefreshes(ctx context.Context, before time.Time, limit int) (files []feedmill.UnreferencedFile, more bool, err error)
	// StoredFiles adds up the tables and originals of a workspace that
	// ForgetVersions has not come to, those of deleted feeds too, each once. It
	// names the originals that are not measured, once each.
	StoredFiles(ctx context.Context, workspace feedmill.ID) (bytes int64, unmeasured []string, err error)
	// MeasureOriginal notes the size of an original with all versions that have it.
	MeasureOriginal(ctx context.Context, original string, bytes int64) error
	// UnusedFiles are those of the names that no version and no refresh has.
	// A file is on disk before its version is: only of one that has been there
	// for longer than an upload can take does this say that it is an orphan.
	UnusedFiles(ctx context.Context, names []string) ([]string, error)
	// StoredFile finds a Parquet file that versions have, with its sums. Those are
	// written with the first version that has the file, or the export.
	StoredFile(ctx context.Context, name string) (feedmill.StoredFile, error)
	// SourceFiles lists the files of the current versions of a source's feeds, without
	// exports.
	SourceFiles(ctx context.Context, workspace, source feedmill.ID) ([]string, error)
	CurrentFiles(ctx context.Context, after string, limit int) ([]string, error)
	// NoteVerified notes that a file was read in full now, by the clock of the
	// database, and its sums where they were not known.
	NoteVerified(ctx context.Context, name string, sums feedmill.FileSums) error
	// UnverifiedFiles lists up to limit files whose names come after one and that were not
	// read in full for feedmill.ScrubEvery, by their names.
	UnverifiedFiles(ctx context.Context, after string, limit int) ([]string, error)
	Objects
}

// unreferencedCases hold files that nothing has to wait before they are deleted.
var unreferencedCases = []testCase{
	{name: "unreferenced files wait, within the bytes of their workspace", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		feed, other := makeFeed(t, s, newWorkspace(t, s).ID), makeFeed(t, s, newWorkspace(t, s).ID)
		name := func(f feedmill.Feed, file string) string { return string(f.ID) + "/" + file }
		mark := func(files ...feedmill.UnreferencedFile) {
			t.Helper()
			must(t, s.MarkUnreferenced(ctx, files))
			nextMillisecond()
		}
		expired := func(what string, wait time.Duration, most int64, limit int, want ...string) {
			t.Helper()
			got, err := s.BeginDeleting(ctx, wait, most, limit)
			must(t, err)
			equal(t, what, want, got)
		}
		expired("before any is recorded", 0, 0, 9)
		a, b, c, d := name(feed, "a"), name(feed, "b"), name(other, "c"), "df_gone/d"
		mark()
		mark(feedmill.UnreferencedFile{Name: a, Bytes: 60})
		mark(feedmill.UnreferencedFile{Name: c, Bytes: 90})
		mark(feedmill.UnreferencedFile{Name: b, Bytes: 50})
		mark(feedmill.UnreferencedFile{Name: a, Bytes: 60}, feedmill.UnreferencedFile{Name: d, Bytes: 10})
		expired("too young", time.Hour, 0, 9)
		expired("within the bytes of each workspace", time.Hour, 110, 9)
		expired("beyond those of one", time.Hour, 109, 9, a)
		expired("one that was not deleted", time.Hour, 0, 9, a)
		must(t, s.EndDeleting(ctx, nil))
		must(t, s.EndDeleting(ctx, []string{a, "no such file"}))
		expired("the oldest", 0, 0, 1, c)
		expired("all that are left", 0, 0, 9, slices.Sorted(slices.Values([]string{b, c, d}))...)
	}},
}
