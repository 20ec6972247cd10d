package feedmill

import "time"

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
