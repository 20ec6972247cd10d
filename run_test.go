package feedmill

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var runAt = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// hourly is a source with feeds in given states that is due since a second.
func hourly(states ...FeedState) *SourceChange {
	c := &SourceChange{Source: Source{
		ID: "ds_1", Schedule: Schedule{Every: time.Hour}, DueAt: runAt.Add(-time.Second), CreatedAt: runAt.Add(-24 * time.Hour),
	}}
	for i, state := range states {
		c.Feeds = append(c.Feeds, Feed{ID: ID("df_" + string(rune('1'+i))), Source: "ds_1", State: state, Version: 3, ContentHash: "h3"})
	}
	return c
}

// running is the same while run 1 has it for another 30 s.
func running(t *testing.T, states ...FeedState) *SourceChange {
	t.Helper()
	c := hourly(states...)
	if _, err := c.Begin(runAt, runAt.Add(30*time.Second)); err != nil {
		t.Fatal(err)
	}
	c.Refreshes = nil
	return c
}

// planned is when the schedule of these sources has its next time.
func (c *SourceChange) planned(now time.Time) time.Time {
	return c.Source.Schedule.Next(now, c.Source.CreatedAt, c.Source.ID)
}

func states(c *SourceChange) (s []FeedState) {
	for _, f := range c.Feeds {
		s = append(s, f.State)
	}
	return s
}

func refreshes(c *SourceChange) (s []RefreshState) {
	for _, f := range c.Feeds {
		if f.LastRefresh == nil {
			s = append(s, "")
			continue
		}
		s = append(s, f.LastRefresh.State)
	}
	return s
}

func wantEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestBegin(t *testing.T) {
	until := runAt.Add(30 * time.Second)
	c := hourly(FeedReady, FeedPaused, FeedAuthRequired, FeedFailed, FeedRefreshing, FeedPaused)
	c.Feeds[4].LastRefresh = &Refresh{ID: "rfr_old", Feed: "df_5", State: RefreshPending, Trigger: "key_1", StartedAt: runAt.Add(-time.Hour)}
	c.Feeds[5].LastRefresh = &Refresh{ID: "rfr_cut", Feed: "df_6", State: RefreshRunning}
	news, err := c.Begin(runAt, until)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "states", states(c), []FeedState{FeedRefreshing, FeedPaused, FeedAuthRequired, FeedRefreshing, FeedRefreshing, FeedPaused})
	wantEqual(t, "refreshes", refreshes(c), []RefreshState{RefreshRunning, "", "", RefreshRunning, RefreshRunning, RefreshFailed})
	wantEqual(t, "news", news, []SourceNews{{Feed: "df_6", Kind: NewsFailed}})
	wantEqual(t, "the refresh that was asked for", *c.Feeds[4].LastRefresh, Refresh{ID: "rfr_old", Feed: "df_5", State: RefreshRunning, Trigger: "key_1", Stage: StageFetching, StartedAt: runAt})
	if s := c.Source; s.Run != 1 || !s.LeasedUntil.Equal(until) || !s.DueAt.Equal(runAt.Add(-time.Second)) || len(c.Refreshes) != 4 {
		t.Errorf("the source is %+v, and %d refreshes are written", s, len(c.Refreshes))
	}
	if _, err := c.Begin(until.Add(-1), until.Add(time.Minute)); !errors.Is(err, ErrConflict) {
		t.Errorf("a second run while the first has the lease: %v", err)
	}
	first := c.Feeds[0].LastRefresh.ID
	if _, err := c.Begin(until, until.Add(30*time.Second)); err != nil || c.Source.Run != 2 || c.Feeds[0].LastRefresh.ID != first {
		t.Errorf("taking over: %v, %+v", err, c.Source)
	}
}

func TestBeginOfNothing(t *testing.T) {
	c := hourly(FeedPaused, FeedAuthRequired)
	if _, err := c.Begin(runAt, runAt.Add(time.Minute)); err != nil || c.Source.Leased(runAt) || !c.Source.DueAt.IsZero() || c.Refreshes != nil {
		t.Errorf("without an active feed: %v, %+v", err, c.Source)
	}
	for _, due := range []time.Time{{}, runAt.Add(1)} {
		c := hourly(FeedReady)
		c.Source.DueAt = due
		if _, err := c.Begin(runAt, runAt.Add(time.Minute)); !errors.Is(err, ErrConflict) {
			t.Errorf("due at %v: %v", due, err)
		}
	}
}

