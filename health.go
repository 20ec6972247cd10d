package feedmill

import (
	"math"
	"time"
)

// BreakerState says whether an endpoint that gives no answer is left alone.
type BreakerState string

// The states of a breaker. The replica that sends for a subscription knows its
// breaker; to another it is unknown, where it was not told.
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

// Attempts are counted by stretches of CountStep, and the counts are kept for
// CountRetention.
const (
	CountStep      = 15 * time.Minute
	CountRetention = 72 * time.Hour
)

// DeliveryCount is what came of the attempts of a subscription in a stretch of
// time, as one process saw it.
type DeliveryCount struct {
	Subscription ID
	// From is when the stretch begins.
	From time.Time
	// Writer names the process, which writes its count again while it grows.
	Writer string
	// Delivered and Exhausted are deliveries that have come to their end, and
	// First those of Delivered whose first attempt it was. Failed are attempts.
	Delivered, First, Failed, Exhausted int64
	// Times are how long endpoints took to answer.
	Times AnswerTimes
}

// Add adds what another process saw, or what was seen at another time.
func (c *DeliveryCount) Add(other DeliveryCount) {
	c.Delivered += other.Delivered
	c.First += other.First
	c.Failed += other.Failed
	c.Exhausted += other.Exhausted
	c.Times = c.Times.plus(other.Times)
}

// AnswerTimes counts durations by their size: each class is a fifth longer than
// the one before it, from one millisecond on.
type AnswerTimes []uint32

const (
	timesGrowth = 1.2
	// timesClasses reach beyond two minutes, which no attempt takes.
	timesClasses = 67
)

var logGrowth = math.Log(timesGrowth)

// Count counts a duration.
func (t *AnswerTimes) Count(d time.Duration) {
	class := 0
	if ms := d.Seconds() * 1000; ms > 1 {
		class = min(int(math.Ceil(math.Log(ms)/logGrowth)), timesClasses-1)
	}
	*t = t.grown(class + 1)
	(*t)[class]++
}

func (t AnswerTimes) grown(n int) AnswerTimes {
	if len(t) < n {
		t = append(t, make(AnswerTimes, n-len(t))...)
	}
	return t
}

func (t AnswerTimes) plus(other AnswerTimes) AnswerTimes {
	t = t.grown(len(other))
	for i, n := range other {
		t[i] += n
	}
	return t
}

// Quantile is the duration that a share of all are no longer than, to within the
// width of a class; it is 0 where nothing was counted.
func (t AnswerTimes) Quantile(share float64) time.Duration {
	var total uint64
	for _, n := range t {
		total += uint64(n)
	}
	rank := uint64(math.Ceil(share * float64(total)))
	var seen uint64
	for class, n := range t {
		if seen += uint64(n); n > 0 && seen >= rank {
			return time.Duration(math.Pow(timesGrowth, float64(class)) * float64(time.Millisecond)).Round(100 * time.Microsecond)
		}
	}
	return 0
}
