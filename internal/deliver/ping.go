package deliver

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Test sends an event to a subscription now and returns what came of it. The event is not
// published, nothing is stored, and a failure has no consequence. The filter of the
// subscription is not applied.
func (d *Dispatcher) Test(ctx context.Context, s feedmill.Subscription, e feedmill.NewEvent) (feedmill.Attempt, error) {
	t, err := d.openTarget(ctx, s)
	if err != nil {
		return feedmill.Attempt{}, err
	}
	m, err := testMessage(s.Workspace, e)
	if err != nil {
		return feedmill.Attempt{}, err
	}
	r := d.send(ctx, t, &m)
	if r.Delivered() {
		d.Changed(s.ID) // it responds: what the breaker holds back may go
	}
	return *r.Record(m), nil
}

// TestDelivery is a delivery of an event that is not published, for carriers other than a
// destination.
func TestDelivery(sub feedmill.Subscription, e feedmill.NewEvent) (feedmill.DueDelivery, error) {
	m, err := testMessage(sub.Workspace, e)
	return feedmill.DueDelivery{
		Delivery: feedmill.Delivery{ID: m.Delivery, Workspace: sub.Workspace, Subscription: sub.ID, Event: m.Event, Type: m.Type, ResourceID: m.ResourceID}, Payload: m.Payload,
	}, err
}

// testMessage is a message with an event that is not published.
func testMessage(workspace feedmill.ID, e feedmill.NewEvent) (feedmill.Message, error) {
	now := time.Now()
	event := feedmill.Event{ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: workspace, Type: e.Type, Timestamp: e.Timestamp, ResourceID: e.ResourceID}
	if event.Timestamp.IsZero() {
		event.Timestamp = now
	}
	payload, err := feedmill.RenderPayload(event, e.Data)
	return feedmill.Message{
		Delivery: feedmill.NewID(feedmill.PrefixDelivery), Event: event.ID, Type: event.Type, ResourceID: event.ResourceID, Payload: payload, Attempt: 1, At: now, Test: true,
	}, err
}