func TestFinish(t *testing.T) {
	now := runAt.Add(10 * time.Second)
	next := &FeedVersion{Feed: "df_1", Number: 4, Rows: 7, ContentHash: "h4", CreatedAt: now}
	broken := &FeedError{Type: "/problems/broken", At: now}
	for _, test := range []struct {
		name     string
		failures int // before
		outcome  FeedOutcome
		paused   bool // by hand, meanwhile
		state    FeedState
		failed   int
		version  int64
		news     []string
		wait     time.Duration // 0 by the schedule, -1 never
	}{
		{name: "a new version", failures: 7, outcome: FeedOutcome{Version: next}, state: FeedReady, version: 4, news: []string{NewsRefreshed}},
		{name: "new columns", outcome: FeedOutcome{Version: next, Reshaped: true}, state: FeedReady, version: 4, news: []string{NewsRefreshed, NewsUpdated}},
		{name: "unchanged", failures: 2, state: FeedReady, version: 3, news: []string{NewsRefreshed}},
		{name: "the first failure", outcome: FeedOutcome{Error: broken}, state: FeedFailed, failed: 1, version: 3, news: []string{NewsFailed}, wait: 5 * time.Minute},
		{name: "the second", failures: 1, outcome: FeedOutcome{Error: broken}, state: FeedFailed, failed: 2, version: 3, news: []string{NewsFailed}, wait: 30 * time.Minute},
		{name: "the third", failures: 2, outcome: FeedOutcome{Error: broken}, state: FeedFailed, failed: 3, version: 3, news: []string{NewsFailed}, wait: 6 * time.Hour},
		{name: "the nineteenth", failures: 18, outcome: FeedOutcome{Error: broken}, state: FeedFailed, failed: 19, version: 3, news: []string{NewsFailed}, wait: 6 * time.Hour},
		{name: "the twentieth", failures: 19, outcome: FeedOutcome{Error: broken}, state: FeedPaused, failed: 20, version: 3, news: []string{NewsFailed, NewsPaused}, wait: -1},
		{name: "the credential", outcome: FeedOutcome{Error: broken, AuthRequired: true}, state: FeedAuthRequired, failed: 1, version: 3, news: []string{NewsFailed, NewsAuthRequired}, wait: -1},
		{name: "the credential for the twentieth time", failures: 19, outcome: FeedOutcome{Error: broken, AuthRequired: true}, state: FeedAuthRequired, failed: 20, version: 3, news: []string{NewsFailed, NewsAuthRequired}, wait: -1},
		{name: "paused meanwhile, and good", paused: true, outcome: FeedOutcome{Version: next}, state: FeedPaused, version: 4, news: []string{NewsRefreshed}, wait: -1},
		{name: "paused meanwhile, and failed", paused: true, outcome: FeedOutcome{Error: broken, AuthRequired: true}, state: FeedPaused, failed: 1, version: 3, news: []string{NewsFailed}, wait: -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := running(t, FeedReady)
			f := &c.Feeds[0]
			f.Failures = test.failures
			if test.paused {
				if _, err := c.Pause(f.ID, now); err != nil || f.LastRefresh.State != RefreshRunning || c.Source.DueAt.IsZero() {
					t.Fatalf("pausing in a run: %v, %+v, %+v", err, c.Source, f.LastRefresh)
				}
			}
			o := test.outcome
			o.Feed, o.Refresh, o.Trace, o.Position = f.ID, Refresh{RowsIn: 9, Pages: 2}, []TracedRequest{{Method: "GET"}}, []byte(`2`)
			id := f.LastRefresh.ID
			news, err := c.Finish(1, []FeedOutcome{o}, now)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, n := range news {
				kinds = append(kinds, n.Kind)
			}
			wantEqual(t, "news", kinds, test.news)
			if f.State != test.state || f.Failures != test.failed || f.Version != test.version || (string(f.Position) == "2") != (o.Error == nil) {
				t.Errorf("the feed is %+v at %s", *f, f.Position)
			}
			r := *f.LastRefresh
			want := Refresh{ID: id, Feed: f.ID, State: RefreshSucceeded, Trigger: TriggerSchedule, StartedAt: runAt, EndedAt: now, RowsIn: 9, Pages: 2, Unchanged: o.Version == nil}
			if o.Error != nil {
				want.State, want.Error, want.Unchanged, want.RowsIn = RefreshFailed, broken, false, 0
			}
			var versions []FeedVersion
			if o.Version != nil {
				made := *next
				made.Refresh, made.Position = id, o.Position
				want.Version, versions = 4, []FeedVersion{made}
			}
			wantEqual(t, "the refresh", r, want)
			wantEqual(t, "what is written", []any{c.Refreshes, c.Versions, c.Traces}, []any{
				[]Refresh{r}, versions, []Trace{{Refresh: id, Feed: f.ID, Requests: o.Trace}},
			})
			due := c.planned(now)
			switch {
			case test.wait < 0:
				due = time.Time{}
			case test.wait > 0:
				due = now.Add(test.wait + c.Source.ID.part(test.wait/10))
			}
			if !c.Source.DueAt.Equal(due) || !f.NextRefreshAt.Equal(due) || !c.Source.LeasedUntil.IsZero() || f.Schedule != c.Source.Schedule {
				t.Errorf("due at %v and %v, leased until %v, want %v", c.Source.DueAt, f.NextRefreshAt, c.Source.LeasedUntil, due)
			}
		})
	}
}

