package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// NewSubscription describes a subscription to make; URL and Events are needed.
type NewSubscription struct {
	Name          string   `json:"name,omitzero"`
	URL           string   `json:"url"`
	Events        []string `json:"events"`
	HTTPOperation string   `json:"httpOperation,omitzero"`
	Filters       Filters  `json:"filters,omitzero"`
	// Filter is a CEL expression that events must match.
	Filter string `json:"filter,omitzero"`
	// Transform is a CEL expression that makes the body, and Preset the name of a built-in
	// one. At most one of them can be set.
	Transform string `json:"transform,omitzero"`
	Preset    string `json:"preset,omitzero"`
	// Alert marks the subscriptions that are created as an alert.
	Alert bool `json:"alert,omitzero"`
	// SigningSecret is whsec_ and the base64 of 24 to 64 bytes; empty means a generated one.
	SigningSecret string      `json:"signingSecret,omitzero"`
	Delivery      NewDelivery `json:"delivery,omitzero"`
}

// NewDelivery are the delivery settings of a new subscription. What is zero
// gets its default.
type NewDelivery struct {
	Timeout     Duration   `json:"timeout,omitzero"`
	RateLimit   *RateLimit `json:"rateLimit,omitzero"`
	Concurrency int        `json:"concurrency,omitzero"`
	Ordered     bool       `json:"ordered,omitzero"`
	// RetrySchedule has 1 to 20 waits.
	RetrySchedule []Duration        `json:"retrySchedule,omitzero"`
	DisableAfter  DisableAfter      `json:"disableAfter,omitzero"`
	Headers       map[string]string `json:"headers,omitzero"`
	// Credentials are those for a broker.
	Credentials map[string]string `json:"credentials,omitzero"`
	TLS         *WebhookTLS       `json:"tls,omitzero"`
	OAuth2      *WebhookOAuth2    `json:"oauth2,omitzero"`
	Batch       *Batch            `json:"batch,omitzero"`
}

// IsZero reports whether everything gets its default.
func (d NewDelivery) IsZero() bool {
	return d.Timeout == 0 && d.RateLimit == nil && d.Concurrency == 0 && !d.Ordered && d.Headers == nil && d.Credentials == nil && d.RetrySchedule == nil && d.DisableAfter == 0 && d.TLS == nil && d.OAuth2 == nil && d.Batch == nil
}

// CreatedSubscriptions is what came of a request for a subscription. The
// names of datafeed.source.* make one subscription and all other names
// another, so there can be two, and one of the two can fail alone.
type CreatedSubscriptions struct {
	// Created has the signing secrets, which are shown nowhere else. Beside
	// a failure it has ID, Events, URL and SigningSecret only.
	Created []Subscription `json:"created"`
	// Failed is what could not be made although something else was.
	Failed []SubscriptionFailure `json:"errors"`
}

// SubscriptionFailure is a subscription that could not be made.
type SubscriptionFailure struct {
	Events  []string `json:"events"`
	Status  int      `json:"status"`
	Message string   `json:"message"`
}

func (f SubscriptionFailure) Error() string {
	return fmt.Sprintf("no subscription to %s (%d): %s", strings.Join(f.Events, ", "), f.Status, f.Message)
}

// CreateSubscription subscribes an endpoint to events. An error says that
// nothing was made; where half of it was, the answer says so.
func (c *Client) CreateSubscription(ctx context.Context, s NewSubscription, opts ...CallOption) (CreatedSubscriptions, error) {
	var made CreatedSubscriptions
	var answer json.RawMessage
	if _, err := c.call(ctx, http.MethodPost, "/events/subscriptions", s, &answer, opts...); err != nil {
		return made, err
	}
	var err error
	if bytes.HasPrefix(answer, []byte("[")) {
		err = json.Unmarshal(answer, &made.Created)
	} else {
		var either struct {
			Data *Subscription `json:"data"`
			CreatedSubscriptions
		}
		err = json.Unmarshal(answer, &either)
		if made = either.CreatedSubscriptions; either.Data != nil {
			made.Created = []Subscription{*either.Data}
		}
	}
	if err != nil {
		return CreatedSubscriptions{}, fmt.Errorf("POST /events/subscriptions: the response cannot be read: %w", err)
	}
	return made, nil
}
