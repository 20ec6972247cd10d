package storetest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// moveCases hold what moving files to another location relies on.
var moveCases = []testCase{
	{name: "files are refused while they are moved and at their former location", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		at := func(location, place string) {
			t.Helper()
			gotLocation, gotPlace, err := s.FileLocation(ctx)
			must(t, err)
			equal(t, "location", location, gotLocation)
			equal(t, "place", place, gotPlace)
		}
		at("", "")
		_, err := s.StoreID(ctx, "one")
		must(t, err)
		at("", "")
		must(t, s.BeginObject(ctx, "a/1", "one", ""))
		want(t, s.BeginObject(ctx, "a/2", "one", "elsewhere"), feedmill.ErrUnavailable)
		must(t, s.CloseFiles(ctx, "first", "l1", time.Hour))
		must(t, s.KeepClosed(ctx, "first", "l1", time.Hour))
		want(t, s.CloseFiles(ctx, "second", "l2", time.Hour), feedmill.ErrConflict)
		want(t, s.KeepClosed(ctx, "second", "l1", time.Hour), feedmill.ErrConflict)
		want(t, s.BeginObject(ctx, "a/2", "one", ""), feedmill.ErrUnavailable)
		must(t, s.OpenFiles(ctx, "second", "l1"))
		want(t, s.BeginObject(ctx, "a/2", "one", ""), feedmill.ErrUnavailable)
		must(t, s.OpenFiles(ctx, "first", "l1"))
		must(t, s.BeginObject(ctx, "a/2", "one", ""))

		// A lease that has ended refuses nothing, and its move does not succeed after a file was begun.
		must(t, s.CloseFiles(ctx, "first", "l1", time.Millisecond))
		nextMillisecond()
		nextMillisecond()
		must(t, s.BeginObject(ctx, "a/3", "one", ""))
		must(t, s.ForgetObject(ctx, "a/3"))
		want(t, s.KeepClosed(ctx, "first", "l1", time.Hour), feedmill.ErrConflict)
		want(t, s.EndMove(ctx, "first", "", "l1", "s3://b/p"), feedmill.ErrConflict)

		// A move to the same target replaces one that was killed.
		must(t, s.CloseFiles(ctx, "killed", "l1", time.Hour))
		must(t, s.CloseFiles(ctx, "second", "l1", time.Hour))
		want(t, s.EndMove(ctx, "killed", "", "l1", "s3://b/p"), feedmill.ErrConflict)
		writing, err := s.LoseWriting(ctx, time.Hour)
		must(t, err)
		equal(t, "files that are being written", 2, writing)
		want(t, s.EndMove(ctx, "second", "", "l1", "s3://b/p"), feedmill.ErrConflict)
		at("", "")
		writing, err = s.LoseWriting(ctx, 0)
		must(t, err)
		equal(t, "files that are being written", 0, writing)
		want(t, s.EndMove(ctx, "second", "l0", "l1", "s3://b/p"), feedmill.ErrConflict)
		must(t, s.EndMove(ctx, "second", "", "l1", "s3://b/p"))
		at("l1", "s3://b/p")
		want(t, s.BeginObject(ctx, "a/4", "one", ""), feedmill.ErrUnavailable)
		must(t, s.BeginObject(ctx, "a/4", "one", "l1"))
		want(t, s.BeginObject(ctx, "a/1", "one", "l1"), feedmill.ErrConflict) // given up, and never used again
	}},
	{name: "no file is begun beside the end of a move", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		_, err := s.StoreID(ctx, "one")
		must(t, err)
		var n atomic.Int64
		var writers sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			writers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					err := s.BeginObject(ctx, "a/"+string(feedmill.NewID("x")), "one", "")
					if err == nil {
						n.Add(1)
					} else if !errors.Is(err, feedmill.ErrUnavailable) {
						t.Error(err)
						return
					}
				}
			})
		}
		for n.Load() < 20 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		must(t, s.CloseFiles(ctx, "m", "l1", time.Hour))
		// Files that were begun before the close are counted, whenever they commit.
		for writing := 1; writing > 0; {
			writing, err = s.LoseWriting(ctx, 0)
			must(t, err)
		}
		must(t, s.EndMove(ctx, "m", "", "l1", "p"))
		close(stop)
		writers.Wait()
		writing, err := s.LoseWriting(ctx, time.Hour)
		must(t, err)
		equal(t, "files begun beside the end of the move", 0, writing)
	}},
	{name: "the files to move are listed", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		var names []string
		for range 2 {
			f := makeFeed(t, s, newWorkspace(t, s).ID)
			v, r := nextVersion(f)
			for _, file := range []string{v.Files[0].Name, string(f.ID) + "/s-lost", string(f.ID) + "/t-written"} {
				must(t, s.BeginObject(ctx, file, "one", ""))
			}
			_, err := s.SwitchVersion(ctx, f.Workspace, v, r, telling("refreshed"))
			must(t, err)
			must(t, s.AbandonObjects(ctx, []feedmill.UnreferencedFile{{Name: string(f.ID) + "/s-lost", Bytes: 7}}))
			names = append(names, string(f.ID)+"/s-lost", v.Files[0].Name)
		}
		var got []string
		for after := ""; ; {
			some, err := s.StoredObjects(ctx, after, 2)
			must(t, err)
			if len(some) == 0 {
				break
			}
			got, after = append(got, some...), some[len(some)-1]
		}
		for _, name := range names {
			if !slices.Contains(got, name) {
				t.Errorf("%s is not listed in %q", name, got)
			}
		}
		if slices.ContainsFunc(got, func(name string) bool { return strings.HasSuffix(name, "/t-written") }) {
			t.Errorf("a file that is written is listed in %q", got)
		}
	}},
}
