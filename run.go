package feedmill

import (
	"errors"
	"fmt"
	"time"
)

// A run is one fetch of a source for all of its active feeds. The rules of how
// it begins and ends are here, and those of what people ask for in between in
// run_request.go: each works on a [SourceChange] and nothing else, so that a
// store can keep what comes of it in one transaction.

// MaxFailures is how many refreshes in a row may fail before a feed is paused.
const MaxFailures = 20

// backOff is how long to wait after the first failure in a row, after the
// second, and after every further one.
var backOff = [...]time.Duration{5 * time.Minute, 30 * time.Minute, 6 * time.Hour}

// ErrRunEnded is what a run finds that has ended already.
var ErrRunEnded = errors.New("the run has already ended")

// FeedOutcome is what a run means for one feed.
type FeedOutcome struct {
	Feed ID
	// Refresh has what was counted: requests, pages, bytes, rows, rejected
	// rows and warnings. Which refresh it is and how it ended follows.
	Refresh Refresh
	// Version is what the run made, nil where it failed or found nothing new.
	// It is the next one after that which the feed had when the run began.
	Version *FeedVersion
	// Files are those that the run wrote for the version.
	Files []string
	// Reshaped says that the columns are not those of the version before.
	Reshaped bool
	// Position is how far the feed has come with this run, nil to leave what
	// was before. It counts where the run did not fail for the feed.
	Position []byte
	// Pins are what the names of a query mean from now on, nil where they stay. They
	// count where the run did not fail for the feed.
	Pins *Pins
	// Upstream are the versions of the feed's parents that the run has read, as far as
	// they are known.
	Upstream []UpstreamVersion
	// Error says why the run failed for the feed, nil where it did not.
	Error *FeedError
	// AuthRequired says that it failed because the source refused the
	// credential.
	AuthRequired bool
	// Forbidden says that the source refused to answer, whatever the reason: one
	// such answer after many good ones says little of the credential.
	Forbidden bool
	// RetryAfter is how long the source wants to be left alone.
	RetryAfter time.Duration
	Trace      []TracedRequest
}

// Claim is a source that a run has, and the feeds that it is to bring new data.
// The last refresh of each of them is the one that runs.
type Claim struct {
	Source Source
	Feeds  []Feed
	// Report tells how far a refresh has come: its requests, pages, bytes and
	// rows. It may be called from any goroutine, and as often as one likes.
	Report func(Refresh)
}

// SourceNews is something that happened to a feed and that its subscribers hear
// of.
type SourceNews struct {
	Feed ID
	// Kind is the name of the internal event, such as [NewsRefreshed].
	Kind string
	// Fields are the names of what changed, where that is what happened.
	Fields []string
}

// The kinds of news that runs and those who ask for them make.
const (
	NewsRefreshed    = internalFamily + ".refreshed"
	NewsFailed       = internalFamily + ".refresh_failed"
	NewsAuthRequired = internalFamily + ".auth_required"
	NewsPaused       = internalFamily + ".paused"
	NewsResumed      = internalFamily + ".resumed"
	NewsUpdated      = internalFamily + ".updated"
	NewsStale        = internalFamily + ".stale"
)

// Active reports whether runs of its source bring the feed new data.
func (f *Feed) Active() bool { return f.State != FeedPaused && f.State != FeedAuthRequired }

// Awaits reports whether a refresh of the feed is asked for or under way.
func (f *Feed) Awaits() bool { return f.LastRefresh != nil && f.LastRefresh.Open() }

// Open reports whether the refresh has not ended.
func (r *Refresh) Open() bool { return r.State == RefreshPending || r.State == RefreshRunning }

