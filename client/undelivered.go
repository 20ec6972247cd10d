package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// UndeliveredQuery selects undelivered deliveries. The zero value selects all.
type UndeliveredQuery struct {
	// State is exhausted or discarded; empty means both.
	State          feedmill.DeliveryState
	SubscriptionID string
	// Error is the error of a group.
	Error string
	Since time.Time
	Until time.Time
}

func (q UndeliveredQuery) values() map[string]string {
	return map[string]string{
		"state": string(q.State), "subscriptionId": q.SubscriptionID, "error": q.Error, "since": sinceParameter(q.Since), "until": sinceParameter(q.Until),
	}
}

// UndeliveredGroup is a number of undelivered deliveries with something in common.
type UndeliveredGroup struct {
	State feedmill.DeliveryState `json:"state"`
	// SubscriptionID is empty if deliveries are not grouped by endpoint, and Error if they are
	// not grouped by error.
	SubscriptionID string `json:"subscriptionId,omitzero"`
	Error          string `json:"error,omitzero"`
	Count          int    `json:"count"`
	// FirstAt and LastAt are when the first and the last of them ended.
	FirstAt time.Time `json:"firstAt"`
	LastAt  time.Time `json:"lastAt"`
	// NewestDeliveryID is the newest delivery of the group.
	NewestDeliveryID string `json:"newestDeliveryId"`
	// Subscription is the endpoint with its current health; nil if it was deleted, or if
	// deliveries are not grouped by endpoint.
	Subscription *Subscription `json:"subscription"`
}

// UndeliveredGroups are groups of undelivered deliveries, the largest first.
type UndeliveredGroups struct {
	Groups []UndeliveredGroup
	// Total is the number of all groups, of which Groups has at most 500.
	Total int64
	// Counts are the numbers of deliveries by state.
	Counts map[feedmill.DeliveryState]int64
	// CountedSince is when the oldest counted delivery was created if there are older ones,
	// else zero.
	CountedSince time.Time
}

// FindUndelivered lists exhausted and discarded deliveries that match a query, newest first.
func (c *Client) FindUndelivered(ctx context.Context, q UndeliveredQuery) iter.Seq2[Delivery, error] {
	return list[Delivery](ctx, c, "/events/undelivered", q.values())
}

// GroupUndelivered counts undelivered deliveries that match a query by endpoint, by error, or by
// both. by has the words endpoint and error.
func (c *Client) GroupUndelivered(ctx context.Context, q UndeliveredQuery, by ...string) (UndeliveredGroups, error) {
	values := url.Values{"groupBy": {strings.Join(by, ",")}, "limit": {"500"}}
	for name, value := range q.values() {
		if value != "" {
			values.Set(name, value)
		}
	}
	var found UndeliveredGroups
	header, err := c.call(ctx, http.MethodGet, "/events/undelivered?"+values.Encode(), nil, &found.Groups)
	if err != nil {
		return found, err
	}
	found.Counts = countsOf[feedmill.DeliveryState](header)
	found.Total, _ = strconv.ParseInt(header.Get("X-Total-Count"), 10, 64)
	found.CountedSince, _ = time.Parse(time.RFC3339, header.Get("X-Counted-Since"))
	return found, nil
}

// UndeliveredSelection selects deliveries to retry: up to 1,000 by their ids, or a group.
type UndeliveredSelection struct {
	DeliveryIDs []string `json:"deliveryIds,omitzero"`
	// The other fields select a group. SubscriptionID is required.
	SubscriptionID string                 `json:"subscriptionId,omitzero"`
	State          feedmill.DeliveryState `json:"state,omitzero"`
	Error          string                 `json:"error,omitzero"`
	// Before limits the group to deliveries older than this one: Next of the previous response.
	Before string `json:"before,omitzero"`
}

// RetriedDeliveries is the result of a retry of several deliveries.
type RetriedDeliveries struct {
	Retried int            `json:"retried"`
	Refused []RefusedRetry `json:"refused"`
	// Next is set if the group has more deliveries.
	Next string `json:"next,omitzero"`
}

// RefusedRetry is a delivery that was not retried.
type RefusedRetry struct {
	DeliveryID string `json:"deliveryId"`
	Detail     string `json:"detail"`
}

// RetryUndelivered gives new attempts to undelivered deliveries. Of a group, it retries the
// newest 1,000.
func (c *Client) RetryUndelivered(ctx context.Context, selection UndeliveredSelection, opts ...CallOption) (RetriedDeliveries, error) {
	var v RetriedDeliveries
	_, err := c.call(ctx, http.MethodPost, "/events/undelivered/retry", selection, &v, opts...)
	return v, err
}
