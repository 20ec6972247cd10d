package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Tended is what a store does for those who tend feeds.
type Tended interface {
	// StaleFeeds lists up to limit feeds of all workspaces that are to be stale at a
	// time, those first that were to be it first.
	StaleFeeds(ctx context.Context, at time.Time, limit int) ([]feedmill.Feed, error)
	// VersionProfile finds the profile of a version, nil where none is kept, and
	// KeepProfile keeps it, as long as the version.
	VersionProfile(ctx context.Context, of feedmill.VersionRef) ([]byte, error)
	KeepProfile(ctx context.Context, of feedmill.VersionRef, profile []byte) error
	// KeepExport keeps a file with a version, in place of another where that is not empty. The
	// version has at most so many then; the names of the others are returned. It goes with the
	// version, and when JoinFiles changes the version.
	KeepExport(ctx context.Context, of feedmill.VersionRef, file feedmill.VersionFile, replaced string, most int) (dropped []string, err error)
	// Export finds the file of KeepExport whose name begins with a prefix.
	Export(ctx context.Context, of feedmill.VersionRef, prefix string) (name string, err error)
}

// makeVersions makes a feed of so many versions, all made at a time.
func makeVersions(t *testing.T, s Store, at time.Time, n int) feedmill.Feed {
	t.Helper()
	f := makeFeed(t, s, newWorkspace(t, s).ID)
	for range n - 1 {
		f, _ = switchTo(t, s, f, at)
	}
	return f
}

// keeps holds which versions of a feed are kept at a time.
func keeps(t *testing.T, s Store, f feedmill.Feed, at time.Time, numbers ...int64) {
	t.Helper()
	versions, err := s.FeedVersions(t.Context(), f.Workspace, f.ID, at, 0, 100)
	must(t, err)
	var got []int64
	for _, v := range versions {
		got = append(got, v.Number)
	}
	equal(t, "versions that are kept", numbers, got)
}