func TestFinishOfSeveralFeeds(t *testing.T) {
	now := runAt.Add(time.Second)
	good, bad := FeedOutcome{Feed: "df_1", Position: []byte(`2`)}, FeedOutcome{Feed: "df_2", Position: []byte(`2`), Error: &FeedError{}}
	c := running(t, FeedReady, FeedReady, FeedPaused)
	if _, err := c.Finish(1, []FeedOutcome{good, bad, {Feed: "df_gone"}}, now); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "states", states(c), []FeedState{FeedReady, FeedFailed, FeedPaused})
	if string(c.Feeds[0].Position) != "2" || c.Feeds[1].Position != nil || !c.Source.DueAt.Equal(c.planned(now)) || !c.Feeds[2].NextRefreshAt.IsZero() {
		t.Errorf("one good and one bad: %+v", c.Source)
	}

	c = running(t, FeedReady)
	c.Feeds = append(c.Feeds, Feed{ID: "df_new", State: FeedPending})
	if _, err := c.Request("df_new", now); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Finish(1, []FeedOutcome{good}, now); err != nil {
		t.Fatal(err)
	}
	if c.Feeds[1].Position != nil || !c.Source.DueAt.Equal(now) || c.Feeds[1].LastRefresh.State != RefreshPending {
		t.Errorf("a feed that came during the run: %+v, %+v", c.Source, c.Feeds[1])
	}

	c = running(t, FeedReady)
	c.Source.Schedule = Schedule{}
	if _, err := c.Finish(1, []FeedOutcome{{Feed: "df_1", Error: &FeedError{}}}, now); err != nil || !c.Source.DueAt.IsZero() {
		t.Errorf("a failure without a schedule: %v, %+v", err, c.Source)
	}
}

func TestFinishOfARunThatHasNoLease(t *testing.T) {
	c := running(t, FeedReady)
	if _, err := c.Finish(2, nil, runAt); !errors.Is(err, ErrConflict) {
		t.Errorf("another run: %v", err)
	}
	stale := FeedOutcome{Feed: "df_1", Version: &FeedVersion{Feed: "df_1", Number: 3}}
	if _, err := running(t, FeedReady).Finish(1, []FeedOutcome{stale}, runAt); !errors.Is(err, ErrConflict) {
		t.Errorf("a version that is not the next: %v", err)
	}
	if _, err := c.Finish(1, nil, runAt); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Finish(1, nil, runAt); !errors.Is(err, ErrRunEnded) || errors.Is(err, ErrConflict) {
		t.Errorf("a second time: %v", err)
	}
	if err := c.Release(1); !errors.Is(err, ErrRunEnded) {
		t.Errorf("giving back what has ended: %v", err)
	}
}

func TestRelease(t *testing.T) {
	c := running(t, FeedReady, FeedPaused)
	id := c.Feeds[0].LastRefresh.ID
	if err := c.Release(2); !errors.Is(err, ErrConflict) {
		t.Errorf("by another run: %v", err)
	}
	if err := c.Release(1); err != nil {
		t.Fatal(err)
	}
	if !c.Source.LeasedUntil.IsZero() || !c.Source.DueAt.Equal(runAt.Add(-time.Second)) || c.Feeds[0].LastRefresh.State != RefreshPending {
		t.Errorf("%+v, %+v", c.Source, c.Feeds[0])
	}
	if _, err := c.Begin(runAt, runAt.Add(time.Minute)); err != nil || c.Feeds[0].LastRefresh.ID != id {
		t.Errorf("the next run: %v, %+v", err, c.Feeds[0])
	}
}

