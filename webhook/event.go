package webhook

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is what a delivery tells of.
type Event struct {
	// ID is the event's own id. A replay, or a second subscription, delivers
	// the same event under another Delivery.
	ID string
	// Type is such as "metric.created". That of a test is "test.ping".
	Type string
	// Timestamp is when it happened, in UTC.
	Timestamp time.Time
	// ResourceID is what the event is about; empty where it is about nothing
	// in particular.
	ResourceID string
	// Data is the JSON text of the publisher's own facts. Its numbers are as
	// they were published, also those that a float64 cannot hold.
	Data json.RawMessage

	// Delivery is the same for every attempt to deliver the event to a
	// subscription: what duplicates are known by. In a request that was
	// accepted by its plain signature it is not signed, and ID is the one to
	// rely on.
	Delivery string
	// Attempt counts the attempts of the delivery from 1. It is not signed, and
	// zero where the request does not have it.
	Attempt int
	// Payload is the whole text that was signed.
	Payload []byte
}

// parseEvent reads a payload. Members that it does not know are left alone, so
// that payloads may grow.
func parseEvent(payload []byte) (Event, error) {
	var p struct {
		ID         string          `json:"id"`
		Type       string          `json:"type"`
		Timestamp  time.Time       `json:"timestamp"`
		ResourceID string          `json:"resourceId"`
		Data       json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if p.ID == "" || p.Type == "" || p.Timestamp.IsZero() || p.Data == nil {
		return Event{}, fmt.Errorf("%w: the payload must have id, type, timestamp and data", ErrMalformed)
	}
	return Event{ID: p.ID, Type: p.Type, Timestamp: p.Timestamp.UTC(), ResourceID: p.ResourceID, Data: p.Data, Payload: payload}, nil
}
