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

// Event is something that happened, and where it went.
type Event struct {
	ID string `json:"id"`
	// PublisherID is the publisher's own id, where it gave one.
	PublisherID string    `json:"publisherId,omitzero"`
	Type        string    `json:"type"`
	Timestamp   time.Time `json:"timestamp"`
	// ResourceID is what the event is about, where it is about something.
	ResourceID string          `json:"resourceId,omitzero"`
	Data       json.RawMessage `json:"data"`
	// Deliveries are the first of them: 100 for one event, 10 in a list.
	Deliveries []EventRoute `json:"deliveries"`
	// Size is how many bytes are delivered.
	Size int `json:"size"`
	// Counts are how many deliveries there are of each state: of the first 10,000 for one
	// event, 100 in a list, 10 in a stream. CountsAtLeast says that there are more.
	Counts        map[feedmill.DeliveryState]int `json:"counts"`
	CountsAtLeast bool                           `json:"countsAtLeast,omitzero"`
	// Match says whether the event is for a subscription, in the answer of
	// [Client.EventMatch] only.
	Match *EventMatch `json:"match,omitzero"`
	// FanOut is there while deliveries of it are still being made.
	FanOut *FanOut `json:"fanOut,omitzero"`
	// Filtered says which subscriptions did not get the event because of their filter, in
	// the response for one event only.
	Filtered *EventFiltered `json:"filtered,omitzero"`
}

// EventFiltered says which subscriptions did not get an event because of their filter.
type EventFiltered struct {
	Count int `json:"count"`
	// SubscriptionIDs are the first 100 of them.
	SubscriptionIDs []string `json:"subscriptionIds"`
}

// EventMatch says whether an event is for a subscription.
type EventMatch struct {
	SubscriptionID string `json:"subscriptionId"`
	Matches        bool   `json:"matches"`
	// Reason is type, resource, createdLater, filter or filterError where it does not match, and Detail the same
	// in words.
	Reason string `json:"reason"`
	Detail string `json:"detail"`
}

// FanOut is how far the deliveries of an event are made that goes to very many.
type FanOut struct {
	// State is "making".
	State string `json:"state"`
	Made  int    `json:"made"`
}

// EventRoute is one way that an event went.
type EventRoute struct {
	// ID is that of the delivery.
	ID             string                 `json:"id"`
	SubscriptionID string                 `json:"subscriptionId"`
	State          feedmill.DeliveryState `json:"state"`
}

// EventQuery says which events are wanted; its zero value says all.
type EventQuery struct {
	// Type is one type, or several with commas between them; a family such as "metric.*"
	// stands for all of its types.
	Type       string
	ResourceID string
	Since      time.Time
}

// Events goes through the events, newest first.
func (c *Client) Events(ctx context.Context, q EventQuery) iter.Seq2[Event, error] {
	return list[Event](ctx, c, "/events", map[string]string{
		"type": q.Type, "resourceId": q.ResourceID, "since": sinceParameter(q.Since),
	})
}

// Event reads one event.
func (c *Client) Event(ctx context.Context, id string) (Event, error) {
	return ask[Event](ctx, c, http.MethodGet, "/events/"+url.PathEscape(id), nil)
}

// EventMatch reads an event and says whether it is for a subscription, and why not where it
// is not.
func (c *Client) EventMatch(ctx context.Context, id, subscriptionID string) (EventMatch, error) {
	e, err := ask[Event](ctx, c, http.MethodGet, "/events/"+url.PathEscape(id)+"?subscriptionId="+url.QueryEscape(subscriptionID), nil)
	if err != nil || e.Match == nil {
		return EventMatch{}, err
	}
	return *e.Match, nil
}

// EventStream goes through events as they happen, until the connection ends, with an
// error. After is the id of the last one that came before, where there was one. With Since
// in the query, those since then come first. [Client.Listen] is sure to bring every event; this
// shows what goes on.
func (c *Client) EventStream(ctx context.Context, q EventQuery, after string) iter.Seq2[Event, error] {
	values := make(url.Values)
	for name, value := range map[string]string{"type": q.Type, "resourceId": q.ResourceID, "since": sinceParameter(q.Since)} {
		if value != "" {
			values.Set(name, value)
		}
	}
	r := request{method: http.MethodGet, path: "/events/stream"}
	if len(values) > 0 {
		r.path += "?" + values.Encode()
	}
	if after != "" {
		r.header = map[string]string{"Last-Event-ID": after}
	}
	return func(yield func(Event, error) bool) {
		if err := watch(ctx, c, r, func(e Event) bool { return e.ID == "" || yield(e, nil) }); err != nil {
			yield(Event{}, err)
		}
	}
}

// EventType is a kind of event that there is.
type EventType struct {
	Name string `json:"name"`
	// Family is the wildcard of all types beside it, such as "metric.*".
	Family string `json:"family"`
	// Status is "available" or "unavailable".
	Status string `json:"status"`
	// Operational types tell of the service itself.
	Operational bool   `json:"operational"`
	Description string `json:"description"`
	// Schema is the JSON Schema of the event's data.
	Schema json.RawMessage `json:"schema"`
	// Volume24h are the numbers of events in each of the last 24 hours, oldest first; nil for an
	// hour that was not counted. Subscribers is the number of subscriptions that receive the type.
	Volume24h   []*int `json:"volume24h"`
	Subscribers int    `json:"subscribers"`
}

// EventTypes lists what can be published and subscribed to, those of a family
// together.
func (c *Client) EventTypes(ctx context.Context) ([]EventType, error) {
	var out []EventType
	_, err := c.call(ctx, http.MethodGet, "/events/types", nil, &out)
	return out, err
}
