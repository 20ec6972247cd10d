package feedmill

import (
	"errors"
	"testing"
	"time"
)

func TestRequestsOfAFeedThatIsNotThere(t *testing.T) {
	for name, ask := range map[string]func(*SourceChange) error{
		"request": func(c *SourceChange) error { _, err := c.Request("df_2", runAt); return err },
		"pause":   func(c *SourceChange) error { _, err := c.Pause("df_2", runAt); return err },
		"resume":  func(c *SourceChange) error { _, err := c.Resume("df_2", runAt); return err },
		"cancel":  func(c *SourceChange) error { _, err := c.Cancel("df_2", "rfr_1", runAt); return err },
		"redo":    func(c *SourceChange) error { _, err := c.Redo([]ID{"df_1", "df_2"}, runAt); return err },
	} {
		if err := ask(hourly(FeedReady)); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefusedRequestsSayWhy(t *testing.T) {
	_, paused := hourly(FeedPaused).Request("df_1", runAt)
	_, ended := hourly(FeedReady).Cancel("df_1", "rfr_1", runAt)
	for kind, err := range map[string]error{"feed-paused": paused, "refresh-ended": ended} {
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Kind != ErrConflict || refusal.Type != kind || refusal.Detail == "" {
			t.Errorf("%+v, want a conflict that is %s, with a detail", err, kind)
		}
	}
}

func TestRequestedRefresh(t *testing.T) {
	c := hourly(FeedReady)
	c.By = "key_1"
	r, err := c.Request("df_1", runAt)
	if err != nil || !IsID(PrefixRefresh, string(r.ID)) {
		t.Fatalf("%+v, %v", r, err)
	}
	want := Refresh{ID: r.ID, Feed: "df_1", State: RefreshPending, Trigger: "key_1", StartedAt: runAt}
	wantEqual(t, "the refresh", r, want)
	wantEqual(t, "what is written", c.Refreshes, []Refresh{want})

	// What is asked for again stays as due as it was.
	c.Source.DueAt = runAt.Add(-time.Minute)
	if again, err := c.Request("df_1", runAt.Add(time.Minute)); err != nil || again.ID != r.ID || !c.Source.DueAt.Equal(runAt.Add(-time.Minute)) {
		t.Errorf("again: %+v, %v, %+v", again, err, c.Source)
	}
}

// A refresh that changes twice is written once, as it is in the end.
func TestCancelledRefresh(t *testing.T) {
	c := hourly(FeedReady)
	r, err := c.Request("df_1", runAt)
	if err != nil {
		t.Fatal(err)
	}
	c.Feeds[0].LastRefresh.RowsIn, c.Feeds[0].LastRefresh.Pages = 7, 2
	now := runAt.Add(time.Second)
	if _, err := c.Cancel("df_1", r.ID, now); err != nil {
		t.Fatal(err)
	}
	if len(c.Refreshes) != 1 {
		t.Fatalf("%d refreshes are written", len(c.Refreshes))
	}
	got := c.Refreshes[0]
	if e := got.Error; e == nil || e.Type != "/problems/cancelled" || e.Title == "" || e.Detail == "" || !e.At.Equal(now) {
		t.Errorf("it failed because of %+v", e)
	}
	got.Error = nil
	wantEqual(t, "the refresh", got, Refresh{ID: r.ID, Feed: "df_1", State: RefreshFailed, StartedAt: runAt, EndedAt: now, Pages: 2})
}

// Pausing cancels what waits and what no run has any more; a run may end.
func TestPauseOfARefresh(t *testing.T) {
	for _, test := range []struct {
		name   string
		state  RefreshState
		leased bool
		want   RefreshState
	}{
		{"that waits", RefreshPending, false, RefreshFailed},
		{"that waits for the end of another run", RefreshPending, true, RefreshFailed},
		{"that runs", RefreshRunning, true, RefreshRunning},
		{"whose run was cut off", RefreshRunning, false, RefreshFailed},
		{"that has ended", RefreshSucceeded, false, RefreshSucceeded},
	} {
		c := hourly(FeedReady)
		c.Feeds[0].LastRefresh = &Refresh{ID: "rfr_1", Feed: "df_1", State: test.state}
		if test.leased {
			c.Source.LeasedUntil = runAt.Add(1)
		}
		if _, err := c.Pause("df_1", runAt); err != nil || c.Feeds[0].LastRefresh.State != test.want || !c.Feeds[0].UpdatedAt.Equal(runAt) {
			t.Errorf("%s: %v, %+v", test.name, err, c.Feeds[0].LastRefresh)
		}
	}
}

func TestResumeWithoutASchedule(t *testing.T) {
	for _, test := range []struct {
		name    string
		refresh *Refresh
		state   FeedState
	}{
		{"after a success", &Refresh{State: RefreshSucceeded, EndedAt: runAt.Add(-time.Hour)}, FeedReady},
		{"before anything was fetched", nil, FeedRefreshing},
	} {
		c := hourly(FeedPaused)
		c.Source.Schedule, c.Source.DueAt, c.Feeds[0].LastRefresh = Schedule{}, time.Time{}, test.refresh
		if _, err := c.Resume("df_1", runAt); err != nil || c.Feeds[0].State != test.state || !c.Feeds[0].UpdatedAt.Equal(runAt) {
			t.Errorf("%s: %v, %+v", test.name, err, c.Feeds[0])
		}
	}
}

func TestRedoLeavesWhatHasEnded(t *testing.T) {
	c := hourly(FeedPaused, FeedReady)
	for i := range c.Feeds {
		c.Feeds[i].LastRefresh = &Refresh{ID: "rfr_1", State: RefreshSucceeded}
	}
	news, err := c.Redo([]ID{"df_2"}, runAt)
	if err != nil || news != nil || c.Feeds[0].LastRefresh.State != RefreshSucceeded || c.Feeds[1].LastRefresh.State != RefreshPending {
		t.Errorf("%v, %v, %+v", news, err, c.Feeds)
	}
}

func TestRestore(t *testing.T) {
	older := &FeedVersion{Feed: "df_1", Number: 4, Rows: 7, ContentHash: "h1"}
	r := Refresh{ID: "rfr_r", Feed: "df_1", State: RefreshSucceeded, Version: 4}
	for _, test := range []struct {
		name    string
		mode    FeedMode
		state   FeedState
		every   time.Duration
		running bool
		version *FeedVersion
		want    FeedState
		news    []SourceNews
	}{
		{name: "on a schedule", mode: ModeReplace, state: FeedReady, every: time.Hour, version: older, want: FeedPaused, news: []SourceNews{{Feed: "df_1", Kind: NewsPaused}}},
		{name: "in a run", mode: ModeReplace, state: FeedReady, every: time.Hour, running: true, version: older, want: FeedPaused, news: []SourceNews{{Feed: "df_1", Kind: NewsFailed}, {Feed: "df_1", Kind: NewsPaused}}},
		{name: "what it has already", mode: ModeReplace, state: FeedReady, every: time.Hour, want: FeedPaused, news: []SourceNews{{Feed: "df_1", Kind: NewsPaused}}},
		{name: "paused before", mode: ModeReplace, state: FeedPaused, every: time.Hour, version: older, want: FeedPaused},
		{name: "without a schedule", mode: ModeReplace, state: FeedReady, version: older, want: FeedReady},
		{name: "what adds to it", mode: ModeAppend, state: FeedReady, every: time.Hour, version: older, want: FeedReady},
		{name: "what adds to it, in a run", mode: ModeAppend, state: FeedReady, every: time.Hour, running: true, version: older, want: FeedRefreshing},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := hourly(test.state)
			if test.running {
				c = running(t, test.state)
			}
			f := &c.Feeds[0]
			c.Source.Schedule.Every, f.Mode = test.every, test.mode
			run := c.Source.Run
			news, err := c.Restore("df_1", test.version, []byte(`5`), r, runAt.Add(time.Second))
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "news", news, test.news)
			if f.State != test.want || string(f.Position) != "5" || c.Source.Leased(runAt.Add(time.Second)) || (c.Source.Run != run) != test.running {
				t.Errorf("the feed is %+v of %+v", *f, c.Source)
			}
			if test.version != nil {
				wantEqual(t, "versions", c.Versions, []FeedVersion{*older})
			}
			if (f.Version == 4) != (test.version != nil) || f.RowCount != 7 && test.version != nil {
				t.Errorf("version %d with %d rows is there", f.Version, f.RowCount)
			}
			if last := c.Refreshes[len(c.Refreshes)-1]; last.ID != r.ID {
				t.Errorf("%+v is the last refresh that is written", last)
			}
			if awaits := test.want == FeedRefreshing; (f.LastRefresh.ID == r.ID) == awaits {
				t.Errorf("the last refresh is %+v", f.LastRefresh)
			}
		})
	}
	late := *older
	late.Number = 5
	if _, err := hourly(FeedReady).Restore("df_1", &late, nil, r, runAt); !errors.Is(err, ErrConflict) {
		t.Errorf("a version that is not the next: %v", err)
	}
	if _, err := hourly(FeedReady).Restore("df_2", nil, nil, r, runAt); !errors.Is(err, ErrNotFound) {
		t.Errorf("a feed that is not there: %v", err)
	}
}

func TestRequestThatAccepts(t *testing.T) {
	c := hourly(FeedReady)
	for _, step := range []struct{ accept, want bool }{{false, false}, {true, true}, {false, true}} {
		if _, err := c.RequestAccepting("df_1", step.accept, runAt); err != nil || c.Feeds[0].Expects.Accept != step.want {
			t.Errorf("asked to accept: %v; accepted is %v, %v", step.accept, c.Feeds[0].Expects.Accept, err)
		}
	}
	c = running(t, FeedReady)
	if _, err := c.RequestAccepting("df_1", false, runAt); err != nil {
		t.Error(err)
	}
	var refusal *Error
	if _, err := c.RequestAccepting("df_1", true, runAt); !errors.As(err, &refusal) || refusal.Type != "refresh-running" {
		t.Errorf("in a run: %v", err)
	}
}
