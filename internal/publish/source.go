package publish

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
)

// SourceEvents returns the public events of an internal event, ready to be accepted. A
// store method that changes a feed accepts them in the transaction of the change.
func SourceEvents(e feedmill.SourceEvent) ([]feedmill.Event, error) {
	facts := e.PublicEvents()
	events := make([]feedmill.Event, 0, len(facts))
	for _, f := range facts {
		id := feedmill.NewID(feedmill.PrefixEvent)
		event := feedmill.Event{
			ID: id, Workspace: f.Workspace, Type: f.Type, Source: f.Source, ResourceID: string(f.Feed),
			Timestamp: f.Timestamp.UTC().Truncate(time.Millisecond),
		}
		if f.Timestamp.IsZero() {
			event.Timestamp = id.Time()
		}
		data, err := json.Marshal(f.Data, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("data of %s: %w", e.Type, err)
		}
		if event.Payload, err = feedmill.RenderPayload(event, data); err != nil {
			return nil, fmt.Errorf("payload of %s: %w", e.Type, err)
		}
		events = append(events, event)
	}
	return events, nil
}
