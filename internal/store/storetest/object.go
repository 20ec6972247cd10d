package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Objects are the rows of files: writing, live, unreferenced, deleting or deleted.
type Objects interface {
	// StoreID returns the id of the store, which the first call assigns.
	StoreID(ctx context.Context, assign string) (string, error)
	// Origin identifies the database: a copy of it has another origin.
	Origin(ctx context.Context) (string, error)
	// BeginObject records a file that a holder is about to write. RenewObjects extends the
	// lease on all files that it writes. ForgetObject removes the row of a file that does not
	// exist; the row of a file that a record has stays.
	BeginObject(ctx context.Context, name, holder, location string) error
	RenewObjects(ctx context.Context, holder string) error
	// FileLocation is where the files were moved to, empty if they never were. CloseFiles refuses
	// new files for a lease, KeepClosed extends it, and OpenFiles ends it. LoseWriting gives up files whose writers are
	// gone, and counts the others. StoredObjects are the files to move. EndMove records a location.
	FileLocation(ctx context.Context) (location, place string, err error)
	CloseFiles(ctx context.Context, move, target string, lease time.Duration) error
	KeepClosed(ctx context.Context, move, target string, lease time.Duration) error
	OpenFiles(ctx context.Context, move, target string) error
	LoseWriting(ctx context.Context, lease time.Duration) (writing int, err error)
	StoredObjects(ctx context.Context, after string, limit int) ([]string, error)
	EndMove(ctx context.Context, move, from, to, place string) error
	ForgetObject(ctx context.Context, name string) error
	// AbandonedObjects lists files whose lease has expired, and those of a holder that is
	// gone. AbandonObjects makes them unreferenced, unless they were committed meanwhile.
	AbandonedObjects(ctx context.Context, lease time.Duration, gone string, limit int) ([]string, error)
	AbandonObjects(ctx context.Context, files []feedmill.UnreferencedFile) error
	// MarkUnreferenced makes live files unreferenced that no record has, from now on by the
	// clock of the database. Those that are unreferenced keep their times.
	MarkUnreferenced(ctx context.Context, files []feedmill.UnreferencedFile) error
	// UnknownObjects are those of the names without a row. FoundObjects gives them one: live
	// where a record has the file, and else unreferenced.
	UnknownObjects(ctx context.Context, names []string) ([]string, error)
	FoundObjects(ctx context.Context, files []feedmill.UnreferencedFile) error
	// BeginDeleting chooses files to delete: those that were unreferenced for so long, and
	// those with which the unreferenced files of a workspace take more than most bytes. Zero
	// is any number. It returns them, and those that EndDeleting was not called for. From
	// then on no record can name them.
	BeginDeleting(ctx context.Context, wait time.Duration, most int64, limit int) ([]string, error)
	EndDeleting(ctx context.Context, names []string) error
	// ForgetObjects removes rows of files that were deleted so long ago.
	ForgetObjects(ctx context.Context, age time.Duration, limit int) (int64, error)
}

