package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
)

// NewEvent is an event to publish. All but the type may be left out.
type NewEvent struct {
	// ID is your own, unique in the workspace: the same id is published once
	// for ever, by whatever process and with whatever content.
	ID   string `json:"id,omitzero"`
	Type string `json:"type"`
	// Timestamp is when it happened; by default, when it is accepted.
	Timestamp time.Time `json:"timestamp,omitzero"`
	// ResourceID is what the event is about; subscriptions filter on it.
	ResourceID string `json:"resourceId,omitzero"`
	// Data is anything that encodes as JSON; by default an empty object.
	Data any `json:"data,omitzero"`
}

// Accepted is an event that is on disk, with its deliveries.
type Accepted struct {
	ID string `json:"id"`
	// PublisherID is your own id, where you gave one.
	PublisherID string `json:"publisherId,omitzero"`
	Type        string `json:"type"`
	// Duplicate says that the publisher's id was seen before: ID is the
	// first event's, and nothing is delivered again.
	Duplicate bool `json:"duplicate"`
}

// MaxPublished is how many events one call may publish.
const MaxPublished = feedmill.MaxPublishEvents

// Media types of what [Client.PublishDocument] takes.
const (
	// MediaJSON is one event in the form of [NewEvent], or an array of them.
	MediaJSON = "application/json"
	// MediaCloudEvent is one CloudEvent in structured mode.
	MediaCloudEvent = "application/cloudevents+json"
	// MediaCloudEvents is an array of CloudEvents, the batched mode.
	MediaCloudEvents = "application/cloudevents-batch+json"
)

type accepted struct {
	Accepted []Accepted `json:"accepted"`
}

// Publish publishes an event. When it returns without an error, the event
// will be delivered.
func (c *Client) Publish(ctx context.Context, e NewEvent, opts ...CallOption) (Accepted, error) {
	var out accepted
	if _, err := c.call(ctx, http.MethodPost, "/events", e, &out, opts...); err != nil {
		return Accepted{}, err
	}
	if len(out.Accepted) != 1 {
		return Accepted{}, fmt.Errorf("POST /events: the response to one event lists %d events", len(out.Accepted))
	}
	return out.Accepted[0], nil
}

// PublishAll publishes up to [MaxPublished] events, all of them or none. The
// answer has them in the same order.
func (c *Client) PublishAll(ctx context.Context, events []NewEvent, opts ...CallOption) ([]Accepted, error) {
	if len(events) == 0 {
		return nil, nil
	}
	var out accepted
	_, err := c.call(ctx, http.MethodPost, "/events", events, &out, opts...)
	return out.Accepted, err
}

// PublishDocument publishes what a document says, sent as it is: events of
// another program, or CloudEvents 1.0. It is all of them or none.
func (c *Client) PublishDocument(ctx context.Context, mediaType string, document []byte, opts ...CallOption) ([]Accepted, error) {
	var out accepted
	_, err := c.exchange(ctx, request{method: http.MethodPost, path: "/events", body: document, contentType: mediaType}, &out, opts...)
	return out.Accepted, err
}
