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

func TestPausedReason(t *testing.T) {
	for _, test := range []struct {
		feed Feed
		want string
	}{
		{Feed{State: FeedFailed, Failures: 20}, ""},
		{Feed{State: FeedPaused, Failures: 3}, "user"},
		{Feed{State: FeedPaused, Failures: MaxFailures}, "failures"},
	} {
		if got := test.feed.PausedReason(); got != test.want {
			t.Errorf("%s with %d failures is paused because of %q, want %q", test.feed.State, test.feed.Failures, got, test.want)
		}
	}
}

func TestSourceLabel(t *testing.T) {
	for _, test := range []struct {
		of         FeedType
		spec, want string
	}{
		{FeedUpload, `{"format":"csv","file":"a b.csv"}`, "a b.csv"},
		{FeedUpload, `{"format":"xlsx","file":"q3.xlsx","sheet":2}`, "q3.xlsx, sheet 2"},
		{FeedUpload, `{"format":"csv","file":"a\nb.csv"}`, "a b.csv"},
		{FeedUpload, `{"format":"csv"}`, ""},
		{FeedUpload, `{"file":"` + strings.Repeat("é", 200) + `"}`, strings.Repeat("é", 148) + "…"},
		{FeedREST, `{"request":{"url":"https://me:pass@api.test:8443/v1/orders/?key=secret#x"}}`, "api.test:8443/v1/orders"},
		{FeedREST, `{"request":{"url":"https://api.test?key=a/b@c"}}`, "api.test"},
		{FeedREST, `{"request":{"url":"https://api.test/{{repo.name}}/issues"}}`, "api.test/{{repo.name}}/issues"},
		{FeedREST, `{"request":{"url":{"secret":true}}}`, ""},
		{FeedQuery, `{"serviceName":"warehouse","viewName":"sales.orders"}`, "warehouse · sales.orders"},
		{FeedQuery, `nonsense`, ""},
	} {
		f := Feed{Type: test.of, Spec: []byte(test.spec)}
		if got := f.SourceLabel(); got != test.want {
			t.Errorf("%s is %q, want %q", test.spec, got, test.want)
		}
	}
}
