package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
)

// Subscription sends events to a destination. The values of its extra headers are never
// shown.
type Subscription struct {
	ID   string `json:"id"`
	Name string `json:"name,omitzero"`
	URL  string `json:"url"`
	// Events are exact types and wildcards of families such as "metric.*".
	Events []string `json:"events"`
	// HTTPOperation is POST or GET for a webhook, and empty for other destinations.
	HTTPOperation string  `json:"httpOperation,omitzero"`
	Filters       Filters `json:"filters,omitzero"`
	// Filter is a CEL expression that events must match; empty means all events.
	Filter string `json:"filter,omitzero"`
	// Transform is a CEL expression that makes the body, and Preset the name of a built-in one.
	Transform string                     `json:"transform,omitzero"`
	Preset    string                     `json:"preset,omitzero"`
	State     feedmill.SubscriptionState `json:"state"`
	// DisabledReason is "user", "gone" or "failing" for a disabled one.
	DisabledReason string `json:"disabledReason,omitzero"`
	// PausedReason is "user", "unconfirmed" or "unsubscribed" for a paused one.
	PausedReason string `json:"pausedReason,omitzero"`
	// ConfirmBy is until when the recipient of an unconfirmed one can confirm it.
	ConfirmBy time.Time `json:"confirmBy,omitzero"`
	// AlertID is the same for the subscriptions of one alert; empty for others.
	AlertID   string           `json:"alertId,omitzero"`
	Delivery  DeliverySettings `json:"delivery"`
	CreatedAt time.Time        `json:"createdAt"`
	UpdatedAt time.Time        `json:"updatedAt"`
	// SigningSecret is in the answers to a creation and a rotation only.
	SigningSecret string `json:"signingSecret,omitzero"`
	// OverlapUntil is when a rotated secret alone signs.
	OverlapUntil time.Time `json:"overlapUntil,omitzero"`
	// LastSuccessAt is when something last got through, DisablingAt when it will be disabled
	// if failures go on, and Breaker whether it is left alone. They are in what is read.
	LastSuccessAt time.Time             `json:"lastSuccessAt,omitzero"`
	DisablingAt   time.Time             `json:"disablingAt,omitzero"`
	Breaker       feedmill.BreakerState `json:"breaker,omitzero"`
	// Health is in what is read, too.
	Health *SubscriptionHealth `json:"health,omitzero"`
}

// Filters narrow what a subscription hears of.
type Filters struct {
	// ResourceID is the only resource of interest; for datafeed.source.*
	// the id of a data feed.
	ResourceID string `json:"resourceId,omitzero"`
}

// DeliverySettings are how a subscription is delivered to.
type DeliverySettings struct {
	Timeout Duration `json:"timeout"`
	// RateLimit is nil for no limit.
	RateLimit   *RateLimit `json:"rateLimit"`
	Concurrency int        `json:"concurrency"`
	Ordered     bool       `json:"ordered"`
	// RetrySchedule is the waits between attempts, the subscription's own or
	// the service's.
	RetrySchedule []Duration        `json:"retrySchedule"`
	DisableAfter  DisableAfter      `json:"disableAfter"`
	Headers       map[string]string `json:"headers"`
	// Credentials has the names of the credentials for a broker; nil for webhooks.
	Credentials map[string]string `json:"credentials,omitzero"`
	// TLS and OAuth2 are nil if they are not set. Their secrets are hidden.
	TLS    *WebhookTLS    `json:"tls,omitzero"`
	OAuth2 *WebhookOAuth2 `json:"oauth2,omitzero"`
	// Batch is nil if each event is sent alone.
	Batch *Batch `json:"batch,omitzero"`
}

// Batch sends the events of a webhook as JSON arrays.
type Batch struct {
	// MaxEvents is the maximum number of events in an array, 2 to 100.
	MaxEvents int `json:"maxEvents"`
	// MaxWait is how long an event waits for others, up to 60 s; nil means a second.
	MaxWait *Duration `json:"maxWait,omitzero"`
}

// WebhookTLS has the certificates of the connections to a webhook, as PEM texts.
type WebhookTLS struct {
	// CACert verifies the endpoint instead of the authorities of the system.
	CACert     string `json:"caCert,omitzero"`
	ClientCert string `json:"clientCert,omitzero"`
	ClientKey  string `json:"clientKey,omitzero"`
}

// WebhookOAuth2 has the client credentials that the access tokens of a webhook are requested
// with.
type WebhookOAuth2 struct {
	TokenURL     string `json:"tokenUrl"`
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	Scope        string `json:"scope,omitzero"`
	Audience     string `json:"audience,omitzero"`
}

// DisableAfter is how long nothing may get through before a subscription is
// disabled, 1 to 30 days, or Never.
type DisableAfter time.Duration

// Never says that failures do not disable a subscription.
const Never = DisableAfter(feedmill.NeverDisable)

func (d DisableAfter) String() string { return feedmill.FormatDisableAfter(time.Duration(d)) }

// MarshalText writes it as the API reads it.
func (d DisableAfter) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what the API writes.
func (d *DisableAfter) UnmarshalText(text []byte) error {
	if string(text) == "off" {
		*d = Never
		return nil
	}
	return (*Duration)(d).UnmarshalText(text)
}

