package feedmill

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"strconv"
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

// Subscription is a wish to be told of events at a URL.
//
// Events and ResourceID are in the internal form that the gateway gives them:
// a subscription to datafeed.source.* holds datasource.* names.
type Subscription struct {
	ID        ID
	Workspace ID
	Name      string
	URL       string
	// Events are exact types and family wildcards such as "metric.*".
	Events []string
	// Method is POST or GET.
	Method string
	// ResourceID, where set, is the only resource that the subscription
	// hears of; for the datasource family it is a data feed's id.
	ResourceID     string
	State          SubscriptionState
	DisabledReason string
	Delivery       DeliverySettings
	// Secrets is the sealed form of [SigningSecrets]. Headers is the sealed
	// form of the extra headers, empty where there are none.
	Secrets     []byte
	Headers     []byte
	HeaderNames []string

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
}

// Attempts is how many attempts a delivery gets where the service's schedule
// makes so many.
func (d DeliverySettings) Attempts(service int) int {
	if len(d.Retries) == 0 {
		return service
	}
	return d.Retries.Attempts()
}

// Patience is how long nothing may get through before the subscription is
// disabled, and whether it ever is.
func (d DeliverySettings) Patience() (patience time.Duration, ends bool) {
	if d.DisableAfter == 0 {
		return DisableAfter, true
	}
	return d.DisableAfter, d.DisableAfter != NeverDisable
}

// FormatDisableAfter writes such a time: in days where they are whole, and off
// for NeverDisable.
func FormatDisableAfter(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == NeverDisable:
		return "off"
	case d > 0 && d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	}
	return FormatDuration(d)
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
	MaxRotationOverlap     = 7 * 24 * time.Hour
	DisableAfter           = 5 * 24 * time.Hour
	MinDisableAfter        = 24 * time.Hour
	MaxDisableAfter        = 30 * 24 * time.Hour
	NeverDisable           = -time.Millisecond
	FailuresToDisable      = 10
	WarnBeforeDisable      = 24 * time.Hour
	MaxGetURL              = 8 << 10
	DefaultRotationOverlap = 24 * time.Hour
)

// QuotaError says that a workspace cannot have so many subscriptions, or
// listeners, more.
type QuotaError struct {
	// Left is how many more it may have.
	Left int
}

func (e *QuotaError) Error() string { return fmt.Sprintf("there may be only %d more", e.Left) }

// URLChange is how the URL of a subscription is written in the store, and how it
// shall be.
type URLChange struct {
	Subscription ID
	From, To     string
}

// SigningSecrets are the secrets that sign a subscription's deliveries. During
// a rotation's overlap there are two.
type SigningSecrets struct {
	// Current signs x-service-signature.
	Current string `json:"current"`
	// Next takes over at SwitchAt; empty where no rotation is under way.
	Next     string    `json:"next,omitzero"`
	SwitchAt time.Time `json:"switchAt,omitzero"`
}

// At returns the secrets as they are at t: after the overlap, the next secret
// is the current one and there is no other.
func (s SigningSecrets) At(t time.Time) SigningSecrets {
	if s.Next != "" && !t.Before(s.SwitchAt) {
		return SigningSecrets{Current: s.Next}
	}
	return s
}

// SecretPrefix begins every signing secret.
const SecretPrefix = "whsec_"

// NewSigningSecret makes a signing secret: 256 bits behind the prefix.
func NewSigningSecret() string {
	var b [32]byte
	rand.Read(b[:])
	return SecretPrefix + base64.StdEncoding.EncodeToString(b[:])
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
