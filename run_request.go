package feedmill

import (
	"fmt"
	"time"
)

// Request asks for a refresh of a feed as soon as can be, and returns it: the
// one that is waiting or under way, where there is one. A feed whose source
// refused the credential is tried again; a paused one is a conflict.
func (c *SourceChange) Request(feed ID, now time.Time) (Refresh, error) {
	return c.RequestAccepting(feed, false, now)
}

// RequestAccepting is Request for a refresh that may bring what is not expected of the
// rows.
func (c *SourceChange) RequestAccepting(feed ID, accept bool, now time.Time) (Refresh, error) {
	f, err := c.feed(feed)
	switch {
	case err != nil:
		return Refresh{}, err
	case f.State == FeedPaused:
		return Refresh{}, &Error{Kind: ErrConflict, Type: "feed-paused", Detail: "The feed is paused. Resume it first."}
	case accept && f.Awaits() && f.LastRefresh.State == RefreshRunning:
		return Refresh{}, &Error{Kind: ErrConflict, Type: "refresh-running", Detail: "A refresh is already running with its own expectations. Wait for its end, then request a refresh that accepts everything."}
	}
	c.request(f, now)
	f.Expects.Accept = f.Expects.Accept || accept
	return *f.LastRefresh, nil
}

// request gives a feed a refresh that waits, unless one waits or runs already.
func (c *SourceChange) request(f *Feed, now time.Time) {
	if !f.Awaits() {
		c.record(f, Refresh{ID: NewID(PrefixRefresh), Feed: f.ID, State: RefreshPending, Trigger: c.By, StartedAt: now})
		c.Plan(now)
	}
}

// Pause leaves a feed out of runs. A refresh that waits is cancelled, and one
// that is under way may end.
func (c *SourceChange) Pause(feed ID, now time.Time) ([]SourceNews, error) {
	f, err := c.feed(feed)
	if err != nil || f.State == FeedPaused {
		return nil, err
	}
	var news []SourceNews
	if f.Awaits() && (f.LastRefresh.State == RefreshPending || !c.Source.Leased(now)) {
		news = append(news, c.cancel(f, now))
	}
	f.State, f.UpdatedAt = FeedPaused, now
	c.Plan(now)
	return append(news, SourceNews{Feed: f.ID, Kind: NewsPaused}), nil
}

// Resume takes a feed into runs again that was paused or whose source refused
// the credential, with its failures forgotten. It is fetched at once where the
// last refresh failed, and where the schedule had a run or a parent a new version in
// the meantime: however many were missed, one makes up for them.
func (c *SourceChange) Resume(feed ID, now time.Time) ([]SourceNews, error) {
	f, err := c.feed(feed)
	if err != nil || f.Active() {
		return nil, err
	}
	f.Failures, f.UpdatedAt, f.State = 0, now, FeedReady
	switch {
	case f.Awaits():
		f.State = FeedRefreshing
	case f.LastRefresh == nil || f.LastError != nil || c.missed(f.LastRefresh.EndedAt, now), c.staleParent(f.ID) != nil && c.follows(f):
		c.request(f, now)
	}
	c.Plan(now)
	return []SourceNews{{Feed: f.ID, Kind: NewsResumed}}, nil
}

// missed reports whether a run was planned between two times.
func (c *SourceChange) missed(since, until time.Time) bool {
	next := c.Source.Schedule.Next(since, c.Source.CreatedAt, c.Source.ID)
	return !next.IsZero() && !next.After(until)
}

// Cancel ends a refresh that waits, or the run that it is of and with it the
// refreshes that the run has for other feeds: the run loses its lease. It is no
// failure of the source and counts as none. A refresh that has ended is a
// conflict.
func (c *SourceChange) Cancel(feed, refresh ID, now time.Time) ([]SourceNews, error) {
	f, err := c.feed(feed)
	if err != nil {
		return nil, err
	}
	if !f.Awaits() || f.LastRefresh.ID != refresh {
		return nil, &Error{Kind: ErrConflict, Type: "refresh-ended", Detail: "The refresh has already ended."}
	}
	var news []SourceNews
	if f.LastRefresh.State == RefreshPending {
		news = append(news, c.cancel(f, now))
	} else {
		c.Source.Run++
		c.Source.LeasedUntil = time.Time{}
		for i := range c.Feeds {
			if other := &c.Feeds[i]; other.Awaits() && other.LastRefresh.State == RefreshRunning {
				news = append(news, c.cancel(other, now))
			}
		}
	}
	c.Plan(now)
	return news, nil
}

// Redo has feeds fetched from the beginning, because how that is done has
// changed. A run that is under way loses its lease: it fetches as it was before.
// What a feed that is paused meanwhile had of it is cancelled.
func (c *SourceChange) Redo(feeds []ID, now time.Time) (news []SourceNews, err error) {
	c.Source.Run++
	c.Source.LeasedUntil = time.Time{}
	for i := range c.Feeds {
		if f := &c.Feeds[i]; f.Awaits() && f.State == FeedPaused {
			news = append(news, c.cancel(f, now))
		}
	}
	for _, id := range feeds {
		f, err := c.feed(id)
		if err != nil {
			return nil, err
		}
		f.Position = nil
		if f.State != FeedPaused {
			c.request(f, now)
		}
	}
	c.Plan(now)
	return news, nil
}

// cancel ends a feed's refresh that has not ended.
func (c *SourceChange) cancel(f *Feed, now time.Time) SourceNews {
	r := *f.LastRefresh
	r.State, r.EndedAt, r.RowsIn, r.Stage = RefreshFailed, now, 0, ""
	r.Error = &FeedError{
		Type: "/problems/cancelled", Title: "The refresh was canceled",
		Detail: "The refresh was stopped before its end. The feed keeps its previous data.", At: now,
	}
	c.record(f, r)
	return SourceNews{Feed: f.ID, Kind: NewsFailed}
}

func (c *SourceChange) feed(id ID) (*Feed, error) {
	f := c.Feed(id)
	if f == nil {
		return nil, fmt.Errorf("feed of a source: %w", ErrNotFound)
	}
	return f, nil
}

// Restore gives a feed a version whose rows an older one had, or none where the
// feed has them already, and has the next fetch go on from where that version was
// fetched. A run that is under way loses its lease: it goes on from somewhere else.
// A feed whose next refresh would take everything back, because it replaces its
// rows on a schedule, is paused.
func (c *SourceChange) Restore(feed ID, v *FeedVersion, position []byte, r Refresh, now time.Time) ([]SourceNews, error) {
	f, err := c.feed(feed)
	if err != nil {
		return nil, err
	}
	if c.Source.Leased(now) {
		c.Source.Run++
		c.Source.LeasedUntil = time.Time{}
	}
	var news []SourceNews
	pauses := f.Mode == ModeReplace && !c.Source.Schedule.IsZero() && f.State != FeedPaused
	if pauses && f.Awaits() {
		news = append(news, c.cancel(f, now))
	}
	f.Position = position
	if v != nil {
		if v.Number != f.Version+1 {
			return nil, ErrConflict
		}
		c.Versions = append(c.Versions, *v)
		f.adopt(*v)
	}
	c.Refreshes = append(c.Refreshes, r)
	if !f.Awaits() {
		f.last(r)
	}
	if pauses {
		f.State, f.UpdatedAt = FeedPaused, now
		news = append(news, SourceNews{Feed: f.ID, Kind: NewsPaused})
	}
	c.Plan(now)
	return news, nil
}
