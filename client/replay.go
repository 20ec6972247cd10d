package client

import (
	"context"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
)

// ReplayRange says what is delivered again: the events of a time whose
// deliveries ended in a state.
type ReplayRange struct {
	Since time.Time `json:"since"`
	// Until is now by default.
	Until time.Time `json:"until,omitzero"`
	// State is delivered, exhausted or discarded; the latter two by default.
	State feedmill.DeliveryState `json:"state,omitzero"`
}

// Replay is a replay that has begun. Its deliveries show in the list of the
// subscription.
type Replay struct {
	ID             string                   `json:"id"`
	SubscriptionID string                   `json:"subscriptionId"`
	Since          time.Time                `json:"since"`
	Until          time.Time                `json:"until"`
	States         []feedmill.DeliveryState `json:"states"`
	CreatedAt      time.Time                `json:"createdAt"`
}

// ReplaySubscription makes new deliveries of what a subscription was sent, or
// should have been. The work goes on after the answer.
func (c *Client) ReplaySubscription(ctx context.Context, id string, r ReplayRange, opts ...CallOption) (Replay, error) {
	return ask[Replay](ctx, c, http.MethodPost, subscriptionPath(id)+"/replay", r, opts...)
}