// SubscriptionHealth is how well a subscription does.
type SubscriptionHealth struct {
	// SuccessShare is how many got through of the deliveries that ended in the last
	// 24 hours or wait for another attempt; nil where there is none.
	SuccessShare *float64 `json:"successShare"`
	// Backlog is how many deliveries are open; where BacklogAtLeast is set
	// there are more than were counted, which lists do to 1,000.
	Backlog        int  `json:"backlog"`
	BacklogAtLeast bool `json:"backlogAtLeast,omitzero"`
	// OldestPendingAt is zero where nothing is open.
	OldestPendingAt time.Time             `json:"oldestPendingAt"`
	Breaker         feedmill.BreakerState `json:"breaker"`
}

// RateLimit allows so many requests in a time, by default a second.
type RateLimit struct {
	Requests int      `json:"requests"`
	Per      Duration `json:"per,omitzero"`
}

// Subscriptions goes through the subscriptions, newest first.
func (c *Client) Subscriptions(ctx context.Context) iter.Seq2[Subscription, error] {
	return list[Subscription](ctx, c, "/events/subscriptions", nil)
}

// SubscriptionTroubles counts the subscriptions that somebody should look at, of the newest
// feedmill.MaxCountedTroubles.
func (c *Client) SubscriptionTroubles(ctx context.Context) (map[feedmill.SubscriptionTrouble]int64, error) {
	var newest []Subscription
	header, err := c.call(ctx, http.MethodGet, "/events/subscriptions?counts=trouble&limit=1", nil, &newest)
	if err != nil {
		return nil, err
	}
	return countsOf[feedmill.SubscriptionTrouble](header), nil
}

func subscriptionPath(id string) string { return "/events/subscriptions/" + url.PathEscape(id) }

// Subscription reads one subscription.
func (c *Client) Subscription(ctx context.Context, id string) (Subscription, error) {
	return ask[Subscription](ctx, c, http.MethodGet, subscriptionPath(id), nil)
}

// DeleteSubscription deletes a subscription. Deliveries that have not ended
// are discarded.
func (c *Client) DeleteSubscription(ctx context.Context, id string) error {
	_, err := c.call(ctx, http.MethodDelete, subscriptionPath(id), nil, nil)
	return err
}

// Ping is what an endpoint said to a test.
type Ping struct {
	// Succeeded reports whether the endpoint returned a 2xx, or the broker acknowledged the
	// message.
	Succeeded bool `json:"succeeded"`
	Exchange
}

// TestEvent is an event that is sent to one subscription and not published.
type TestEvent struct {
	// Type is an event type; empty means test.ping.
	Type string `json:"type,omitzero"`
	// Data is a JSON object; nil means an empty one.
	Data json.RawMessage `json:"data,omitzero"`
}

// TestSubscription sends an event to the endpoint now, whatever the filter of the
// subscription is.
func (c *Client) TestSubscription(ctx context.Context, id string, e TestEvent, opts ...CallOption) (Ping, error) {
	return ask[Ping](ctx, c, http.MethodPost, subscriptionPath(id)+"/test", e, opts...)
}

// SubscriptionPreview is what a subscription would do with an event.
type SubscriptionPreview struct {
	Matches bool `json:"matches"`
	// Reason is type, resource, filter, filterError or transformFailed if nothing would be
	// sent, and Detail the same in words.
	Reason string `json:"reason"`
	Detail string `json:"detail"`
	// Body and ContentType are what would be sent.
	Body        string `json:"body"`
	ContentType string `json:"contentType"`
}

// SubscriptionSample describes a subscription for a preview.
type SubscriptionSample struct {
	Events    []string `json:"events"`
	Filters   Filters  `json:"filters,omitzero"`
	Filter    string   `json:"filter,omitzero"`
	Transform string   `json:"transform,omitzero"`
	Preset    string   `json:"preset,omitzero"`
	// URL and Delivery are optional; a batch changes the body.
	URL      string      `json:"url,omitzero"`
	Delivery NewDelivery `json:"delivery,omitzero"`
}

// EventSample is an event for a preview.
type EventSample struct {
	Type       string          `json:"type"`
	ResourceID string          `json:"resourceId,omitzero"`
	Timestamp  time.Time       `json:"timestamp,omitzero"`
	Data       json.RawMessage `json:"data,omitzero"`
}

// PreviewSubscription shows what a subscription would do with an event. Nothing is stored
// or sent.
func (c *Client) PreviewSubscription(ctx context.Context, subscription SubscriptionSample, event EventSample) (out SubscriptionPreview, err error) {
	in := struct {
		Subscription SubscriptionSample `json:"subscription"`
		Event        EventSample        `json:"event"`
	}{subscription, event}
	_, err = c.call(ctx, http.MethodPost, "/events/subscriptions/preview", in, &out)
	return out, err
}

// RetrySubscription makes everything due now that waits for its next attempt to
// this subscription, such as after an outage, and returns how many that are.
func (c *Client) RetrySubscription(ctx context.Context, id string, opts ...CallOption) (due int, err error) {
	var out struct {
		Due int `json:"due"`
	}
	_, err = c.call(ctx, http.MethodPost, subscriptionPath(id)+"/retry", nil, &out, opts...)
	return out.Due, err
}

// RotateSecret gives a subscription a new signing secret, which is in the
// answer. Both secrets sign for the time of the overlap, up to 7 days; with
// none the new one takes over at once.
func (c *Client) RotateSecret(ctx context.Context, id string, overlap time.Duration, opts ...CallOption) (Subscription, error) {
	in := struct {
		Overlap Duration `json:"overlap"`
	}{Duration(overlap)}
	return ask[Subscription](ctx, c, http.MethodPost, subscriptionPath(id)+"/rotate_secret", in, opts...)
}
