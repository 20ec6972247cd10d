package feedmill

import (
	"context"
	"time"
)

// RefreshState is how far a refresh has come.
type RefreshState string

// The states of a refresh.
const (
	// RefreshPending is asked for and not begun.
	RefreshPending   RefreshState = "pending"
	RefreshRunning   RefreshState = "running"
	RefreshSucceeded RefreshState = "succeeded"
	RefreshFailed    RefreshState = "failed"
)

// RefreshStage is what is being done in a refresh that runs.
type RefreshStage string

// The stages of a refresh.
const (
	StageWaiting   RefreshStage = "waiting"
	StageFetching  RefreshStage = "fetching"
	StageModelling RefreshStage = "modelling"
	StageStoring   RefreshStage = "storing"
)

// What asks for a refresh where nobody does.
const (
	TriggerSchedule = "schedule"
	TriggerRetry    = "retry"
)

type triggerKey struct{}

// WithTrigger says who asks for the refreshes that are begun under the context: the
// id of a key or of a feed, or the subject of a token. It travels beside them
// because no rule of a refresh depends on it.
func WithTrigger(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, triggerKey{}, who)
}

// TriggerOf is who asks for refreshes under the context, empty where nobody does.
func TriggerOf(ctx context.Context) string {
	who, _ := ctx.Value(triggerKey{}).(string)
	return who
}

// Refresh is one try to bring a feed new data: a fetch, or an upload. Every row of
// one that succeeded is accounted for: RowsIn is the sum of RowsStored, RowsRejected,
// RowsSuperseded and RowsKnown.
type Refresh struct {
	ID    ID
	Feed  ID
	State RefreshState
	// Trigger is who asked for it: the key, the feed that it is made of, the
	// schedule, or the failure of the one before; empty where that is not known.
	Trigger string
	// Stage is what is being done while it runs.
	Stage     RefreshStage
	StartedAt time.Time
	// EndedAt is zero while the refresh runs.
	EndedAt time.Time
	// Requests and Pages are what was asked for and what of it was data; both
	// are 0 for an upload.
	Requests     int64
	Pages        int64
	BytesIn      int64
	RowsIn       int64
	RowsStored   int64
	RowsRejected int64
	// RowsSuperseded are rows whose key a later row of the same load has, and
	// RowsKnown rows that the feed had already, value for value.
	RowsSuperseded, RowsKnown int64
	// Parts is how many windows of time or rows of each there are to fetch, and
	// PartsDone how many of them are; both are 0 where it is all one.
	Parts, PartsDone int64
	// Rejects is the name of the blob with the rows that were rejected,
	// empty where there were none.
	Rejects string
	// Version is the one that the refresh made, 0 where it made none.
	Version int64
	// Changes are what is different in that version from the one before.
	Changes VersionChanges
	// Unchanged says that the refresh succeeded and found what was there before.
	Unchanged bool
	Warnings  []Warning
	// Checks are the results of what is expected of the rows, empty where nothing was.
	Checks []CheckResult
	// Trace is what was asked for so far, where progress is told; it is kept apart from
	// the refresh.
	Trace []TracedRequest
	// Error says why the refresh failed.
	Error *FeedError
}

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
