package feedmill

import (
	"testing"
	"time"
)

// children is a source without a schedule whose feeds are built from df_a and df_b.
func children(states ...FeedState) *SourceChange {
	c := hourly(states...)
	c.Source.Schedule = Schedule{}
	c.SetParents([]FeedParent{{ID: "df_a"}, {ID: "df_b"}})
	for i := range c.Parents {
		c.Parents[i].Version, c.Parents[i].Seen = 7, 7
	}
	return c
}

func TestFollow(t *testing.T) {
	c := children(FeedReady, FeedPaused, FeedFailed, FeedAuthRequired)
	c.SetParents([]FeedParent{{ID: "df_b"}, {ID: "df_c"}})
	c.Follow("df_a", runAt) // which is not a parent any more
	wantEqual(t, "refreshes", refreshes(c), []RefreshState{"", "", "", ""})
	c.Follow("df_c", runAt)
	wantEqual(t, "refreshes", refreshes(c), []RefreshState{RefreshPending, "", RefreshPending, RefreshPending})
	if r := c.Feeds[0].LastRefresh; r.Trigger != "df_c" || !c.Source.DueAt.Equal(runAt) {
		t.Errorf("%+v, due at %v", r, c.Source.DueAt)
	}
	waits := c.Feeds[0].LastRefresh.ID
	c.Follow("df_b", runAt)
	if r := c.Feeds[0].LastRefresh; r.ID != waits || r.Trigger != "df_c" {
		t.Errorf("it is requested twice: %+v", r)
	}
	scheduled := hourly(FeedReady)
	scheduled.SetParents([]FeedParent{{ID: "df_a"}})
	scheduled.Follow("df_a", runAt)
	wantEqual(t, "refreshes of a source with a schedule", refreshes(scheduled), []RefreshState{""})
}

// SetParents keeps what is known of parents that stay.
func TestSetParents(t *testing.T) {
	c := children(FeedReady, FeedReady)
	c.SetParents([]FeedParent{{ID: "df_b"}, {ID: "df_c"}, {ID: "df_b"}})
	wantEqual(t, "parents", c.Parents, []ParentLink{
		{Child: "df_1", Parent: "df_b", Version: 7, Seen: 7},
		{Child: "df_1", Parent: "df_c"},
		{Child: "df_2", Parent: "df_b", Version: 7, Seen: 7},
		{Child: "df_2", Parent: "df_c"},
	})
	c.SetParents(nil)
	wantEqual(t, "parents", c.Parents, []ParentLink(nil))
}

// A run that ends is followed by another where a parent has got a version since it began
// that it has not read.
func TestCatchUp(t *testing.T) {
	for name, test := range map[string]struct {
		version  int64
		outcome  FeedOutcome
		schedule Schedule
		want     RefreshState
	}{
		"nothing new":   {version: 7, want: RefreshSucceeded},
		"a new version": {version: 8, want: RefreshPending},
		"one that was read": {
			version: 8, want: RefreshSucceeded,
			outcome: FeedOutcome{Upstream: []UpstreamVersion{{ID: "df_a", Version: 7}, {ID: "df_b", Version: 8}}},
		},
		"one of which an older was read": {version: 9, outcome: FeedOutcome{Upstream: []UpstreamVersion{{ID: "df_b", Version: 8}}}, want: RefreshPending},
		"a failed run":                   {version: 8, outcome: FeedOutcome{Error: &FeedError{}}, want: RefreshPending},
		"a schedule":                     {version: 8, schedule: Schedule{Every: time.Hour}, want: RefreshSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			c := children(FeedReady, FeedReady)
			c.Parents[0].Seen = 1
			if _, err := c.Begin(runAt, runAt.Add(30*time.Second)); err != nil {
				t.Fatal(err)
			}
			if c.Parents[0].Seen != 7 {
				t.Error("the run does not see the version that is there when it begins")
			}
			c.Refreshes, c.Parents[1].Version, c.Source.Schedule = nil, test.version, test.schedule
			test.outcome.Feed = "df_1"
			if _, err := c.Finish(1, []FeedOutcome{test.outcome, {Feed: "df_2"}}, runAt); err != nil {
				t.Fatal(err)
			}
			c.CatchUp(runAt)
			wantEqual(t, "refreshes", refreshes(c), []RefreshState{test.want, RefreshSucceeded})
			if r := c.Feeds[0].LastRefresh; test.want == RefreshPending && (r.Trigger != "df_b" || len(c.Refreshes) != 3 || !c.Source.DueAt.Equal(runAt)) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A feed that is resumed is refreshed where a parent has got a version meanwhile.
func TestResumeCatchesUp(t *testing.T) {
	for version, want := range map[int64]FeedState{7: FeedReady, 8: FeedRefreshing} {
		c := children(FeedPaused, FeedPaused)
		for i := range c.Feeds {
			c.Feeds[i].LastRefresh = &Refresh{ID: "rfr_1", Feed: c.Feeds[i].ID, State: RefreshSucceeded, EndedAt: runAt}
		}
		c.Parents[3].Version = version
		for _, f := range c.Feeds {
			if _, err := c.Resume(f.ID, runAt); err != nil {
				t.Fatal(err)
			}
		}
		wantEqual(t, "states", states(c), []FeedState{FeedReady, want})
	}
}
