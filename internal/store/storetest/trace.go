package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// newRequests are so many requests of a fetch.
func newRequests(n int) (requests []feedmill.TracedRequest) {
	at := now()
	for i := range n {
		requests = append(requests, feedmill.TracedRequest{
			Method: "GET", URL: fmt.Sprintf("https://api.example.com/rows?page=%d&key=***", i+1), At: at.Add(time.Duration(i) * time.Millisecond),
			Status: 200, Bytes: 1<<40 + int64(i), DurationMS: 0.25 * float64(i), Rows: int64(i), Page: i + 1, Attempt: 1 + i%3,
		})
	}
	requests[n-1].Status, requests[n-1].Error = 0, "no answer: \x00 \"ü"
	return requests
}

// traced creates a source whose one feed has a refresh with a trace.
func traced(t *testing.T, s Store, requests int) (feedmill.Source, feedmill.Feed, []feedmill.TracedRequest) {
	t.Helper()
	source, feeds := makeSource(t, s, newWorkspace(t, s).ID, 1)
	trace := feedmill.Trace{Refresh: feeds[0].LastRefresh.ID, Feed: feeds[0].ID, Requests: newRequests(requests)}
	change(t, s, source, func(c *feedmill.SourceChange) { c.Traces = []feedmill.Trace{trace} })
	return source, feeds[0], trace.Requests
}

var traceCases = []testCase{
	{name: "a long one is read as it was written", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		_, f, requests := traced(t, s, 10_000)
		got, err := s.RefreshTrace(t.Context(), f.Workspace, f.ID, f.LastRefresh.ID)
		must(t, err)
		equal(t, "trace", requests, got)
	}},
	{name: "it is written over", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		source, f, _ := traced(t, s, 3)
		again := newRequests(1)
		change(t, s, source, func(c *feedmill.SourceChange) {
			c.Traces = []feedmill.Trace{{Refresh: f.LastRefresh.ID, Feed: f.ID, Requests: again}}
		})
		got, err := s.RefreshTrace(t.Context(), f.Workspace, f.ID, f.LastRefresh.ID)
		must(t, err)
		equal(t, "trace", again, got)
	}},
	{name: "it is of a refresh of the feed, in its workspace, or none", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		_, f, _ := traced(t, s, 3)
		_, err := s.RefreshTrace(ctx, newWorkspace(t, s).ID, f.ID, f.LastRefresh.ID)
		want(t, err, feedmill.ErrNotFound)
		_, other, _ := traced(t, s, 3)
		_, err = s.RefreshTrace(ctx, f.Workspace, f.ID, other.LastRefresh.ID)
		want(t, err, feedmill.ErrNotFound)
		uploaded := makeFeed(t, s, f.Workspace)
		got, err := s.RefreshTrace(ctx, f.Workspace, uploaded.ID, uploaded.LastRefresh.ID)
		must(t, err)
		equal(t, "trace of an upload", nil, got)
	}},
	{name: "it goes with its refresh", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		source, f, _ := traced(t, s, 3)
		last := newRefresh(f, feedmill.RefreshFailed)
		change(t, s, source, func(c *feedmill.SourceChange) {
			ended := *c.Feeds[0].LastRefresh
			ended.State = feedmill.RefreshFailed
			c.Refreshes = []feedmill.Refresh{ended, last}
			c.Feeds[0].Record(last)
		})
		_, _, err := s.ForgetRefreshes(ctx, now().Add(time.Hour), 10)
		must(t, err)
		_, err = s.RefreshTrace(ctx, f.Workspace, f.ID, f.LastRefresh.ID)
		want(t, err, feedmill.ErrNotFound)
		// What a refresh of the same id is asked for is not what it was then.
		change(t, s, source, func(c *feedmill.SourceChange) {
			again := *f.LastRefresh
			c.Refreshes = []feedmill.Refresh{again}
			c.Feeds[0].Record(again)
		})
		got, err := s.RefreshTrace(ctx, f.Workspace, f.ID, f.LastRefresh.ID)
		must(t, err)
		equal(t, "trace", nil, got)
	}},
	{name: "it is out of sight with its feed", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		_, f, _ := traced(t, s, 3)
		err := s.DeleteFeed(ctx, f.Workspace, f.ID, now(), nil)
		must(t, err)
		_, err = s.RefreshTrace(ctx, f.Workspace, f.ID, f.LastRefresh.ID)
		want(t, err, feedmill.ErrNotFound)
	}},
}
