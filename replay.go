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

// Share is how many deliveries one step may make, of at most limit, and how long
// the next one has to wait after so many.
func (r Replay) Share(limit int) (most int, pause func(made int) time.Duration) {
	if r.Rate == 0 {
		return limit, func(int) time.Duration { return 0 }
	}
	return min(limit, max(r.Rate/5, 1)), func(made int) time.Duration { return time.Duration(made) * time.Second / time.Duration(r.Rate) }
}