func TestRequest(t *testing.T) {
	for _, state := range []FeedState{FeedPending, FeedReady, FeedFailed, FeedAuthRequired} {
		c := hourly(state)
		c.Source.DueAt = time.Time{}
		r, err := c.Request("df_1", runAt)
		if err != nil || r.State != RefreshPending || c.Feeds[0].State != FeedRefreshing || !c.Source.DueAt.Equal(runAt) || !slices.Contains(ids(c.Refreshes), r.ID) {
			t.Errorf("of a feed that is %s: %+v, %v, %+v", state, r, err, c.Source)
		}
		if again, err := c.Request("df_1", runAt.Add(1)); err != nil || again.ID != r.ID {
			t.Errorf("again: %+v, %v", again, err)
		}
	}
	c := running(t, FeedReady, FeedReady)
	c.Feeds[1].LastRefresh = nil
	due := c.Source.DueAt
	if r, err := c.Request("df_1", runAt); err != nil || r.State != RefreshRunning || c.Refreshes != nil {
		t.Errorf("of a feed that is being refreshed: %+v, %v", r, err)
	}
	if r, err := c.Request("df_2", runAt); err != nil || r.State != RefreshPending || !c.Source.DueAt.Equal(due) {
		t.Errorf("of another feed of the source: %+v, %v, %+v", r, err, c.Source)
	}
	if _, err := hourly(FeedPaused).Request("df_1", runAt); !errors.Is(err, ErrConflict) {
		t.Errorf("of a paused feed: %v", err)
	}
	if _, err := hourly().Request("df_1", runAt); !errors.Is(err, ErrNotFound) {
		t.Errorf("of no feed: %v", err)
	}
}

func ids(refreshes []Refresh) (all []ID) {
	for _, r := range refreshes {
		all = append(all, r.ID)
	}
	return all
}

func TestPauseAndResume(t *testing.T) {
	c := hourly(FeedReady)
	f := &c.Feeds[0]
	f.LastRefresh = &Refresh{ID: "rfr_1", State: RefreshSucceeded, EndedAt: runAt}
	c.Plan(runAt)
	planned := c.Source.DueAt

	news, err := c.Pause("df_1", runAt)
	wantEqual(t, "news of pausing", news, []SourceNews{{Feed: "df_1", Kind: NewsPaused}})
	if err != nil || f.State != FeedPaused || !c.Source.DueAt.IsZero() || !f.NextRefreshAt.IsZero() {
		t.Fatalf("paused: %v, %+v, %+v", err, c.Source, *f)
	}
	if news, err := c.Pause("df_1", runAt); news != nil || err != nil {
		t.Errorf("pausing again: %v, %v", news, err)
	}
	news, err = c.Resume("df_1", planned.Add(-time.Millisecond))
	wantEqual(t, "news of resuming", news, []SourceNews{{Feed: "df_1", Kind: NewsResumed}})
	if err != nil || f.State != FeedReady || !c.Source.DueAt.Equal(planned) || !f.NextRefreshAt.Equal(planned) {
		t.Errorf("resumed before anything was missed: %v, %+v, %+v", err, c.Source, *f)
	}
	if news, err := c.Resume("df_1", runAt); news != nil || err != nil {
		t.Errorf("resuming again: %v, %v", news, err)
	}

	c.Pause("df_1", runAt)
	late := planned.Add(10 * time.Hour)
	if _, err := c.Resume("df_1", late); err != nil || f.State != FeedRefreshing || !c.Source.DueAt.Equal(late) {
		t.Errorf("resumed after runs were missed: %v, %+v, %+v", err, c.Source, *f)
	}
	news, err = c.Pause("df_1", late)
	wantEqual(t, "news of pausing what waits", news, []SourceNews{{Feed: "df_1", Kind: NewsFailed}, {Feed: "df_1", Kind: NewsPaused}})
	if err != nil || f.LastRefresh.State != RefreshFailed || f.LastRefresh.Error.Type != "/problems/cancelled" || f.Failures != 0 {
		t.Errorf("paused before its refresh began: %v, %+v", err, f.LastRefresh)
	}
}

