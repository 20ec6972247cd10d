package feedmill

import (
	"errors"
	"testing"
	"time"
)

// A run that comes back after its feeds were paused finds that it has ended.
func TestBeginForgetsARunThatWasCutOff(t *testing.T) {
	c := running(t, FeedReady)
	if _, err := c.Pause("df_1", runAt); err != nil {
		t.Fatal(err)
	}
	late := c.Source.LeasedUntil
	news, err := c.Begin(late, late.Add(time.Minute))
	wantEqual(t, "news", news, []SourceNews{{Feed: "df_1", Kind: NewsFailed}})
	if err != nil || c.Source.Run != 1 {
		t.Fatalf("%v, %+v", err, c.Source)
	}
	if _, err := c.Finish(1, nil, late); !errors.Is(err, ErrRunEnded) {
		t.Errorf("the run that was cut off: %v", err)
	}
}

func TestFinishPassesOverWhatWasCancelled(t *testing.T) {
	c := running(t, FeedReady, FeedReady)
	c.Feeds[0].LastRefresh.State = RefreshFailed
	news, err := c.Finish(1, []FeedOutcome{{Feed: "df_1"}, {Feed: "df_2"}, {Feed: "df_3"}}, runAt)
	wantEqual(t, "news", news, []SourceNews{{Feed: "df_2", Kind: NewsRefreshed}})
	if err != nil || c.Feeds[0].LastRefresh.State != RefreshFailed || len(c.Refreshes) != 1 {
		t.Errorf("%v, %+v", err, c.Feeds[0].LastRefresh)
	}
}

func TestFinishRefusesTheVersionOfAnotherFeed(t *testing.T) {
	c := running(t, FeedReady, FeedReady)
	_, err := c.Finish(1, []FeedOutcome{{Feed: "df_1", Version: &FeedVersion{Feed: "df_2", Number: 4}}}, runAt)
	if !errors.Is(err, ErrConflict) {
		t.Errorf("%v", err)
	}
}

func TestReleasedRefresh(t *testing.T) {
	c := running(t, FeedReady)
	before := *c.Feeds[0].LastRefresh
	c.Feeds[0].LastRefresh.Pages = 3
	if err := c.Release(1); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "the refresh", c.Refreshes, []Refresh{{ID: before.ID, Feed: "df_1", State: RefreshPending, Trigger: TriggerSchedule, StartedAt: before.StartedAt}})
}

// A source waits for as long as the feed that fares best does.
func TestBackOffOfSeveralFeeds(t *testing.T) {
	for _, failures := range [][]int{{4, 1, 2}, {1, 4, 2}, {2, 4, 1}} {
		c := hourly(FeedFailed, FeedFailed, FeedFailed)
		for i, n := range failures {
			c.Feeds[i].Failures = n
		}
		c.Plan(runAt)
		if wait := c.Source.DueAt.Sub(runAt); wait < 5*time.Minute || wait > 5*time.Minute+30*time.Second {
			t.Errorf("after %v failures it waits for %v", failures, wait)
		}
	}
}

// One refusal after good answers can be a whim. It is about the credential where the
// feed has never had data, or the time before was the same.
func TestForbiddenFetches(t *testing.T) {
	failedWith := func(status int) *FeedError { return &FeedError{Source: &SourceAnswer{Status: status}} }
	for _, test := range []struct {
		name    string
		version int64
		before  *FeedError
		want    FeedState
	}{
		{"after good answers", 3, nil, FeedFailed},
		{"after an error of ours", 3, &FeedError{}, FeedFailed},
		{"after another error", 3, failedWith(500), FeedFailed},
		{"again", 3, failedWith(403), FeedAuthRequired},
		{"at the first fetch", 0, nil, FeedAuthRequired},
	} {
		c := running(t, FeedReady)
		c.Feeds[0].Version, c.Feeds[0].LastError = test.version, test.before
		if _, err := c.Finish(1, []FeedOutcome{{Feed: "df_1", Error: failedWith(403), Forbidden: true}}, runAt); err != nil {
			t.Fatal(err)
		}
		if got := c.Feeds[0].State; got != test.want {
			t.Errorf("forbidden %s: the feed is %s, want %s", test.name, got, test.want)
		}
	}
}
