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
	// HealthSample is how many deliveries the share of successes is taken of:
	// the newest that were tried.
	HealthSample = 100
	// MaxCountedBacklog is how far a backlog is counted.
	MaxCountedBacklog = 100_000
)

// SubscriptionHealth is how well a subscription does, as the store sees it.
type SubscriptionHealth struct {
	// Tried is how many of its newest deliveries were looked at, and Delivered
	// how many of those got through.
	Tried, Delivered int
	// Backlog is how many deliveries are open, or MaxCountedBacklog where
	// they are more, as More says.
	Backlog int
	More    bool
	// OldestOpen is when the oldest of them was made; zero where there is none.
	OldestOpen time.Time
}

// Sample takes the newest of deliveries that were tried and counts them.
func (h *SubscriptionHealth) Sample(newestFirst []Delivery) {
	for _, d := range newestFirst {
		if h.Tried == HealthSample {
			return
		}
		if d.Attempts == 0 {
			continue
		}
		h.Tried++
		if d.State == DeliveryDelivered {
			h.Delivered++
		}
	}
}

// SampledStates are those of deliveries that were tried.
var SampledStates = []DeliveryState{DeliveryDelivered, DeliveryRetrying, DeliveryExhausted}

// OpenBreaker is an endpoint that is left alone because it gives no answer.
type OpenBreaker struct {
	Subscription, Workspace ID
	State                   BreakerState
	// Since is when it was first left alone, LastError what its last attempt came to, and
	// ProbeAt when it is tried again.
	Since, ProbeAt time.Time
	LastError      string
}