var keepCases = []testCase{
	{name: "a feed's own rule says which versions are kept, for those that there are too", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now().Add(time.Minute)
		f := makeVersions(t, s, at, 4)
		keep := func(k feedmill.Keep) {
			t.Helper()
			var err error
			f, err = s.ChangeFeed(ctx, f.Workspace, f.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
				f.Keep, f.UpdatedAt = k, at
				return nil, nil, nil
			})
			must(t, err)
			equal(t, "the rule", k, f.Keep)
		}
		keep(feedmill.Keep{Versions: 2, Days: 1})
		keeps(t, s, f, at.Add(23*time.Hour), 4, 3, 2, 1)
		keeps(t, s, f, at.Add(25*time.Hour), 4, 3)
		keep(feedmill.Keep{Versions: 3})
		keeps(t, s, f, at, 4, 3, 2)
		keep(feedmill.Keep{Versions: 1, Days: 30})
		// What is not kept any more stays so.
		keeps(t, s, f, at, 4, 3, 2)
		keep(feedmill.Keep{Versions: 3})
		f, _ = switchTo(t, s, f, at)
		keeps(t, s, f, at, 5, 4, 3)
		files, _, err := s.ForgetVersions(ctx, at, 10)
		must(t, err)
		equal(t, "files of two versions", 2*3, len(files))
		kept(t, s, f, 5, 4, 3)
	}},
	{name: "a pinned version is kept until it is let go", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now().Add(time.Minute)
		f := makeVersions(t, s, at, 3)
		later := at.Add(365 * 24 * time.Hour)
		v, err := s.PinVersion(ctx, f.Workspace, f.ID, 2, true, at)
		must(t, err)
		if v.Number != 2 || !v.Pinned {
			t.Errorf("pinned is %+v", v)
		}
		for range 12 {
			f, _ = switchTo(t, s, f, at)
		}
		keeps(t, s, f, later, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 2)
		_, _, err = s.ForgetVersions(ctx, later, 100)
		must(t, err)
		kept(t, s, f, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 2)
		v, err = s.PinVersion(ctx, f.Workspace, f.ID, 2, false, later)
		must(t, err)
		equal(t, "kept until", later, v.StaleAt.UTC())
		keeps(t, s, f, later, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6)
		for _, number := range []int64{1, 2, 99} {
			_, err = s.PinVersion(ctx, f.Workspace, f.ID, number, true, later)
			want(t, err, feedmill.ErrNotFound)
		}
		_, err = s.PinVersion(ctx, newWorkspace(t, s).ID, f.ID, 15, true, later)
		want(t, err, feedmill.ErrNotFound)
	}},
	{name: "a file stays while a version has it", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now().Add(time.Minute)
		f := makeVersions(t, s, at, 1)
		first, err := s.FeedVersion(ctx, f.Workspace, f.ID, 1)
		must(t, err)
		v, r := nextVersion(f)
		v.Files, v.Original = append(v.Files[:1:1], first.Files...), ""
		f, err = s.SwitchVersion(ctx, f.Workspace, v, r, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
			f.Keep, f.UpdatedAt = feedmill.Keep{Versions: 1}, at
			return nil, nil, nil
		})
		must(t, err)
		files, _, err := s.ForgetVersions(ctx, at, 10)
		must(t, err)
		equal(t, "files of the first alone", []feedmill.UnreferencedFile{{Name: first.Original, Bytes: first.OriginalBytes}}, files)
		unused, err := s.UnusedFiles(ctx, append(first.FileNames(), first.Original))
		must(t, err)
		equal(t, "unused", []string{first.Original}, unused)
	}},
	{name: "a few results of queries are kept with a version", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now().Add(time.Minute)
		f := makeVersions(t, s, at, 1)
		of := feedmill.VersionRef{Workspace: f.Workspace, Feed: f.ID, Number: 1}
		before, _, err := s.StoredFiles(ctx, f.Workspace)
		must(t, err)
		var names, dropped []string
		for _, name := range []string{"a", "b", "b", "c"} {
			name += feedmill.ExportSuffix
			gone, err := s.KeepExport(ctx, of, feedmill.VersionFile{Name: name, Bytes: 10}, "", 2)
			must(t, err)
			names, dropped = append(names, name), append(dropped, gone...)
		}
		equal(t, "too many", 1, len(dropped))
		found, err := s.Export(ctx, of, "c")
		must(t, err)
		equal(t, "found by its prefix", "c"+feedmill.ExportSuffix, found)
		_, err = s.Export(ctx, of, "_")
		want(t, err, feedmill.ErrNotFound)
		gone, err := s.KeepExport(ctx, of, feedmill.VersionFile{Name: "d" + feedmill.ExportSuffix, Bytes: 10}, found, 2)
		must(t, err)
		equal(t, "replaced", []string{found}, gone)
		names, dropped = append(names, "d"+feedmill.ExportSuffix), append(dropped, found)
		names = slices.Compact(names)
		unused, err := s.UnusedFiles(ctx, names)
		must(t, err)
		equal(t, "unused", dropped, unused)
		after, _, err := s.StoredFiles(ctx, f.Workspace)
		must(t, err)
		equal(t, "bytes", before+20, after)
		v, err := s.FeedVersion(ctx, f.Workspace, f.ID, 1)
		must(t, err)
		if slices.ContainsFunc(v.Files, func(f feedmill.VersionFile) bool { return strings.HasSuffix(f.Name, feedmill.ExportSuffix) }) {
			t.Errorf("a result is among the files of the version: %v", v.Files)
		}
		_, err = s.KeepExport(ctx, feedmill.VersionRef{Workspace: newWorkspace(t, s).ID, Feed: f.ID, Number: 1}, feedmill.VersionFile{Name: "d"}, "", 2)
		want(t, err, feedmill.ErrNotFound)
		err = s.DeleteFeed(ctx, f.Workspace, f.ID, at, nil)
		must(t, err)
		_, _, err = s.ForgetVersions(ctx, at.Add(feedmill.KeepDeletedFor+time.Hour), 100)
		must(t, err)
		unused, err = s.UnusedFiles(ctx, names)
		must(t, err)
		equal(t, "unused with the feed", names, unused)
	}},
	{name: "feeds are found that are to be stale, and profiles are kept", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now()
		f := makeVersions(t, s, at, 1)
		change := func(change func(*feedmill.Feed)) {
			var err error
			f, err = s.ChangeFeed(ctx, f.Workspace, f.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
				change(f)
				return nil, nil, nil
			})
			must(t, err)
		}
		change(func(f *feedmill.Feed) { f.Expects.Every, f.SucceededAt = time.Hour, at; f.Watch() })
		for after, wanted := range map[time.Duration]int{59 * time.Minute: 0, time.Hour: 1} {
			found, err := s.StaleFeeds(ctx, at.Add(after), 10)
			must(t, err)
			equal(t, "stale after "+after.String(), wanted, len(found))
		}
		change(func(f *feedmill.Feed) { f.GoStale(at.Add(time.Hour)) })
		found, err := s.StaleFeeds(ctx, at.Add(2*time.Hour), 10)
		must(t, err)
		equal(t, "stale once", 0, len(found))
		got, err := s.Feed(ctx, f.Workspace, f.ID)
		must(t, err)
		equal(t, "stale", true, got.Stale)

		of := feedmill.VersionRef{Workspace: f.Workspace, Feed: f.ID, Number: 1}
		none, err := s.VersionProfile(ctx, of)
		must(t, err)
		equal(t, "profile", 0, len(none))
		must(t, s.KeepProfile(ctx, of, []byte("{}")))
		kept, err := s.VersionProfile(ctx, of)
		must(t, err)
		equal(t, "profile", "{}", string(kept))
		of.Number = 9
		want(t, s.KeepProfile(ctx, of, []byte("{}")), feedmill.ErrNotFound)
	}},
}
