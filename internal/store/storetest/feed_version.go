package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
)

// Versions are the versions of feeds, and their refreshes.
type Versions interface {
	// FeedVersion finds a version of a feed that is there, kept or not.
	FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error)
	// FeedVersions lists up to limit versions that are kept at a time, newest
	// first, with numbers below before; 0 means from the newest on. Of a feed
	// that is not there it lists none.
	FeedVersions(ctx context.Context, workspace, feed feedmill.ID, at time.Time, before int64, limit int) ([]feedmill.FeedVersion, error)
	// PinVersion pins a version that is kept at a time, so that it is not
	// forgotten, or lets it go.
	PinVersion(ctx context.Context, workspace, feed feedmill.ID, number int64, pinned bool, at time.Time) (feedmill.FeedVersion, error)
	// CrowdedVersions lists up to limit versions, the current ones of their
	// feeds, that have more than feedmill.CrowdedFiles files.
	CrowdedVersions(ctx context.Context, limit int) ([]feedmill.VersionRef, error)
	// JoinFiles puts a file in the place of those of which it has the rows, in
	// the version of a number and in later ones where take allows it. Versions
	// that do not have all of them, one behind the other, stay as they are, and
	// it is feedmill.ErrConflict where that is so for all.
	JoinFiles(ctx context.Context, of feedmill.VersionRef, files []string, joined feedmill.VersionFile, take func(feedmill.FeedVersion, *feedmill.VersionFile) bool) error
	// Refresh finds a refresh of a feed.
	Refresh(ctx context.Context, workspace, feed, id feedmill.ID) (feedmill.Refresh, error)
	// Refreshes lists the refreshes of a feed, newest first. Of a feed that is
	// not there it lists none.
	Refreshes(ctx context.Context, workspace, feed feedmill.ID, p feedmill.Page) ([]feedmill.Refresh, error)
}

// keepFor is how long a version is kept for its age.
var keepFor = feedmill.DefaultKeep.For()

// switchTo makes a version made at a time the feed's next one and returns both.
func switchTo(t *testing.T, s Store, f feedmill.Feed, at time.Time) (feedmill.Feed, feedmill.FeedVersion) {
	t.Helper()
	v, r := nextVersion(f)
	v.CreatedAt = at
	f, err := s.SwitchVersion(t.Context(), f.Workspace, v, r, telling("refreshed"))
	must(t, err)
	return f, v
}

// forgets holds which versions a sweep at a time forgets: those whose files are
// returned. No original is shared.
func forgets(t *testing.T, s Store, at time.Time, versions ...feedmill.FeedVersion) {
	t.Helper()
	var wanted []string
	for _, v := range versions {
		wanted = append(append(wanted, v.FileNames()...), v.Original)
		unused, err := s.UnusedFiles(t.Context(), append(v.FileNames(), v.Original))
		must(t, err)
		equal(t, "unused before", nil, unused)
	}
	files, more, err := s.ForgetVersions(t.Context(), at, 100)
	must(t, err)
	slices.Sort(wanted)
	equal(t, "files to delete", wanted, names(files))
	sizes := make(map[string]int64)
	for _, v := range versions {
		sizes[v.Original] = v.OriginalBytes
		for _, file := range v.Files {
			sizes[file.Name] = file.Bytes
		}
	}
	for _, file := range files {
		equal(t, "size of "+file.Name, sizes[file.Name], file.Bytes)
	}
	if more {
		t.Error("there is more")
	}
	unused, err := s.UnusedFiles(t.Context(), wanted)
	must(t, err)
	equal(t, "unused after", wanted, unused)
}

// names are those of files, in their order.
func names(files []feedmill.UnreferencedFile) (names []string) {
	for _, file := range files {
		names = append(names, file.Name)
	}
	slices.Sort(names)
	return names
}

// kept holds which versions of a feed there are, by their numbers.
func kept(t *testing.T, s Store, f feedmill.Feed, numbers ...int64) {
	t.Helper()
	versions, err := s.FeedVersions(t.Context(), f.Workspace, f.ID, time.UnixMilli(1), 0, 100)
	must(t, err)
	var got []int64
	for _, v := range versions {
		got = append(got, v.Number)
	}
	equal(t, "versions", numbers, got)
}

