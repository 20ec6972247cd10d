package feedmill_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/feedmill/feedmill"
)

func TestTypesWithASource(t *testing.T) {
	for kind, want := range map[feedmill.FeedType]bool{feedmill.FeedREST: true, feedmill.FeedQuery: true, feedmill.FeedUpload: false, "": false} {
		if kind.HasSource() != want {
			t.Errorf("%q has a source: %v", kind, !want)
		}
	}
}

func TestFeedSwitch(t *testing.T) {
	at := time.Unix(1000, 0)
	f := feedmill.Feed{
		ID: "df_1", Name: "n", State: feedmill.FeedFailed, Version: 1, RowCount: 7, LastError: &feedmill.FeedError{}, CreatedAt: at, UpdatedAt: at,
	}
	r := feedmill.Refresh{ID: "rfr_1", Feed: "df_1", State: feedmill.RefreshSucceeded}
	v := feedmill.FeedVersion{
		Feed: "df_1", Number: 2, Rows: 3, Bytes: 4, ContentHash: "h", CreatedAt: at.Add(time.Hour),
		Columns: []feedmill.Column{{ID: "c1"}}, Warnings: []feedmill.Warning{{Code: feedmill.WarnNoRows}},
	}
	f.Switch(v, r)
	want := feedmill.Feed{
		ID: "df_1", Name: "n", State: feedmill.FeedReady, Version: 2, RowCount: 3, ByteSize: 4, ContentHash: "h",
		Columns: v.Columns, Warnings: v.Warnings, LastRefresh: &r, Recent: "c", CreatedAt: at, UpdatedAt: v.CreatedAt,
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFeedRecord(t *testing.T) {
	before, because := &feedmill.FeedError{Title: "before"}, &feedmill.FeedError{Title: "because"}
	for _, test := range []struct {
		from    feedmill.FeedState
		refresh feedmill.RefreshState
		to      feedmill.FeedState
		err     *feedmill.FeedError
	}{
		{feedmill.FeedPending, feedmill.RefreshRunning, feedmill.FeedRefreshing, before},
		{feedmill.FeedRefreshing, feedmill.RefreshSucceeded, feedmill.FeedReady, nil},
		{feedmill.FeedRefreshing, feedmill.RefreshFailed, feedmill.FeedFailed, because},
		{feedmill.FeedAuthRequired, feedmill.RefreshSucceeded, feedmill.FeedReady, nil},
		{feedmill.FeedPaused, feedmill.RefreshRunning, feedmill.FeedPaused, before},
		{feedmill.FeedPaused, feedmill.RefreshSucceeded, feedmill.FeedPaused, nil},
		{feedmill.FeedPaused, feedmill.RefreshFailed, feedmill.FeedPaused, because},
	} {
		f := feedmill.Feed{State: test.from, Version: 3, LastError: before}
		f.Record(feedmill.Refresh{ID: "rfr_1", State: test.refresh, Error: because})
		if f.State != test.to || f.LastError != test.err || f.LastRefresh.ID != "rfr_1" || f.Version != 3 {
			t.Errorf("%s after a refresh that is %s: %+v", test.from, test.refresh, f)
		}
	}
}
