package record

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

// found is a source with two feeds, of which the second has a version.
func found() *feedmill.SourceChange {
	at := time.UnixMilli(1).UTC()
	return &feedmill.SourceChange{
		Source: feedmill.Source{ID: "ds_1", Workspace: "ws_1", Type: feedmill.FeedREST, CreatedAt: at},
		Feeds: []feedmill.Feed{
			{ID: "df_1", Workspace: "ws_1", Source: "ds_1", Type: feedmill.FeedREST, CreatedAt: at},
			{
				ID: "df_2", Workspace: "ws_1", Source: "ds_1", Type: feedmill.FeedREST, CreatedAt: at, Version: 3,
				LastRefresh: &feedmill.Refresh{ID: "rfr_1", Feed: "df_2"},
			},
		},
	}
}

func TestCheckPutsBack(t *testing.T) {
	c := found()
	before := NoteSource(c)
	c.Source.ID, c.Source.Workspace, c.Source.Type, c.Source.CreatedAt = "", "", "", time.Time{}
	for i := range c.Feeds {
		f := &c.Feeds[i]
		f.Workspace, f.Source, f.Type, f.Version, f.CreatedAt = "", "", "", 9, time.Time{}
	}
	c.Feeds = append(c.Feeds, feedmill.Feed{ID: "df_3", Version: 9, CreatedAt: time.UnixMilli(2)})
	w, err := before.Check(c)
	if err != nil {
		t.Fatal(err)
	}
	want := found()
	want.Feeds = append(want.Feeds, feedmill.Feed{ID: "df_3", Workspace: "ws_1", Source: "ds_1", Type: feedmill.FeedREST, CreatedAt: time.UnixMilli(2)})
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(SourceWrite{There: want.Feeds[:2], Added: want.Feeds[2:]}, w); diff != "" {
		t.Errorf("to write (-want +got):\n%s", diff)
	}
}

func TestCheckFindsWhatIsReplaced(t *testing.T) {
	c := found()
	before := NoteSource(c)
	c.Feeds[1].LastRefresh.ID = "rfr_3" // in its place, which leaves no trace of the old id
	c.Refreshes = []feedmill.Refresh{{ID: "rfr_1", Feed: "df_2"}, {ID: "rfr_2", Feed: "df_2"}, {ID: "rfr_3", Feed: "df_2"}}
	c.Versions = []feedmill.FeedVersion{{Feed: "df_2", Number: 4}, {Feed: "df_1", Number: 1}}
	w, err := before.Check(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]feedmill.Refresh{{ID: "rfr_1", Feed: "df_2"}}, w.Replaced); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{true, true, false}, w.Superseded); diff != "" {
		t.Errorf("superseded (-want +got):\n%s", diff)
	}
	if c.Feeds[0].Version != 1 || c.Feeds[1].Version != 4 {
		t.Errorf("the versions are %d and %d", c.Feeds[0].Version, c.Feeds[1].Version)
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*feedmill.SourceChange)
		want   error // nil where any will do
	}{
		{"a feed less", func(c *feedmill.SourceChange) { c.Feeds = c.Feeds[:1] }, nil},
		{"another order", func(c *feedmill.SourceChange) { c.Feeds[0], c.Feeds[1] = c.Feeds[1], c.Feeds[0] }, nil},
		{"no last refresh", func(c *feedmill.SourceChange) { c.Feeds[1].LastRefresh = nil }, nil},
		{"a last refresh of another feed", func(c *feedmill.SourceChange) {
			c.Feeds[0].LastRefresh = &feedmill.Refresh{ID: "rfr_2"}
			c.Refreshes = []feedmill.Refresh{{ID: "rfr_2", Feed: "df_2"}}
		}, nil},
		{"a version after the next", func(c *feedmill.SourceChange) { c.Versions = []feedmill.FeedVersion{{Feed: "df_2", Number: 5}} }, feedmill.ErrConflict},
		{"the present version", func(c *feedmill.SourceChange) { c.Versions = []feedmill.FeedVersion{{Feed: "df_2", Number: 3}} }, feedmill.ErrConflict},
		{"two versions", func(c *feedmill.SourceChange) {
			c.Versions = []feedmill.FeedVersion{{Feed: "df_2", Number: 4}, {Feed: "df_2", Number: 5}}
		}, feedmill.ErrConflict},
		{"a version of no feed", func(c *feedmill.SourceChange) { c.Versions = []feedmill.FeedVersion{{Feed: "df_9", Number: 1}} }, feedmill.ErrNotFound},
		{"a refresh of no feed", func(c *feedmill.SourceChange) { c.Refreshes = []feedmill.Refresh{{ID: "rfr_2", Feed: "df_9"}} }, feedmill.ErrNotFound},
		{"a trace of no feed", func(c *feedmill.SourceChange) { c.Traces = []feedmill.Trace{{Refresh: "rfr_1", Feed: "df_9"}} }, feedmill.ErrNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := found()
			before := NoteSource(change)
			c.change(change)
			if _, err := before.Check(change); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
		})
	}
}