// Begin gives a run the source until a time, and each active feed a refresh that
// runs: the one that was asked for or that a run which was cut off has left, or
// a new one. It returns [ErrConflict] where the source is not due or a run has
// it. Where no feed is active there is nothing to run: the source is then not
// leased afterwards, and not due.
func (c *SourceChange) Begin(now, until time.Time) ([]SourceNews, error) {
	s := &c.Source
	if s.DueAt.IsZero() || s.DueAt.After(now) || s.Leased(now) {
		return nil, fmt.Errorf("start a run of a source that is not due: %w", ErrConflict)
	}
	s.LeasedUntil = time.Time{}
	var news []SourceNews
	active := false
	for i := range c.Feeds {
		f := &c.Feeds[i]
		switch {
		case f.Active():
			active = true
			c.see(f.ID, nil)
			c.record(f, f.begun(now))
		case f.Awaits():
			// It was paused while a run had it that never ended.
			news = append(news, c.cancel(f, now))
		}
	}
	if !active {
		c.Plan(now)
		return news, nil
	}
	s.Run++
	s.LeasedUntil = until
	return news, nil
}

// begun is the feed's refresh that begins now.
func (f *Feed) begun(now time.Time) Refresh {
	r := Refresh{ID: NewID(PrefixRefresh), Feed: f.ID, State: RefreshRunning, Trigger: TriggerSchedule, Stage: StageFetching, StartedAt: now}
	switch {
	case f.Awaits():
		r.ID, r.Trigger = f.LastRefresh.ID, f.LastRefresh.Trigger
	case f.Failures > 0:
		r.Trigger = TriggerRetry
	}
	return r
}

// Finish ends a run with what it brought: new versions, failures, and the time
// of the next run.
//
// It returns [ErrConflict] where the run has lost its lease or a feed its place
// for the version, and [ErrRunEnded] where the run has ended. Feeds that are
// gone are passed over.
func (c *SourceChange) Finish(run int64, outcomes []FeedOutcome, now time.Time) ([]SourceNews, error) {
	if err := c.has(run); err != nil {
		return nil, err
	}
	c.Source.LeasedUntil = time.Time{}
	var news []SourceNews
	var notBefore time.Time
	for _, o := range outcomes {
		f := c.Feed(o.Feed)
		if f == nil || !f.Awaits() {
			continue
		}
		kinds, err := c.settle(f, o, now)
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds {
			n := SourceNews{Feed: f.ID, Kind: kind}
			if kind == NewsUpdated {
				n.Fields = []string{"columns"}
			}
			news = append(news, n)
		}
		if at := now.Add(min(o.RetryAfter, MaxRetryAfter)); at.After(notBefore) {
			notBefore = at
		}
	}
	c.Plan(now)
	if due := c.Source.DueAt; due.After(now) && due.Before(notBefore) {
		c.Source.DueAt = notBefore
		c.show()
	}
	return news, nil
}

// has checks that a run has the source.
func (c *SourceChange) has(run int64) error {
	switch {
	case c.Source.Run != run:
		return fmt.Errorf("run %d of a source has lost its lease: %w", run, ErrConflict)
	case c.Source.LeasedUntil.IsZero():
		return ErrRunEnded
	}
	return nil
}

// settle ends the refresh of one feed.
func (c *SourceChange) settle(f *Feed, o FeedOutcome, now time.Time) (kinds []string, err error) {
	r := o.Refresh
	r.ID, r.Feed, r.StartedAt, r.EndedAt = f.LastRefresh.ID, f.ID, f.LastRefresh.StartedAt, now
	r.State, r.Version, r.Unchanged, r.Error = RefreshSucceeded, 0, false, nil
	r.Trigger, r.Stage = f.LastRefresh.Trigger, ""
	if o.Trace != nil {
		c.Traces = append(c.Traces, Trace{Refresh: r.ID, Feed: f.ID, Requests: o.Trace})
	}
	if o.Error != nil {
		r.State, r.Error, r.RowsIn = RefreshFailed, o.Error, 0 // none was taken
		refused := o.AuthRequired || o.Forbidden && (f.Version == 0 || f.wasForbidden())
		c.record(f, r)
		return f.failed(refused), nil
	}
	f.Failures = 0
	if o.Position != nil {
		f.Position = o.Position
	}
	if o.Pins != nil {
		f.Pins = *o.Pins
	}
	if o.Upstream != nil {
		c.see(f.ID, o.Upstream)
	}
	if o.Version == nil {
		r.Unchanged = true
		c.record(f, r)
		return []string{NewsRefreshed}, nil
	}
	v := *o.Version
	if v.Feed != f.ID || v.Number != f.Version+1 {
		return nil, fmt.Errorf("version %d of a feed at version %d: %w", v.Number, f.Version, ErrConflict)
	}
	r.Version, r.Changes = v.Number, v.Changes
	v.Refresh, v.Position = r.ID, f.Position
	c.Versions = append(c.Versions, v)
	c.record(f, r)
	f.Switch(v, r)
	if o.Reshaped {
		return []string{NewsRefreshed, NewsUpdated}, nil
	}
	return []string{NewsRefreshed}, nil
}

