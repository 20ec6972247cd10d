package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// DeliveryCount is what came of the attempts of a subscription in some time.
type DeliveryCount struct {
	// Delivered and Exhausted are deliveries that have ended, and FirstAttempt
	// those of Delivered whose first attempt it was. Failed are attempts.
	Delivered    int64 `json:"delivered"`
	FirstAttempt int64 `json:"firstAttempt"`
	Failed       int64 `json:"failed"`
	Exhausted    int64 `json:"exhausted"`
	// P50 and P99 are how many milliseconds endpoints took to answer, nil where
	// there was no answer.
	P50 *float64 `json:"p50Ms"`
	P99 *float64 `json:"p99Ms"`
}

// SubscriptionStats is how a subscription did, in all and by stretches of time.
type SubscriptionStats struct {
	Since time.Time `json:"since"`
	Step  Duration  `json:"step"`
	DeliveryCount
	// DeliveredShare is of the deliveries that have ended, and FirstAttemptShare
	// of those that got through; each is nil where there is none.
	DeliveredShare    *float64      `json:"deliveredShare"`
	FirstAttemptShare *float64      `json:"firstAttemptShare"`
	Buckets           []StatsBucket `json:"buckets"`
}

// StatsBucket is one stretch of time.
type StatsBucket struct {
	From time.Time `json:"from"`
	DeliveryCount
}

// SubscriptionStats reads how a subscription did since a time, which is a day ago
// where it is zero.
func (c *Client) SubscriptionStats(ctx context.Context, id string, since time.Time) (SubscriptionStats, error) {
	path := subscriptionPath(id) + "/stats"
	if !since.IsZero() {
		path += "?" + url.Values{"since": {since.UTC().Format(time.RFC3339)}}.Encode()
	}
	var out SubscriptionStats
	_, err := c.call(ctx, http.MethodGet, path, nil, &out)
	return out, err
}
