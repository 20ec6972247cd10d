package feedmill

import "time"

// BreakerState says whether an endpoint that gives no answer is left alone.
type BreakerState string

// The states of a breaker. The one that sends for a subscription knows its
// breaker: to another replica it is unknown.
const (
	BreakerClosed   BreakerState = "closed"
	BreakerOpen     BreakerState = "open"
	BreakerHalfOpen BreakerState = "halfOpen" // one attempt is made, to see
	BreakerUnknown  BreakerState = "unknown"
)

// What the health of a subscription looks at.
const (
	// HealthTime is how far back the share of successes looks.
	HealthTime = 24 * time.Hour
	// MaxCountedBacklog is how far a backlog is counted, and MaxListedBacklog how far
	// that of each subscription in a list is.
	MaxCountedBacklog = 100_000
	MaxListedBacklog  = 1000
)

// SubscriptionBacklog is what a subscription has to deliver.
type SubscriptionBacklog struct {
	// Pending and Retrying are how many deliveries are open, each counted no further than
	// was asked for.
	Pending, Retrying int
	// Oldest is when the oldest of them was made; zero where there is none.
	Oldest time.Time
}

// SuccessShare is how many of a subscription's deliveries got through, of those that were
// tried in a time: they have ended then, as the count of that time says, or are to be tried
// again. It is false where none was tried.
func SuccessShare(ended DeliveryCount, retrying int) (share float64, tried bool) {
	all := ended.Delivered + ended.Exhausted + int64(retrying)
	if all == 0 {
		return 0, false
	}
	return float64(ended.Delivered) / float64(all), true
}

// OpenBreaker is an endpoint that is left alone because it gives no answer.
type OpenBreaker struct {
	Subscription, Workspace ID
	State                   BreakerState
	// Since is when it was first left alone, LastError what its last attempt came to, and
	// ProbeAt when it is tried again.
	Since, ProbeAt time.Time
	LastError      string
}