// wasForbidden reports whether the source refused to answer the last time.
func (f *Feed) wasForbidden() bool {
	return f.LastError != nil && f.LastError.Source != nil && f.LastError.Source.Status == statusForbidden
}

const statusForbidden = 403

// failed counts a failure and decides whether the feed is tried again.
func (f *Feed) failed(authRequired bool) []string {
	f.Failures++
	switch {
	case f.State == FeedPaused:
		return []string{NewsFailed}
	case authRequired:
		f.State = FeedAuthRequired
		return []string{NewsFailed, NewsAuthRequired}
	case f.Failures >= MaxFailures:
		f.State = FeedPaused
		return []string{NewsFailed, NewsPaused}
	}
	return []string{NewsFailed}
}

// Release gives the source back before the run has ended, as due as it was, so
// that another run can have it at once. It returns the errors of
// [SourceChange.Finish].
func (c *SourceChange) Release(run int64) error {
	if err := c.has(run); err != nil {
		return err
	}
	c.Source.LeasedUntil = time.Time{}
	for i := range c.Feeds {
		if f := &c.Feeds[i]; f.Awaits() {
			c.record(f, Refresh{ID: f.LastRefresh.ID, Feed: f.ID, State: RefreshPending, Trigger: f.LastRefresh.Trigger, StartedAt: f.LastRefresh.StartedAt})
		}
	}
	return nil
}

// Plan sets when the source is due next, and gives its feeds the schedule and
// that time. While a run has the source it does not, because the end of the run
// will.
func (c *SourceChange) Plan(now time.Time) {
	if !c.Source.Leased(now) {
		c.Source.DueAt = c.due(now)
	}
	c.show()
}

// show gives the feeds what they show of the source.
func (c *SourceChange) show() {
	for i := range c.Feeds {
		f := &c.Feeds[i]
		f.Schedule, f.NextRefreshAt = c.Source.Schedule, time.Time{}
		if f.Active() {
			f.NextRefreshAt = c.Source.DueAt
		}
	}
}

func (c *SourceChange) due(now time.Time) time.Time {
	failures := -1 // the fewest of an active feed
	for i := range c.Feeds {
		f := &c.Feeds[i]
		if !f.Active() {
			continue
		}
		if f.Awaits() {
			return now
		}
		if failures < 0 || f.Failures < failures {
			failures = f.Failures
		}
	}
	s := &c.Source
	switch {
	case failures < 0 || s.Schedule.IsZero():
		return time.Time{}
	case failures == 0:
		return s.Schedule.Next(now, s.CreatedAt, s.ID)
	}
	wait := backOff[min(failures, len(backOff))-1]
	return now.Add(wait + s.ID.part(wait/10))
}

// record makes r the last refresh of a feed of the change.
func (c *SourceChange) record(f *Feed, r Refresh) {
	f.Record(r)
	for i := range c.Refreshes {
		if c.Refreshes[i].ID == r.ID {
			c.Refreshes[i] = r
			return
		}
	}
	c.Refreshes = append(c.Refreshes, r)
}
