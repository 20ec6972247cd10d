package feedmill

import (
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"time"
)

// SubscriptionState says whether a subscription is delivered to.
type SubscriptionState string

// The states of a subscription.
const (
	SubscriptionActive   SubscriptionState = "active"
	SubscriptionPaused   SubscriptionState = "paused"
	SubscriptionDisabled SubscriptionState = "disabled"
)

// Why a subscription is disabled.
const (
	DisabledByUser  = "user"
	DisabledGone    = "gone"    // the endpoint answered 410
	DisabledFailing = "failing" // nothing got through for too long
)

// Why a subscription is paused.
const (
	PausedAsked        = "user"         // a request paused it
	PausedUnconfirmed  = "unconfirmed"  // the recipient of the mail has not agreed
	PausedUnsubscribed = "unsubscribed" // the recipient of the mail does not want any more
)

// SubscriptionTrouble is why somebody should look at a subscription.
type SubscriptionTrouble string

// What trouble a subscription may have.
const (
	TroubleFailing  SubscriptionTrouble = "failing"  // its endpoint gives no answer and is left alone
	TroubleDisabled SubscriptionTrouble = "disabled" // nobody but the service has disabled it
)

// SubscriptionTroubles are all of them.
var SubscriptionTroubles = []SubscriptionTrouble{TroubleFailing, TroubleDisabled}

// MaxCountedTroubles is how many subscriptions, the newest, are looked at for their troubles.
const MaxCountedTroubles = 1000

// SubscriptionStanding is whether a subscription is delivered to, and why not.
type SubscriptionStanding struct {
	ID             ID
	State          SubscriptionState
	DisabledReason string
}

// Subscription has events delivered to a destination.
//
// Events and ResourceID are in the internal form that the gateway gives them:
// a subscription to datafeed.source.* holds datasource.* names.
type Subscription struct {
	ID        ID
	Workspace ID
	Name      string
	// Destination is where the deliveries go.
	Destination Destination
	// Events are exact types, family wildcards such as "metric.*", and [EveryEvent].
	Events []string
	// ResourceID, where set, is the only resource that the subscription
	// hears of; for the datasource family it is a data feed's id.
	ResourceID     string
	State          SubscriptionState
	DisabledReason string
	// PausedReason is empty unless it is paused.
	PausedReason string
	Consent
	// AlertID is the same for all subscriptions of one alert; empty for others.
	AlertID  ID
	Delivery DeliverySettings
	// Filter is a CEL expression that an event must match; empty means that every event
	// does. FilterKey identifies it; the store sets it.
	Filter    string
	FilterKey int64
	Shape     Shape
	// Secrets is the sealed form of [SigningSecrets].
	Secrets []byte

	CreatedAt time.Time
	UpdatedAt time.Time
	DeletedAt time.Time
	// LastSuccessAt trails the truth by up to a minute; zero means never.
	LastSuccessAt time.Time
	// FailingSince is when the first attempt failed of those since the last
	// success; zero where none has. Failures counts them, up to
	// FailuresToDisable.
	FailingSince time.Time
	Failures     int
	// WarnedAt is when subscription.disabling_soon was published for the
	// present run of failures; zero means not yet.
	WarnedAt time.Time
	// ListenUntil is when a listener ends; zero for one with a URL.
	ListenUntil time.Time
}

// OfSources reports which half a subscription belongs to: that of the gateway's
// family, or that of all others.
func (s Subscription) OfSources() bool { return len(s.Events) > 0 && IsInternalName(s.Events[0]) }

// IssuedSubscription is a subscription with a signing secret that is shown this
// once.
type IssuedSubscription struct {
	Subscription
	SigningSecret string
	// OverlapUntil is when a rotated secret takes the place of the old one;
	// zero where it has.
	OverlapUntil time.Time
}

// SubscribedHalf is what became of one half of a request to subscribe. Its events
// of the gateway's family are one, all others another.
type SubscribedHalf struct {
	Events []string // as the request names them
	Made   IssuedSubscription
	// Refusal is why nothing was made, nil where something was.
	Refusal *Error
}

// DeliverySettings are the knobs of one subscription's deliveries.
type DeliverySettings struct {
	Timeout time.Duration
	// RateLimit and RatePer allow RateLimit requests in RatePer; zero means
	// no limit.
	RateLimit   int
	RatePer     time.Duration
	Concurrency int
	// Ordered delivers first in, first out for each resource.
	Ordered bool
	// Retries are the waits between attempts; none means those of the service.
	Retries RetrySchedule
	// DisableAfter is how long nothing may get through before the subscription
	// is disabled; zero means the default, and NeverDisable that it never is.
	DisableAfter time.Duration
	// Batch is for webhooks alone.
	Batch Batch
}