var versionCases = []testCase{
	{name: "a switch moves the feed to a version and tells of it, and the old one stays", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f, first, refresh := newFeed(w.ID)
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &first, Refresh: &refresh}, nil, nil)
		must(t, err)
		sub, response := subscribe(t, s, w.ID, "datasource.refreshed"), newOnce(w.ID, "k1")
		v, r := nextVersion(f)
		v.Rows, v.Columns, v.Warnings = 0, v.Columns[:1], nil
		wanted := f
		wanted.Switch(v, r)
		wanted.Name = "new"
		e := told(f, "refreshed")
		got, err := s.SwitchVersion(ctx, w.ID, v, r, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
			f.Name = "new"
			equal(t, "the feed to change", wanted, *f)
			return &response, []feedmill.Event{e}, nil
		})
		must(t, err)
		equal(t, "returned", wanted, got)
		found(t, s, wanted)
		delivered(t, s, e, sub, offered(s))
		_, err = s.KeptResponse(ctx, w.ID, owner, "k1", now())
		must(t, err)
		for _, v := range []feedmill.FeedVersion{first, v} {
			got, err := s.FeedVersion(ctx, w.ID, f.ID, v.Number)
			must(t, err)
			equal(t, "a version", v, got)
		}
		versions, err := s.FeedVersions(ctx, w.ID, f.ID, now(), 0, 1)
		must(t, err)
		equal(t, "newest", []feedmill.FeedVersion{v}, versions)
		versions, err = s.FeedVersions(ctx, w.ID, f.ID, now(), 2, 10)
		must(t, err)
		equal(t, "older", []feedmill.FeedVersion{first}, versions)
	}},
	{name: "what is said of columns holds for all versions", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f, first, refresh := newFeed(w.ID)
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &first, Refresh: &refresh}, nil, nil)
		must(t, err)
		f, _ = switchTo(t, s, f, now())
		change := []feedmill.ColumnChange{{ID: "c1", Name: new("renamed"), Hidden: new(true), Position: new(2), OnMisfit: new(feedmill.MisfitsReject)}, {ID: "c2", Type: new(columnar.TypeText)}}
		changed, err := s.ChangeFeed(ctx, w.ID, f.ID, func(f *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
			return nil, nil, f.Relabel(change)
		})
		must(t, err)
		found(t, s, changed)
		for _, number := range []int64{1, 2} {
			v, err := s.FeedVersion(ctx, w.ID, f.ID, number)
			must(t, err)
			if c := v.Columns[0]; c.Name != "renamed" || !c.Hidden || c.Position != 2 || v.Columns[1].Type != columnar.TypeDecimal || v.Columns[1].Retype != "" {
				t.Errorf("version %d has %+v", number, v.Columns)
			}
		}
		versions, err := s.FeedVersions(ctx, w.ID, f.ID, now(), 0, 10)
		must(t, err)
		if len(versions) != 2 || versions[1].Columns[0].Name != "renamed" {
			t.Errorf("versions %+v", versions)
		}
	}},
	{name: "the first version of a feed that had none", run: func(t *testing.T, open func(*testing.T) Store) {
		s, at := open(t), now()
		w := newWorkspace(t, s)
		f := feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: w.ID, State: feedmill.FeedPending, CreatedAt: at, UpdatedAt: at}
		err := s.CreateFeed(t.Context(), feedmill.NewFeed{Feed: f}, nil, nil)
		must(t, err)
		got, _ := switchTo(t, s, f, at)
		found(t, s, got)
		if got.Version != 1 || got.State != feedmill.FeedReady {
			t.Errorf("the feed is %+v", got)
		}
	}},
	{name: "a switch from another version than the current one is refused", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f := makeFeed(t, s, w.ID)
		for _, number := range []int64{0, 1, 3} {
			v, r := nextVersion(f)
			v.Number = number
			_, err := s.SwitchVersion(ctx, w.ID, v, r, func(*feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
				t.Error("the feed is changed")
				return nil, nil, nil
			})
			want(t, err, feedmill.ErrConflict)
		}
		found(t, s, f)
		kept(t, s, f, 1)
		noEvents(t, s, w.ID)
	}},
	{name: "of switches at the same time one wins, and none is mixed", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		f := makeFeed(t, s, w.ID)
		var wg sync.WaitGroup
		var won atomic.Pointer[feedmill.FeedVersion]
		for range 8 {
			wg.Go(func() {
				v, r := nextVersion(f)
				switch _, err := s.SwitchVersion(ctx, w.ID, v, r, telling("refreshed")); {
				case err == nil && !won.CompareAndSwap(nil, &v):
					t.Error("two switches won")
				case err != nil && !errors.Is(err, feedmill.ErrConflict):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() == nil {
			t.Fatal("no switch won")
		}
		v, err := s.FeedVersion(ctx, w.ID, f.ID, 2)
		must(t, err)
		equal(t, "version", *won.Load(), v)
		got, err := s.Feed(ctx, w.ID, f.ID)
		must(t, err)
		if got.ContentHash != v.ContentHash || got.Version != 2 {
			t.Errorf("the feed is %+v", got)
		}
		kept(t, s, f, 2, 1)
		events, err := s.Events(ctx, w.ID, feedmill.EventQuery{Page: feedmill.Page{Limit: 10}})
		must(t, err)
		refreshes, err := s.Refreshes(ctx, w.ID, f.ID, feedmill.Page{Limit: 10})
		must(t, err)
		if len(events) != 1 || len(refreshes) != 2 {
			t.Errorf("there are %d events and %d refreshes, want 1 and 2", len(events), len(refreshes))
		}
	}},
	{name: "the last ten and all of the last seven days are kept", run: func(t *testing.T, open func(*testing.T) Store) {
		s, at := open(t), now()
		w := newWorkspace(t, s)
		f, first, r := newFeed(w.ID)
		first.CreatedAt = at.Add(-30 * 24 * time.Hour)
		err := s.CreateFeed(t.Context(), feedmill.NewFeed{Feed: f, Version: &first, Refresh: &r}, nil, nil)
		must(t, err)
		made := []feedmill.FeedVersion{first}
		for i := range 13 {
			age := []time.Duration{20 * 24 * time.Hour, keepFor - time.Minute, time.Hour}[min(i, 2)]
			var v feedmill.FeedVersion
			f, v = switchTo(t, s, f, at.Add(-age))
			made = append(made, v)
			if i == 8 {
				// Ten versions, and the first four weeks old.
				forgets(t, s, at)
			}
		}
		kept(t, s, f, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
		forgets(t, s, at, made[0], made[1])
		forgets(t, s, at)
		kept(t, s, f, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3)
		forgets(t, s, at.Add(time.Minute), made[2])
		forgets(t, s, at.Add(365*24*time.Hour), made[3])
		kept(t, s, f, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5)
		found(t, s, f)
	}},
	{name: "versions are forgotten a few at a time", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now()
		w := newWorkspace(t, s)
		f := makeFeed(t, s, w.ID)
		for range feedmill.DefaultKeep.Versions + 2 {
			f, _ = switchTo(t, s, f, at)
		}
		later := at.Add(keepFor + time.Hour)
		for _, c := range []struct {
			files int
			more  bool
		}{{6, true}, {3, false}, {0, false}} {
			files, more, err := s.ForgetVersions(ctx, later, 2)
			must(t, err)
			if len(files) != c.files || more != c.more {
				t.Errorf("%d files, more %v; want %+v", len(files), more, c)
			}
		}
	}},
	{name: "an original stays while a version needs it", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now()
		w := newWorkspace(t, s)
		f, first, r := newFeed(w.ID)
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &first, Refresh: &r}, nil, nil)
		must(t, err)
		v, r := nextVersion(f)
		v.Original, v.OriginalBytes = first.Original, first.OriginalBytes
		f, err = s.SwitchVersion(ctx, w.ID, v, r, telling("updated"))
		must(t, err)
		for range feedmill.DefaultKeep.Versions {
			f, _ = switchTo(t, s, f, at)
		}
		later := at.Add(keepFor + time.Hour)
		for _, wanted := range [][]string{first.FileNames(), append(v.FileNames(), first.Original)} {
			files, _, err := s.ForgetVersions(ctx, later, 1)
			must(t, err)
			slices.Sort(wanted)
			equal(t, "files to delete", wanted, names(files))
		}
	}},
	{name: "the versions of a deleted feed stay for those who read them, and then go", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now()
		w := newWorkspace(t, s)
		f, first, r := newFeed(w.ID)
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &first, Refresh: &r}, nil, nil)
		must(t, err)
		f, second := switchTo(t, s, f, at)
		makeFeed(t, s, w.ID)
		err = s.DeleteFeed(ctx, w.ID, f.ID, at, nil)
		must(t, err)
		forgets(t, s, at.Add(feedmill.KeepDeletedFor-time.Millisecond))
		forgets(t, s, at.Add(feedmill.KeepDeletedFor), first, second)
	}},
	{name: "what a workspace has stored is counted until it is forgotten", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx, at := open(t), t.Context(), now()
		w, other := newWorkspace(t, s), newWorkspace(t, s)
		stores := func(w feedmill.ID, bytes int64, unmeasured ...string) {
			t.Helper()
			got, names, err := s.StoredFiles(ctx, w)
			must(t, err)
			slices.Sort(names)
			slices.Sort(unmeasured)
			equal(t, "bytes", bytes, got)
			equal(t, "unmeasured", unmeasured, names)
		}
		stores(w.ID, 0)
		f, first, r := newFeed(w.ID)
		first.OriginalBytes = -1 // an earlier release stored it
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &first, Refresh: &r}, nil, nil)
		must(t, err)
		stores(w.ID, first.Bytes, first.Original)
		for i, original := range []string{first.Original, ""} {
			v, r := nextVersion(f)
			v.OriginalBytes = min(int64(i)-1, 0)
			v.Original, v.Files = original, append(first.Files, feedmill.VersionFile{Name: original + fmt.Sprint(i), Bytes: int64(i + 1)})
			f, err = s.SwitchVersion(ctx, w.ID, v, r, telling("refreshed"))
			must(t, err)
		}
		stores(w.ID, first.Bytes+3, first.Original)
		must(t, s.MeasureOriginal(ctx, first.Original, 5))
		stores(w.ID, first.Bytes+3+5)
		second, v, r := newFeed(w.ID)
		err = s.CreateFeed(ctx, feedmill.NewFeed{Feed: second, Version: &v, Refresh: &r}, nil, nil)
		must(t, err)
		stores(w.ID, first.Bytes+3+5+v.Bytes+v.OriginalBytes)
		stores(other.ID, 0)
		err = s.DeleteFeed(ctx, w.ID, f.ID, at, nil)
		must(t, err)
		stores(w.ID, first.Bytes+3+5+v.Bytes+v.OriginalBytes)
		_, _, err = s.ForgetVersions(ctx, at.Add(feedmill.KeepDeletedFor), 100)
		must(t, err)
		stores(w.ID, v.Bytes+v.OriginalBytes)
	}},
	{name: "files that nothing has are told from those in use", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		f, v, r := newFeed(newWorkspace(t, s).ID)
		v.Original = ""
		err := s.CreateFeed(ctx, feedmill.NewFeed{Feed: f, Version: &v, Refresh: &r}, nil, nil)
		must(t, err)
		unused, err := s.UnusedFiles(ctx, []string{"b", v.Files[1].Name, "a", r.Rejects})
		must(t, err)
		equal(t, "unused", []string{"b", "a"}, unused)
		unused, err = s.UnusedFiles(ctx, nil)
		must(t, err)
		equal(t, "unused of none", nil, unused)
	}},
}
