package feedmill

// recentRefreshes is how many of its last refreshes a feed knows of.
const recentRefreshes = 30

// What came of a refresh, as a letter and as a word.
var refreshOutcomes = map[byte]string{'c': "changed", 'u': "unchanged", 'f': "failed"}

// last makes r the last refresh. What came of the last ones is kept in the feed
// itself, so that a list of feeds need not look for the refreshes of each.
func (f *Feed) last(r Refresh) {
	if !r.Open() {
		if was := f.LastRefresh; was != nil && was.ID == r.ID && !was.Open() && f.Recent != "" {
			f.Recent = f.Recent[:len(f.Recent)-1] // it is noted again
		}
		f.Recent += r.outcome()
		f.Recent = f.Recent[max(0, len(f.Recent)-recentRefreshes):]
	}
	f.LastRefresh = &r
}

func (r *Refresh) outcome() string {
	switch {
	case r.State == RefreshFailed:
		return "f"
	case r.Unchanged:
		return "u"
	}
	return "c"
}

// RecentRefreshes says what came of the last refreshes, oldest first: changed,
// unchanged, failed, and running for the one that waits or runs.
func (f *Feed) RecentRefreshes() []string {
	words := make([]string, 0, len(f.Recent)+1)
	for i := range len(f.Recent) {
		words = append(words, refreshOutcomes[f.Recent[i]])
	}
	if f.Awaits() {
		words = append(words, "running")
	}
	return words[max(0, len(words)-recentRefreshes):]
}

// Why a feed is paused.
const (
	PausedByUser     = "user"
	PausedByFailures = "failures"
)

// PausedReason says why a feed is paused, and is empty where it is not.
func (f *Feed) PausedReason() string {
	switch {
	case f.State != FeedPaused:
		return ""
	case f.Failures >= MaxFailures:
		return PausedByFailures
	}
	return PausedByUser
}
