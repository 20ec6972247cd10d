package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/feedmill/feedmill"
)

// ReplayRange says what is delivered again: events of a time.
type ReplayRange struct {
	Since time.Time `json:"since"`
	// Until is now by default.
	Until time.Time `json:"until,omitzero"`
	// State is what their deliveries ended in, or that they have none; what
	// failed, by default.
	State feedmill.ReplaySelection `json:"state,omitzero"`
	// Rate is how many deliveries are made a second; zero means as many as
	// can be.
	Rate int `json:"rate,omitzero"`
	// DryRun counts and makes nothing.
	DryRun bool `json:"dryRun,omitzero"`
}

// Replay is a replay that has begun. Its deliveries show in the list of the
// subscription.
type Replay struct {
	ID             string                   `json:"id"`
	SubscriptionID string                   `json:"subscriptionId"`
	Since          time.Time                `json:"since"`
	Until          time.Time                `json:"until"`
	Selection      feedmill.ReplaySelection `json:"selection"`
	States         []feedmill.DeliveryState `json:"states"`
	Rate           int                      `json:"rate,omitzero"`
	DryRun         bool                     `json:"dryRun,omitzero"`
	State          feedmill.ReplayState     `json:"state"`
	// Total is how many are selected; nil while they are counted.
	Total *int `json:"total"`
	Made  int  `json:"made"`
	// Reason says why it was cancelled by itself.
	Reason    string    `json:"reason,omitzero"`
	CreatedAt time.Time `json:"createdAt"`
	// EndedAt is zero while it goes on.
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// ReplaySubscription makes new deliveries of what a subscription was sent, or
// should have been. The work goes on after the answer.
func (c *Client) ReplaySubscription(ctx context.Context, id string, r ReplayRange, opts ...CallOption) (Replay, error) {
	var out one[Replay]
	_, err := c.call(ctx, http.MethodPost, subscriptionPath(id)+"/replay", r, &out, opts...)
	return out.Data, err
}

func replayPath(subscriptionID, id string) string {
	return subscriptionPath(subscriptionID) + "/replays/" + url.PathEscape(id)
}

// Replay says how far a replay is.
func (c *Client) Replay(ctx context.Context, subscriptionID, id string) (Replay, error) {
	var out one[Replay]
	_, err := c.call(ctx, http.MethodGet, replayPath(subscriptionID, id), nil, &out)
	return out.Data, err
}

// CancelReplay ends a replay. The deliveries that it has made stay.
func (c *Client) CancelReplay(ctx context.Context, subscriptionID, id string) (Replay, error) {
	var out one[Replay]
	_, err := c.call(ctx, http.MethodDelete, replayPath(subscriptionID, id), nil, &out)
	return out.Data, err
}
