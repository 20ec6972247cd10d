package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// The kinds of failures.
const (
	failedFeeds         = "feeds"
	failedDeliveries    = "deliveries"
	failedSubscriptions = "subscriptions"
)

// shownFailures is the number of failures of each kind if no kind is chosen.
const shownFailures = 20

// failedPart is what a result shows of one kind of failures.
type failedPart struct {
	Shown      int    `json:"shown"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// listFailures lists feeds whose refreshes fail, deliveries that ended without success, and
// subscriptions that receive nothing.
func listFailures(ctx context.Context, a *api, args *arguments) (result, error) {
	kinds := []string{failedFeeds, failedDeliveries, failedSubscriptions}
	limit := args.limit(defaultRows, maxRows)
	chosen := ""
	if f, ok := args.Given("kind"); ok {
		chosen, _ = f.Choice(kinds...)
	}
	_, cursor := args.cursor()
	if cursor != "" && chosen == "" {
		args.Fault("cursor", "cursor requires the kind that it is for.")
	}
	if err := args.refusal(); err != nil {
		return result{}, err
	}
	budget := lineBytes
	if chosen != "" {
		kinds = []string{chosen}
	} else {
		limit, budget = min(limit, shownFailures), budget/len(kinds)
	}
	parts := make(map[string]any, len(kinds)+1)
	var lines [][]byte
	for _, kind := range kinds {
		found, err := a.failures(ctx, kind, cursor, limit, budget)
		if err != nil {
			return result{}, err
		}
		parts[kind] = failedPart{len(found.lines), cursorOf(0, found.next)}
		lines = append(lines, found.lines...)
	}
	switch {
	case len(lines) > 0:
		parts["nextStep"] = "Call explain_refresh for a feed, or explain_delivery for a delivery."
	case cursor == "":
		parts["nextStep"] = "Nothing fails."
	}
	return result{summary: parts, lines: lines}, nil
}

// failures reads a part of the failures of a kind.
func (a *api) failures(ctx context.Context, kind, cursor string, limit, budget int) (listing, error) {
	c, line := call{method: http.MethodGet, query: pageValues(cursor)}, failedDelivery
	switch kind {
	case failedFeeds:
		c.path, line = "/data_feeds", failedFeed
		c.query.Set("state", string(feedmill.FeedFailed)+","+string(feedmill.FeedAuthRequired)+","+string(feedmill.FeedPaused))
	case failedDeliveries:
		c.path = "/events/undelivered"
	case failedSubscriptions:
		c.path, line = "/events/subscriptions", failedSubscription
	}
	return a.list(ctx, func(limit int) (call, error) {
		c.query.Set("limit", strconv.Itoa(limit))
		return c, nil
	}, limit, budget, line)
}

// failedFeed is a feed whose refreshes fail. Feeds that a user paused do not fail.
func failedFeed(record []byte) ([]byte, error) {
	var f client.DataFeed
	if err := json.Unmarshal(record, &f); err != nil {
		return nil, err
	}
	if f.State == feedmill.FeedPaused && f.LastError == nil {
		return nil, nil
	}
	line := struct {
		Feed     string             `json:"feed"`
		Name     string             `json:"name"`
		State    feedmill.FeedState `json:"state"`
		Failures int                `json:"failures"`
		Error    string             `json:"error,omitzero"`
		At       *time.Time         `json:"at,omitzero"`
	}{Feed: f.ID, Name: cut(f.Name, shownName), State: f.State, Failures: f.Failures}
	if f.LastError != nil {
		line.Error, line.At = cut(f.LastError.Title, shownDetail), atTime(f.LastError.At)
	}
	return toJSON(line), nil
}

// failedDelivery is a delivery that ended without success.
func failedDelivery(record []byte) ([]byte, error) {
	var d client.Delivery
	if err := json.Unmarshal(record, &d); err != nil {
		return nil, err
	}
	return toJSON(struct {
		Delivery     string                 `json:"delivery"`
		Subscription string                 `json:"subscription"`
		Event        string                 `json:"event"`
		State        feedmill.DeliveryState `json:"state"`
		Reason       string                 `json:"reason"`
		At           *time.Time             `json:"at,omitzero"`
	}{d.ID, d.SubscriptionID, cut(d.Type, shownName), d.State, cut(d.Reason, shownDetail), atTime(d.EndedAt)}), nil
}

// failedSubscription is a subscription that receives nothing because of failures.
func failedSubscription(record []byte) ([]byte, error) {
	var s client.Subscription
	if err := json.Unmarshal(record, &s); err != nil {
		return nil, err
	}
	disabled := s.State == feedmill.SubscriptionDisabled && s.DisabledReason != "user"
	open := s.Health != nil && (s.Health.Breaker == feedmill.BreakerOpen || s.Health.Breaker == feedmill.BreakerHalfOpen)
	if !disabled && !open {
		return nil, nil
	}
	return toJSON(struct {
		Subscription string                     `json:"subscription"`
		Name         string                     `json:"name,omitzero"`
		Host         string                     `json:"host,omitzero"`
		State        feedmill.SubscriptionState `json:"state"`
		Reason       string                     `json:"disabledReason,omitzero"`
		OnHold       bool                       `json:"onHold,omitzero"`
		DisablingAt  *time.Time                 `json:"disablingAt,omitzero"`
	}{s.ID, cut(s.Name, shownName), hostOf(s.URL), s.State, s.DisabledReason, open, atTime(s.DisablingAt)}), nil
}

// hostOf is the host of a URL, whose path can have a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return cut(u.Host, shownName)
}
