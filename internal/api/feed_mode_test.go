package api

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

func TestUploadMode(t *testing.T) {
	w := newWorld(t)
	w.Decompress = func(r io.Reader, _ string, _ int64) (io.ReadCloser, error) { return io.NopCloser(r), nil }
	merged := w.feeds.add(t, feedmill.FeedUpload, feedmill.RefreshSucceeded, func(f *feedmill.Feed) { f.Mode, f.Key = feedmill.ModeMerge, []string{"id"} })
	plain := w.feeds.add(t, feedmill.FeedUpload, feedmill.RefreshSucceeded)
	for _, c := range []struct {
		feed  feedmill.Feed
		query string
		want  string // or the parameter at fault
	}{
		{plain, "", "replace []"},
		{plain, "?mode=append", "append []"},
		{plain, `?mode=merge&key=a,%22b,c%22`, `merge ["a" "b,c"]`},
		{plain, "?mode=merge", "key"},
		{plain, "?key=a", "key"},
		{plain, "?mode=append&key=a", "key"},
		{plain, "?mode=merge&key=", "key"},
		{plain, "?mode=merge&key=a,a", "key"},
		{plain, "?mode=", "mode"},
		{plain, "?mode=upsert&key=a", "mode"},
		{merged, "", `merge ["id"]`},
		{merged, "?mode=merge", `merge ["id"]`},
		{merged, "?key=other", `merge ["other"]`},
		{merged, "?mode=replace", "replace []"},
		{merged, "?mode=append&key=id", "key"},
	} {
		w.feeds.uploads = nil
		a := ask(w.Server, "PUT", feedURL(c.feed.ID)+"/data"+c.query, "a\n1\n", "Content-Type", "text/csv")
		if a.Code == 200 {
			if got := fmt.Sprintf("%s %q", w.feeds.uploads[0].Mode, w.feeds.uploads[0].Key); got != c.want {
				t.Errorf("%s: %s, want %s", c.query, got, c.want)
			}
			continue
		}
		if p := readProblem(t, a); p.Status != 400 || len(p.Errors) != 1 || p.Errors[0].Parameter != c.want || !strings.HasSuffix(p.Errors[0].Detail, ".") {
			t.Errorf("%s: %+v", c.query, p)
		}
	}
}
