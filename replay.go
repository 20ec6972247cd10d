package feedmill

import "time"

// ReplaySelection says what of a subscription a replay delivers again.
type ReplaySelection string

// What a replay can select. Those that are no state of a delivery look at the
// events that match the subscription.
const (
	ReplayDelivered   = ReplaySelection(DeliveryDelivered)
	ReplayExhausted   = ReplaySelection(DeliveryExhausted)
	ReplayDiscarded   = ReplaySelection(DeliveryDiscarded)
	ReplayUndelivered = ReplaySelection("undelivered") // exhausted or discarded
	ReplayMissing     = ReplaySelection("missing")     // events without a delivery
	ReplayAll         = ReplaySelection("all")         // events without an open delivery
)

// ReplaySelections lists all of them.
var ReplaySelections = []ReplaySelection{ReplayDelivered, ReplayExhausted, ReplayDiscarded, ReplayUndelivered, ReplayMissing, ReplayAll}

// OfEvents reports whether events are selected, and not deliveries.
func (s ReplaySelection) OfEvents() bool { return s == ReplayMissing || s == ReplayAll }

// States are those of the deliveries that are selected; none where events are.
func (s ReplaySelection) States() []DeliveryState {
	switch {
	case s.OfEvents():
		return []DeliveryState{}
	case s == ReplayUndelivered:
		return []DeliveryState{DeliveryExhausted, DeliveryDiscarded}
	}
	return []DeliveryState{DeliveryState(s)}
}

// ReplayState is how far a replay has come.
type ReplayState string

// The states of a replay.
const (
	ReplayCounting  ReplayState = "counting"
	ReplayRunning   ReplayState = "running"
	ReplayDone      ReplayState = "done"
	ReplayCancelled ReplayState = "cancelled"
)

// MaxReplayRate is how many deliveries a second a replay may be held to.
const MaxReplayRate = 100_000

// Replay is a durable wish to deliver again what a subscription was sent, or
// should have been, in a time. It is counted and made in steps that survive a
// restart.
type Replay struct {
	ID           ID
	Workspace    ID
	Subscription ID
	Since        time.Time
	Until        time.Time
	Selection    ReplaySelection
	// Rate is how many deliveries are made a second; zero means as many as
	// can be.
	Rate int
	// DryRun counts and makes nothing.
	DryRun    bool
	State     ReplayState
	Total     int
	Made      int
	CreatedAt time.Time
	EndedAt   time.Time // zero while it goes on
	// Reason says why it was cancelled.
	Reason string
	// Counted is the last record that is counted, while it is.
	Counted ID
	// Bound is the id of a record that comes after all that are meant.
	Bound ID
}

// NewReplay is a replay that begins now. What it makes itself lies behind its
// bound.
func NewReplay(r Replay) Replay {
	r.ID, r.State = NewID(PrefixReplay), ReplayCounting
	prefix := PrefixDelivery
	if r.Selection.OfEvents() {
		prefix = PrefixEvent
	}
	r.Bound = min(FirstID(prefix, r.Until), NewID(prefix))
	r.Counted = FirstID(prefix, r.Since)
	return r
}

// First is an id before all records that are meant.
func (r Replay) First() ID {
	if r.Selection.OfEvents() {
		return FirstID(PrefixEvent, r.Since)
	}
	return FirstID(PrefixDelivery, r.Since)
}

// What a step of a replay may look at.
const (
	// ReplayCountSteps is how many times more a step counts than it makes.
	ReplayCountSteps = 8
	// ReplayScanSteps is how many times more events a step scans than it finds.
	ReplayScanSteps = 4
	// promisedPause is how long a replay waits for deliveries that are promised.
	promisedPause = time.Second
)

// ReplayPart is how far a step of a replay came.
type ReplayPart struct {
	// Reached is the last record that was scanned. End reports that there are no more.
	Reached ID
	End     bool
	// Blocked reports that the next record waits for promised deliveries: whether they
	// are missing is not known yet.
	Blocked bool
}

// Count adds a part in which some records were found. Once all is counted, the replay is running, or done if it
// makes nothing.
func (r Replay) Count(found int, p ReplayPart, now time.Time) Replay {
	r.Total, r.Counted = r.Total+found, p.Reached
	if p.End || p.Blocked { // what is promised is not missing
		r.Counted, r.State = "", ReplayRunning
		if r.DryRun {
			r.State, r.EndedAt = ReplayDone, now.UTC().Truncate(time.Millisecond)
		}
	}
	return r
}

// SetState sets the state of a stored replay from what is stored of it.
func (r *Replay) SetState(cancelled, counting bool) {
	switch {
	case cancelled:
		r.State = ReplayCancelled
	case !r.EndedAt.IsZero():
		r.State = ReplayDone
	case counting:
		r.State = ReplayCounting
	default:
		r.State = ReplayRunning
	}
}

// Share is how many deliveries one step may make, of at most limit.
func (r Replay) Share(limit int) int {
	if r.Rate == 0 {
		return limit
	}
	return min(limit, max(r.Rate/5, 1))
}

// Pause is how long the next step waits after a part in which some records were found.
func (r Replay) Pause(found int, p ReplayPart) (pause time.Duration) {
	if r.Rate > 0 {
		pause = time.Duration(found) * time.Second / time.Duration(r.Rate)
	}
	if p.Blocked {
		pause = max(pause, promisedPause)
	}
	return pause
}
