package feedmill

import (
	"strings"
	"testing"
)

func TestRecentRefreshes(t *testing.T) {
	f := Feed{State: FeedReady}
	f.Record(Refresh{ID: "rfr_1", State: RefreshRunning})
	f.Record(Refresh{ID: "rfr_1", State: RefreshSucceeded})
	f.Record(Refresh{ID: "rfr_1", State: RefreshSucceeded}) // once more, as when it becomes a version
	f.Record(Refresh{ID: "rfr_2", State: RefreshSucceeded, Unchanged: true})
	f.Record(Refresh{ID: "rfr_3", State: RefreshFailed})
	f.Record(Refresh{ID: "rfr_4", State: RefreshPending})
	wantEqual(t, "recent", f.RecentRefreshes(), []string{"changed", "unchanged", "failed", "running"})
	for range 40 {
		f.Record(Refresh{ID: NewID(PrefixRefresh), State: RefreshSucceeded})
	}
	wantEqual(t, "kept", f.Recent, strings.Repeat("c", 30))
	f.Record(Refresh{ID: "rfr_5", State: RefreshRunning})
	if words := f.RecentRefreshes(); len(words) != 30 || words[29] != "running" {
		t.Errorf("recent are %v", words)
	}
}
