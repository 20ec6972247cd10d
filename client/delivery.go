package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
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
	// LastAttempt is nil where none was made.
	LastAttempt *LastAttempt `json:"lastAttempt,omitzero"`
	// What follows is in the answer of [Client.Delivery] only. PlannedAttempts are when
	// those that are left will be made if each of them fails, and Payload is the text that
	// is sent, empty where the event is not kept any more.
	Attempts        []Attempt     `json:"attempts,omitzero"`
	PlannedAttempts []time.Time   `json:"plannedAttempts,omitzero"`
	WaitsFor        *DeliveryWait `json:"waitsFor,omitzero"`
	Payload         string        `json:"payload,omitzero"`
	// OlderID and NewerID are the deliveries of the subscription beside it; empty where there
	// are none.
	OlderID string `json:"olderId,omitzero"`
	NewerID string `json:"newerId,omitzero"`
}

// LastAttempt is the last request of a delivery, in short.
type LastAttempt struct {
	At time.Time `json:"at"`
	// Status is zero where no answer came, and Error says what went wrong.
	Status   int          `json:"status"`
	Error    string       `json:"error"`
	Duration Milliseconds `json:"durationMs"`
}

// DeliveryWait is what an open delivery waits for.
type DeliveryWait struct {
	// Reason is paused, breaker, order, time or turn.
	Reason string `json:"reason"`
	// DeliveryID is the one that comes before it, with order.
	DeliveryID string    `json:"deliveryId,omitzero"`
	Until      time.Time `json:"until,omitzero"`
}

// SentRequest is what an attempt sent; its body is the payload of the delivery. What is
// secret is hidden in it.
type SentRequest struct {
	// Method is empty if the destination is not a webhook.
	Method  string         `json:"method,omitzero"`
	URL     string         `json:"url"`
	Headers []AnswerHeader `json:"headers"`
	// ChangedSince says that the subscription was changed since then.
	ChangedSince bool `json:"changedSince"`
}

// Attempt is one request of a delivery.
type Attempt struct {
	ID string `json:"id"`
	// Number counts from 1.
	Number int `json:"number"`
	// Request is nil where the subscription is gone.
	Request *SentRequest `json:"request"`
	Exchange
}

// Exchange is a request to an endpoint and what came of it.
type Exchange struct {
	At time.Time `json:"at"`
	// Status is zero where no answer came.
	Status  int            `json:"status,omitzero"`
	Headers []AnswerHeader `json:"headers"`
	// HeadersTruncated says that there were more of them.
	HeadersTruncated bool   `json:"headersTruncated,omitzero"`
	Timing           Timing `json:"timing"`
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
	// States are further ones that are wanted.
	States []feedmill.DeliveryState
	Type   string
	Since  time.Time
	// Until is when those that are wanted were made before; zero for any time.
	Until time.Time
}

// values are the parameters of the query.
func (q DeliveryQuery) values() map[string]string {
	var states []string
	for _, state := range append([]feedmill.DeliveryState{q.State}, q.States...) {
		if state != "" {
			states = append(states, string(state))
		}
	}
	return map[string]string{"state": strings.Join(states, ","), "type": q.Type, "since": sinceParameter(q.Since), "until": sinceParameter(q.Until)}
}

// CountDeliveries counts the deliveries of a subscription by state, up to 1,000 of each.
func (c *Client) CountDeliveries(ctx context.Context, subscriptionID string, q DeliveryQuery) (map[feedmill.DeliveryState]int64, error) {
	values := url.Values{"counts": {"state"}, "limit": {"1"}}
	for name, value := range q.values() {
		if value != "" {
			values.Set(name, value)
		}
	}
	header, err := c.call(ctx, http.MethodGet, subscriptionPath(subscriptionID)+"/deliveries?"+values.Encode(), nil, new([]Delivery))
	if err != nil {
		return nil, err
	}
	return countsOf[feedmill.DeliveryState](header), nil
}

// Deliveries goes through the deliveries of a subscription, newest first.
func (c *Client) Deliveries(ctx context.Context, subscriptionID string, q DeliveryQuery) iter.Seq2[Delivery, error] {
	return list[Delivery](ctx, c, subscriptionPath(subscriptionID)+"/deliveries", q.values())
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
