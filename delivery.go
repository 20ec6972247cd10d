package feedmill

import (
	"errors"
	"fmt"
	"time"
)

// DeliveryState is how far a delivery has come.
type DeliveryState string

// The states of a delivery. Delivering is never stored: it is a pending or
// retrying delivery whose attempt is under way, which the owner of its slot
// knows, and which a crash returns to what it was.
const (
	DeliveryPending    DeliveryState = "pending"
	DeliveryDelivering DeliveryState = "delivering"
	DeliveryDelivered  DeliveryState = "delivered"
	DeliveryRetrying   DeliveryState = "retrying"
	DeliveryExhausted  DeliveryState = "exhausted"
	DeliveryDiscarded  DeliveryState = "discarded"
)

// DeliveryStates lists all of them.
var DeliveryStates = []DeliveryState{
	DeliveryPending, DeliveryDelivering, DeliveryDelivered, DeliveryRetrying, DeliveryExhausted, DeliveryDiscarded,
}

// Open reports whether a delivery in the state still has attempts to come.
func (s DeliveryState) Open() bool { return s == DeliveryPending || s == DeliveryRetrying }

// Delivery is one event on its way to one subscription.
type Delivery struct {
	ID           ID
	Workspace    ID
	Subscription ID
	Event        ID
	// Seq is the order of acceptance within a store.
	Seq        int64
	Type       string
	ResourceID string
	State      DeliveryState
	// Reason says why a delivery ended without success.
	Reason string
	// Attempts is how many were made, MaxAttempts how many may be. A retry by
	// hand adds to these.
	Attempts    int
	MaxAttempts int
	// DueAt is when the next attempt may begin, for a retrying delivery; a
	// pending one is due in any case. It means nothing once the delivery has
	// ended.
	DueAt     time.Time
	CreatedAt time.Time
	EndedAt   time.Time
}

// Why deliveries are discarded with their subscription.
const (
	DiscardedDisabled = "the subscription is disabled"
	DiscardedDeleted  = "the subscription is deleted"
)

// Retry makes a delivery pending and due at now, with more attempts allowed than it has
// made. ended is why its subscription gets no more deliveries, empty if it does.
func (d *Delivery) Retry(ended string, attempts int, now time.Time) error {
	switch {
	case ended == DiscardedDeleted:
		return NotRetryable("The subscription of this delivery is deleted. Create a new subscription and replay the event to it.")
	case ended != "":
		return NotRetryable("The subscription of this delivery is disabled. Set its state to active, then retry.")
	case d.State == DeliveryPending:
		return NotRetryable("The delivery is already pending. Its next attempt starts as soon as possible.")
	}
	d.State, d.Reason, d.MaxAttempts, d.DueAt, d.EndedAt = DeliveryPending, "", d.Attempts+attempts, now, time.Time{}
	return nil
}

// NotRetryable is the refusal of a retry.
func NotRetryable(detail string) *Error {
	return &Error{Kind: ErrConflict, Type: "not-retryable", Detail: detail}
}

// DiscardStep is how many open deliveries are discarded in the transaction that
// ends a subscription; the rest follows in steps.
const DiscardStep = 1000

// Attempt is one try to deliver.
type Attempt struct {
	ID       ID
	Delivery ID
	// Number counts from 1 over all attempts of the delivery.
	Number int
	At     time.Time
	// Status is the answer's, 0 where none came.
	Status int
	// Error says what went wrong where no good answer came.
	Error string
	// Header and Body are of the answer; Body is kept for failures only and
	// holds its first MaxKeptAnswer bytes. Where lines of the header were left out,
	// its last one is LinesLeftOut.
	Header [][2]string
	Body   []byte
	Timing Timing
}

// LinesLeftOut stands at the end of a header that is not whole: a line without a name,
// as none can be.
var LinesLeftOut = [2]string{}

// MaxKeptAnswer is how much of a failed attempt's answer is kept, and
// MaxReadAnswer how much of any answer is read.
const (
	MaxKeptAnswer = 16 << 10
	MaxReadAnswer = 64 << 10
)

// Timing splits the time of an attempt. A part that did not happen, such as
// connecting on a connection that was open, is zero.
type Timing struct {
	DNS       time.Duration
	Connect   time.Duration
	TLS       time.Duration
	FirstByte time.Duration
	Total     time.Duration
}

// Outcome is what an attempt means for its delivery, to be written together
// with the attempt.
type Outcome struct {
	Workspace    ID
	Subscription ID
	Delivery     ID
	// Seq is the delivery's, where it is known: a store may find it sooner by it.
	Seq int64
	// Attempt is nil where none was made: a delivery that is discarded, or
	// that the egress policy refuses.
	Attempt *Attempt
	State   DeliveryState
	Reason  string
	DueAt   time.Time // of a retrying delivery
	At      time.Time
	// By is the replica whose word this is: nothing is written of an open
	// delivery in a slot that is not that replica's any more. Where it is empty
	// it counts whoever says so.
	By string
	// Succeeded moves the subscription's LastSuccessAt to At and ends its run
	// of failures, Failed adds to it.
	Succeeded, Failed bool
	// Warn and Disable change the subscription, with the event that tells
	// of it.
	Warn    bool
	Disable string // the reason; empty means no change
	Notice  *Event
}

// LockedError says that some outcomes could not be written, because somebody holds
// a lock on their deliveries. All others were.
type LockedError struct {
	Deliveries map[ID]struct{}
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%d deliveries are locked by another process", len(e.Deliveries))
}

func (e *LockedError) Unwrap() error { return ErrUnavailable }

// ErrPassedOver says that some outcomes that name who settles them were passed over, or
// may have been: their deliveries are not open any more in a slot of that replica's. All
// others were written.
var ErrPassedOver = errors.New("some deliveries no longer belong to this replica")

// RetryPosition is a place among the retries of all subscriptions, which stand in
// the order of their subscription, their time and their Seq. The zero value is
// before all of them.
type RetryPosition struct {
	Subscription ID
	DueAt        time.Time
	Seq          int64
}

// DeliveryQuery asks for a part of the deliveries of a workspace, newest first.
type DeliveryQuery struct {
	Page
	Subscription ID
	// After, where it is not empty, asks for those behind this one, the oldest first. It
	// needs a subscription.
	After ID
	// States are those wanted; empty means all.
	States []DeliveryState
	Type   string
	Since  time.Time
}

// DueQuery asks for deliveries of one subscription whose time has come.
type DueQuery struct {
	Subscription ID
	Now          time.Time
	// From, where it is not empty, says that only what is pending is wanted,
	// from this id on. It counts without Heads.
	From ID
	// Heads asks for the oldest open delivery of each resource only, in the order
	// of resources and, where After is not nil, of those behind it. Resources are
	// the only ones to look at where there are any, in their order. Retries asks
	// for those that were tried before instead, in the order of their times.
	Heads     bool
	After     *string
	Resources []string
	Retries   bool
	// Each is how many of each of the Resources are wanted, where it is not zero, from
	// the head on and as far as they are due. Behind all heads come the others, one
	// resource after the other.
	Each  int
	Limit int
	// MaxBytes, where it is not zero, ends the list with the delivery with which
	// their payloads come to so many bytes.
	MaxBytes int
}

// IsFull reports whether a list ends because of the bytes of its payloads.
func (q DueQuery) IsFull(due []DueDelivery) bool {
	bytes := 0
	for i := range due {
		bytes += len(due[i].Payload)
	}
	return q.MaxBytes > 0 && bytes >= q.MaxBytes
}

// DueDelivery is a delivery to send, with the text to send.
type DueDelivery struct {
	Delivery
	Payload []byte
}
