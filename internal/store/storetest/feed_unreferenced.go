package storetest

import (
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

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
			got, err := s.ExpiredFiles(ctx, wait, most, limit)
			must(t, err)
			equal(t, what, want, got)
		}
		expired("before any is noted", 0, 0, 9)
		a, b, c, d := name(feed, "a"), name(feed, "b"), name(other, "c"), "df_gone/d"
		mark()
		mark(feedmill.UnreferencedFile{Name: a, Bytes: 60})
		mark(feedmill.UnreferencedFile{Name: c, Bytes: 90})
		mark(feedmill.UnreferencedFile{Name: b, Bytes: 50})
		mark(feedmill.UnreferencedFile{Name: a, Bytes: 60}, feedmill.UnreferencedFile{Name: d, Bytes: 10})
		expired("all, oldest first", 0, 0, 9, a, c, b, d)
		expired("some", 0, 0, 2, a, c)
		expired("too young", time.Hour, 0, 9)
		expired("within the bytes of each workspace", time.Hour, 110, 9)
		expired("beyond those of one", time.Hour, 109, 9, a)
		expired("beyond those of all but what is gone", time.Hour, 49, 9, a, c, b)
		must(t, s.ForgetUnreferenced(ctx, nil))
		must(t, s.ForgetUnreferenced(ctx, []string{a, "no such file"}))
		expired("those that are left", 0, 0, 9, c, b, d)
	}},
}