// Limits and defaults of subscriptions.
const (
	MaxSubscriptionURL     = 2048
	MaxSubscribedEvents    = 100
	DefaultTimeout         = 15 * time.Second
	MaxTimeout             = 60 * time.Second
	DefaultConcurrency     = 64
	MaxConcurrency         = 100
	MaxExtraHeaders        = 20
	MaxExtraHeaderBytes    = 4 << 10
	MaxCredentialBytes     = 8 << 10
	MaxRotationOverlap     = 7 * 24 * time.Hour
	MaxGetURL              = 8 << 10
	DefaultRotationOverlap = 24 * time.Hour
)

// QuotaError says that a workspace cannot have so many subscriptions, or
// listeners, more.
type QuotaError struct {
	// Left is how many more it may have, and Most how many in all.
	Left, Most int
}

func (e *QuotaError) Error() string { return fmt.Sprintf("only %d more fit into the quota", e.Left) }

// URLChange is how the URL of a subscription is written in the store, and how it
// shall be.
type URLChange struct {
	Subscription ID
	From, To     string
}

// Slots is how many parts the subscriptions are divided into. A slot has one
// owner at a time, and only the owner sends.
const Slots = 256

// Slot is the part that a subscription falls into.
func Slot(subscription ID) int {
	h := fnv.New32a()
	h.Write([]byte(subscription))
	return int(h.Sum32() % Slots)
}

// Topics are the names and wildcards that the subscription is matched by, each
// with the only resource that it hears of, empty for any. A filter on a data
// feed is one for events of the gateway's family and another is one for all
// others; where a listener has both kinds of events, the other kind is not
// filtered.
func (s Subscription) Topics() iter.Seq2[string, string] {
	mixed := slices.ContainsFunc(s.Events, IsInternalName) && slices.ContainsFunc(s.Events, isPublicName)
	ofFeed := PublicFilter(s.ResourceID) != s.ResourceID
	return func(yield func(name, resource string) bool) {
		for _, name := range s.Events {
			resource := s.ResourceID
			if mixed && IsInternalName(name) != ofFeed {
				resource = ""
			}
			if !yield(name, resource) {
				return
			}
		}
	}
}

func isPublicName(name string) bool { return !IsInternalName(name) }

// Selects reports whether a subscription hears of an event.
func (s Subscription) Selects(e Event) bool {
	name, wildcard, resource := e.Match()
	for topic, filter := range s.Topics() {
		if (topic == name || topic == wildcard || topic == Everything(name)) && (filter == "" || filter == resource) {
			return true
		}
	}
	return false
}

// A listener is a subscription without a URL: whoever made it holds a
// connection open, is sent its deliveries over that, and says what became of
// each. It lives for ListenerGrace after it was last connected, and for
// ListenerLife at most.
const (
	ListenerGrace = 10 * time.Minute
	ListenerLife  = 24 * time.Hour
	// ListenerTouch is how often a connection moves the end of its listener.
	ListenerTouch = time.Minute
	// MaxListeners is how many a workspace may have at a time.
	MaxListeners = 100
	// MaxListenerWindow is how many deliveries may be sent to a listener and
	// not answered yet.
	MaxListenerWindow = 32
	// MaxListenerAnswers is how many answers a request may bring.
	MaxListenerAnswers = 100
)

// ListenerMessage is what a listener is told over its connection.
type ListenerMessage struct {
	// Delivery is one to answer, with the headers that a webhook would have;
	// nil where the message is a sign of life.
	Delivery *DueDelivery
	// Test marks an event that was not published. It is not answered.
	Test    bool
	Headers map[string]string
	// Until is when the listener ends unless it stays connected.
	Until time.Time
}

// ListenerEnded says why a listener's connection has ended.
type ListenerEnded string

// Why connections end. One that breaks ends for no reason of the service.
const (
	ListenerBroken   ListenerEnded = ""
	ListenerReplaced ListenerEnded = "replaced" // by a newer connection
	ListenerRemoved  ListenerEnded = "removed"
	ListenerExpired  ListenerEnded = "expired"
	ListenerShutdown ListenerEnded = "shutdown" // of the service: connect again
)

// EndedReason is why a subscription gets no more deliveries, empty if it does.
func (s Subscription) EndedReason() string {
	switch {
	case !s.DeletedAt.IsZero():
		return DiscardedDeleted
	case s.State == SubscriptionDisabled:
		return DiscardedDisabled
	}
	return ""
}

// Listening reports whether the subscription is a listener.
func (s Subscription) Listening() bool { return !s.ListenUntil.IsZero() }

// ListenerEnd is when a listener that was made at one time and is connected at
// another ends, unless it is connected again.
func ListenerEnd(made, connected time.Time) time.Time {
	end, last := connected.Add(ListenerGrace), made.Add(ListenerLife)
	if end.After(last) {
		return last
	}
	return end
}

// ShownURL is the URL as responses have it. That of an alert to a chat service can be used by
// anyone who knows it, so its path is not shown.
func (s Subscription) ShownURL() string {
	if s.AlertID == "" || s.Destination.Kind != DestinationWebhook {
		return s.Destination.URL
	}
	scheme, rest, _ := strings.Cut(s.Destination.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return scheme + "://" + host + "/" + Hidden
}
