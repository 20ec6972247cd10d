package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// Backups are what a store does for backups and for stores that are restored from them.
type Backups interface {
	// Pin keeps files that records name from now on, until a lease ends. RenewPin returns
	// [feedmill.ErrPinLost] for a pin that has ended.
	Pin(ctx context.Context, id string, lease time.Duration) error
	RenewPin(ctx context.Context, id string, lease time.Duration) error
	Unpin(ctx context.Context, id string) error
	// KeptFiles lists the files behind a name that records name, by their names.
	KeptFiles(ctx context.Context, after string, limit int) ([]feedmill.KeptFile, error)
	// PausedFrom is the backup that a paused store was restored from, and Resume ends its pause.
	PausedFrom(ctx context.Context) (string, error)
	Resume(ctx context.Context) (was bool, err error)
}

// backupCases hold what backups rely on.
var backupCases = []testCase{
	{name: "pinned files are not deleted", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		f := makeFeed(t, s, newWorkspace(t, s).ID)
		file := string(f.ID) + "/s-replaced"
		deleting := func(what string, want ...string) {
			t.Helper()
			nextMillisecond()
			got, err := s.BeginDeleting(ctx, 0, 1, 9)
			must(t, err)
			equal(t, what, want, got)
		}
		must(t, s.BeginObject(ctx, file, "one", ""))
		must(t, s.Pin(ctx, "first", time.Hour))
		must(t, s.Pin(ctx, "second", time.Hour))
		want(t, s.Pin(ctx, "second", time.Hour), feedmill.ErrConflict)
		must(t, s.AbandonObjects(ctx, []feedmill.UnreferencedFile{{Name: file, Bytes: 7}}))
		deleting("with two pins")
		must(t, s.Unpin(ctx, "first"))
		deleting("with one pin")
		must(t, s.RenewPin(ctx, "second", time.Hour))
		want(t, s.RenewPin(ctx, "first", time.Hour), feedmill.ErrPinLost)
		// A lease that ends is lost, also if nobody has taken the pin away.
		must(t, s.RenewPin(ctx, "second", time.Millisecond))
		nextMillisecond()
		nextMillisecond()
		want(t, s.RenewPin(ctx, "second", time.Hour), feedmill.ErrPinLost)
		deleting("without a pin", file)
	}},
	{name: "the files that records name are listed", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		want := make(map[string]feedmill.KeptFile)
		for range 2 {
			f := makeFeed(t, s, newWorkspace(t, s).ID)
			v, r := nextVersion(f)
			_, err := s.SwitchVersion(ctx, f.Workspace, v, r, telling("refreshed"))
			must(t, err)
			want[v.Original] = feedmill.KeptFile{Name: v.Original, Bytes: v.OriginalBytes, Feed: f.ID, First: v.Number, Last: v.Number}
			want[r.Rejects] = feedmill.KeptFile{Name: r.Rejects, Bytes: -1, Feed: f.ID}
			for _, file := range v.Files {
				want[file.Name] = feedmill.KeptFile{Name: file.Name, Bytes: file.Bytes, SHA256: file.Sums.SHA256, Feed: f.ID, First: v.Number, Last: v.Number}
			}
		}
		found := make(map[string]feedmill.KeptFile)
		for after := ""; ; {
			files, err := s.KeptFiles(ctx, after, 3)
			must(t, err)
			for _, file := range files {
				if file.Name <= after {
					t.Fatalf("%s is listed after %s", file.Name, after)
				}
				found[file.Name], after = file, file.Name
			}
			if len(files) < 3 {
				break
			}
		}
		for name, file := range want {
			equal(t, name, file, found[name])
		}
	}},
	{name: "a store that was not restored is not paused", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		backup, err := s.PausedFrom(ctx)
		must(t, err)
		equal(t, "backup", "", backup)
		was, err := s.Resume(ctx)
		must(t, err)
		equal(t, "paused", false, was)
	}},
}