// objectCases hold the states of files.
var objectCases = []testCase{
	{name: "a store has one id", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		for _, assign := range []string{"one", "two"} {
			got, err := s.StoreID(ctx, assign)
			must(t, err)
			equal(t, "id", "one", got)
		}
		one, err := s.Origin(ctx)
		must(t, err)
		same, err := s.Origin(ctx)
		must(t, err)
		equal(t, "origin", one, same)
		if one == "" {
			t.Error("the database has no origin")
		}
	}},
	{name: "a file is writing, live, unreferenced and deleting", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		f := makeFeed(t, s, newWorkspace(t, s).ID)
		deleting := func(what string, want ...string) {
			t.Helper()
			got, err := s.BeginDeleting(ctx, 0, 0, 9)
			must(t, err)
			equal(t, what, want, got)
		}
		abandoned := func(what string, lease time.Duration, gone string, want ...string) {
			t.Helper()
			got, err := s.AbandonedObjects(ctx, lease, gone, 9)
			must(t, err)
			equal(t, what, want, got)
		}
		v, r := nextVersion(f)
		file, lost := v.Files[0].Name, string(f.ID)+"/s-lost"
		must(t, s.BeginObject(ctx, file, "one", ""))
		nextMillisecond()
		must(t, s.BeginObject(ctx, lost, "two", ""))
		want(t, s.BeginObject(ctx, file, "two", ""), feedmill.ErrConflict)
		nextMillisecond()
		abandoned("leased", time.Hour, "")
		abandoned("of a holder that is gone", time.Hour, "two", lost)
		abandoned("of which the lease has expired", 0, "", file, lost)
		deleting("while files are written")
		must(t, s.RenewObjects(ctx, "two"))

		// Unreferenced is not the end: the writer may have been frozen.
		must(t, s.AbandonObjects(ctx, []feedmill.UnreferencedFile{{Name: file, Bytes: 7}, {Name: lost, Bytes: 7}}))
		abandoned("none any more", 0, "two")
		_, err := s.SwitchVersion(ctx, f.Workspace, v, r, telling("refreshed"))
		must(t, err)
		nextMillisecond()
		deleting("what no version has", lost)
		want(t, s.BeginObject(ctx, lost, "two", ""), feedmill.ErrConflict)
		must(t, s.MarkUnreferenced(ctx, []feedmill.UnreferencedFile{{Name: file, Bytes: 7}})) // a version has it
		must(t, s.AbandonObjects(ctx, []feedmill.UnreferencedFile{{Name: file, Bytes: 7}}))
		must(t, s.ForgetObject(ctx, file))
		unknown, err := s.UnknownObjects(ctx, []string{file, lost, "found", v.Original})
		must(t, err)
		equal(t, "unknown", []string{"found"}, unknown)

		// A deletion is repeated until it is recorded, and longer if the file is found again.
		deleting("again", lost)
		must(t, s.EndDeleting(ctx, []string{lost, file}))
		deleting("not again")
		must(t, s.FoundObjects(ctx, nil))
		must(t, s.FoundObjects(ctx, []feedmill.UnreferencedFile{{Name: lost, Bytes: 7}}))
		deleting("found again", lost)
		must(t, s.EndDeleting(ctx, []string{lost}))
		nextMillisecond()
		for _, forget := range []struct {
			age  time.Duration
			want int64
		}{{time.Hour, 0}, {0, 1}, {0, 0}} {
			n, err := s.ForgetObjects(ctx, forget.age, 9)
			must(t, err)
			equal(t, "forgotten", forget.want, n)
		}
	}},
	{name: "a version cannot name a file that is being deleted", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		f := makeFeed(t, s, newWorkspace(t, s).ID)
		for _, of := range []func(*feedmill.FeedVersion, *feedmill.Refresh) string{
			func(v *feedmill.FeedVersion, _ *feedmill.Refresh) string { return v.Files[0].Name },
			func(v *feedmill.FeedVersion, _ *feedmill.Refresh) string { return v.Original },
			func(_ *feedmill.FeedVersion, r *feedmill.Refresh) string { return r.Rejects },
		} {
			v, r := nextVersion(f)
			must(t, s.BeginObject(ctx, of(&v, &r), "one", ""))
			must(t, s.AbandonObjects(ctx, []feedmill.UnreferencedFile{{Name: of(&v, &r), Bytes: 7}}))
			nextMillisecond()
			_, err := s.BeginDeleting(ctx, 0, 0, 9)
			must(t, err)
			_, err = s.SwitchVersion(ctx, f.Workspace, v, r, telling("refreshed"))
			want(t, err, feedmill.ErrConflict)
			must(t, s.EndDeleting(ctx, []string{of(&v, &r)}))
			_, err = s.SwitchVersion(ctx, f.Workspace, v, r, telling("refreshed"))
			want(t, err, feedmill.ErrConflict)
		}
	}},
	{name: "files of earlier releases get rows", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		f := makeFeed(t, s, newWorkspace(t, s).ID)
		v, r := nextVersion(f)
		_, err := s.SwitchVersion(ctx, f.Workspace, v, r, telling("refreshed"))
		must(t, err)
		must(t, s.FoundObjects(ctx, []feedmill.UnreferencedFile{{Name: v.Files[0].Name, Bytes: 1}, {Name: "df_1/stray", Bytes: 1}}))
		nextMillisecond()
		got, err := s.BeginDeleting(ctx, 0, 0, 9)
		must(t, err)
		equal(t, "those that nothing has", []string{"df_1/stray"}, got)
	}},
}
