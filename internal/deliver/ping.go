package deliver

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// Ping sends a test.ping to a subscription now and returns what came of it.
// Nothing is stored, and a failure has no consequence.
func (d *Dispatcher) Ping(ctx context.Context, s feedmill.Subscription) (feedmill.Attempt, error) {
	t, err := d.openTarget(ctx, s)
	if err != nil {
		return feedmill.Attempt{}, err
	}
	now := time.Now()
	e := feedmill.Event{
		ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: s.Workspace, Type: "test.ping",
		Timestamp: now, ResourceID: string(s.ID),
	}
	payload, err := feedmill.RenderPayload(e, nil)
	if err != nil {
		return feedmill.Attempt{}, err
	}
	m := feedmill.Message{Delivery: feedmill.NewID(feedmill.PrefixDelivery), Event: e.ID, Type: e.Type, Payload: payload, Attempt: 1, At: now}
	r := d.send(ctx, t, &m)
	if r.Delivered() {
		d.Changed(s.ID) // it answers: what the breaker holds back may go
	}
	return *r.Record(m), nil
}