func TestResumeTriesAgainWhatFailed(t *testing.T) {
	for _, state := range []FeedState{FeedPaused, FeedAuthRequired} {
		c := hourly(state)
		c.Source.Schedule, c.Source.DueAt = Schedule{}, time.Time{}
		f := &c.Feeds[0]
		f.Failures, f.LastError, f.LastRefresh = 20, &FeedError{}, &Refresh{State: RefreshFailed, EndedAt: runAt}
		if _, err := c.Resume("df_1", runAt); err != nil || f.Failures != 0 || f.LastRefresh.State != RefreshPending || !c.Source.DueAt.Equal(runAt) {
			t.Errorf("resumed when %s: %v, %+v, %+v", state, err, c.Source, *f)
		}
	}
	c := running(t, FeedReady)
	c.Pause("df_1", runAt)
	if _, err := c.Resume("df_1", runAt); err != nil || c.Feeds[0].State != FeedRefreshing || c.Feeds[0].LastRefresh.State != RefreshRunning {
		t.Errorf("resumed in the same run: %v, %+v", err, c.Feeds[0])
	}
}

func TestCancel(t *testing.T) {
	c := running(t, FeedReady, FeedReady, FeedPaused)
	c.Feeds = append(c.Feeds, Feed{ID: "df_4", State: FeedRefreshing, LastRefresh: &Refresh{ID: "rfr_4", Feed: "df_4", State: RefreshPending}})
	c.Feeds[1].Failures = 2
	now := runAt.Add(time.Second)
	if _, err := c.Cancel("df_1", "rfr_other", now); !errors.Is(err, ErrConflict) {
		t.Errorf("another refresh: %v", err)
	}
	news, err := c.Cancel("df_2", c.Feeds[1].LastRefresh.ID, now)
	wantEqual(t, "news", news, []SourceNews{{Feed: "df_1", Kind: NewsFailed}, {Feed: "df_2", Kind: NewsFailed}})
	wantEqual(t, "refreshes", refreshes(c), []RefreshState{RefreshFailed, RefreshFailed, "", RefreshPending})
	if s := c.Source; err != nil || s.Run != 2 || s.Leased(now) || !s.DueAt.Equal(now) || c.Feeds[1].Failures != 2 {
		t.Errorf("%v, %+v", err, s)
	}
	news, err = c.Cancel("df_4", "rfr_4", now)
	wantEqual(t, "news of what waited", news, []SourceNews{{Feed: "df_4", Kind: NewsFailed}})
	if s := c.Source; err != nil || s.Run != 2 || !s.DueAt.Equal(c.planned(now)) {
		t.Errorf("what waited: %v, %+v", err, s)
	}
	if _, err := c.Cancel("df_4", "rfr_4", now); !errors.Is(err, ErrConflict) {
		t.Errorf("what has ended: %v", err)
	}
}

func TestFinishHeedsHowLongToWait(t *testing.T) {
	now := runAt.Add(time.Second)
	c := running(t, FeedReady)
	if _, err := c.Finish(1, []FeedOutcome{{Feed: "df_1", Error: &FeedError{}, RetryAfter: time.Hour}}, now); err != nil {
		t.Fatal(err)
	}
	if want := now.Add(time.Hour); !c.Source.DueAt.Equal(want) || !c.Feeds[0].NextRefreshAt.Equal(want) {
		t.Errorf("due at %v, want %v", c.Source.DueAt, want)
	}
	// A source that asks for a year is asked again after a day.
	c = running(t, FeedReady)
	if _, err := c.Finish(1, []FeedOutcome{{Feed: "df_1", Error: &FeedError{}, RetryAfter: 365 * MaxRetryAfter}}, now); err != nil {
		t.Fatal(err)
	}
	if want := now.Add(MaxRetryAfter); !c.Source.DueAt.Equal(want) {
		t.Errorf("due at %v, want %v", c.Source.DueAt, want)
	}
}

func TestRedo(t *testing.T) {
	now := runAt.Add(time.Second)
	c := running(t, FeedReady, FeedReady)
	for i := range c.Feeds {
		c.Feeds[i].Position = []byte("1")
	}
	if _, err := c.Pause("df_2", now); err != nil {
		t.Fatal(err)
	}
	news, err := c.Redo([]ID{"df_1", "df_2"}, now)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "news", news, []SourceNews{{Feed: "df_2", Kind: NewsFailed}})
	if c.Source.Run != 2 || c.Source.Leased(now) || !c.Source.DueAt.Equal(now) || !c.Feeds[0].Awaits() || c.Feeds[1].Awaits() {
		t.Errorf("%+v, %+v", c.Source, c.Feeds)
	}
	if c.Feeds[0].Position != nil || c.Feeds[1].Position != nil {
		t.Errorf("the feeds are at %s and %s", c.Feeds[0].Position, c.Feeds[1].Position)
	}
}
