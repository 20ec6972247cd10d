package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
)

// Delivery is an event on its way to one subscription.
type Delivery struct {
	ID             string                 `json:"id"`
	SubscriptionID string                 `json:"subscriptionId"`
	EventID        string                 `json:"eventId"`
	Type           string                 `json:"type"`
	ResourceID     string                 `json:"resourceId,omitzero"`
	State          feedmill.DeliveryState `json:"state"`
	// Reason says why it ended without success.
	Reason       string `json:"reason,omitzero"`
	AttemptCount int    `json:"attemptCount"`
	MaxAttempts  int    `json:"maxAttempts"`
	// NextAttemptAt is zero where no attempt is to come.
	NextAttemptAt time.Time `json:"nextAttemptAt,omitzero"`
	CreatedAt     time.Time `json:"createdAt"`
	// EndedAt is zero where it has not ended.
	EndedAt time.Time `json:"endedAt,omitzero"`
	// Attempts are in the answer of [Client.Delivery] only.
	Attempts []Attempt `json:"attempts,omitzero"`
}

// Attempt is one request of a delivery.
type Attempt struct {
	ID string `json:"id"`
	// Number counts from 1.
	Number int `json:"number"`
	Exchange
}

// Exchange is a request to an endpoint and what came of it.
type Exchange struct {
	At time.Time `json:"at"`
	// Status is zero where no answer came.
	Status  int            `json:"status,omitzero"`
	Headers []AnswerHeader `json:"headers"`
	Timing  Timing         `json:"timing"`
	// Error says what went wrong.
	Error string `json:"error,omitzero"`
	// Body is the beginning of the answer to a failed attempt.
	Body          string `json:"body,omitzero"`
	BodyTruncated bool   `json:"bodyTruncated,omitzero"`
}

// AnswerHeader is a line of an answer's header.
type AnswerHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Timing is what the time of an exchange went into. What did not happen, such
// as connecting on a connection that was open, took none.
type Timing struct {
	DNS       Milliseconds `json:"dnsMs"`
	Connect   Milliseconds `json:"connectMs"`
	TLS       Milliseconds `json:"tlsMs"`
	FirstByte Milliseconds `json:"firstByteMs"`
	Total     Milliseconds `json:"totalMs"`
}

// DeliveryQuery says which deliveries are wanted; its zero value says all.
type DeliveryQuery struct {
	State feedmill.DeliveryState
	Type  string
	Since time.Time
}

// Deliveries goes through the deliveries of a subscription, newest first.
func (c *Client) Deliveries(ctx context.Context, subscriptionID string, q DeliveryQuery) iter.Seq2[Delivery, error] {
	return list[Delivery](ctx, c, subscriptionPath(subscriptionID)+"/deliveries", map[string]string{
		"state": string(q.State), "type": q.Type, "since": sinceParameter(q.Since),
	})
}

// Undelivered goes through everything that is exhausted or discarded, over all
// subscriptions, newest first.
func (c *Client) Undelivered(ctx context.Context) iter.Seq2[Delivery, error] {
	return list[Delivery](ctx, c, "/events/undelivered", nil)
}

func deliveryPath(id string) string { return "/events/deliveries/" + url.PathEscape(id) }

// Delivery reads one delivery with all its attempts.
func (c *Client) Delivery(ctx context.Context, id string) (Delivery, error) {
	return ask[Delivery](ctx, c, http.MethodGet, deliveryPath(id), nil)
}

// RetryDelivery gives a delivery that has ended, or waits for a retry, new
// attempts, the first of them at once.
func (c *Client) RetryDelivery(ctx context.Context, id string, opts ...CallOption) (Delivery, error) {
	return ask[Delivery](ctx, c, http.MethodPost, deliveryPath(id)+"/retry", nil, opts...)
}
