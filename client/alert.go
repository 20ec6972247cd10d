package client

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// AlertEvents are the events that alerts report.
var AlertEvents = []string{"datafeed.source.refresh_failed", "datafeed.source.stale", "subscription.disabling_soon", "subscription.disabled"}

// The channels of alerts.
const (
	AlertSlack = "slack"
	AlertEmail = "email"
)

// Alert reports events to people. It consists of one subscription, or of two if it has events
// of data feeds and of subscriptions. They have the same AlertID.
type Alert struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Channel is "slack" or "email".
	Channel string `json:"channel"`
	// To is the e-mail address, or the host of the webhook, whose path is a secret.
	To     string   `json:"to"`
	Events []string `json:"events"`
	// Feeds are the data feeds that it is limited to; none means all.
	Feeds []string                   `json:"feeds"`
	State feedmill.SubscriptionState `json:"state"`
	// PausedReason, ConfirmBy and DisabledReason are those of its subscriptions.
	PausedReason   string    `json:"pausedReason,omitzero"`
	ConfirmBy      time.Time `json:"confirmBy,omitzero"`
	DisabledReason string    `json:"disabledReason,omitzero"`
	// Waiting is how many messages wait.
	Waiting       int            `json:"waiting"`
	CreatedAt     time.Time      `json:"createdAt"`
	Subscriptions []Subscription `json:"-"`
}

// NewAlert describes an alert to create. Either Slack or Email is set.
type NewAlert struct {
	Name string
	// Slack is the URL of an incoming webhook, and Email an address.
	Slack, Email string
	// Events are some of AlertEvents; none means all.
	Events []string
	// Feeds limit the events of data feeds; none means all feeds.
	Feeds []string
}

// subscription is the request that creates the alert.
func (a NewAlert) subscription() NewSubscription {
	s := NewSubscription{Name: a.Name, URL: a.Slack, Events: a.Events, Preset: "slack", Alert: true}
	if a.Email != "" {
		s.URL, s.Preset = "mailto:"+a.Email, "text"
	}
	if len(s.Events) == 0 {
		s.Events = AlertEvents
	}
	switch {
	case !slices.ContainsFunc(s.Events, feedmill.IsSourceName):
	case len(a.Feeds) == 1:
		s.Filters.ResourceID = a.Feeds[0]
	case len(a.Feeds) > 1:
		var ids []string
		for _, id := range a.Feeds {
			ids = append(ids, strconv.Quote(id))
		}
		s.Filter = `!event.type.startsWith("datafeed.source.") || event.resourceId in [` + strings.Join(ids, ", ") + `]`
	}
	return s
}

// CreateAlert creates an alert. If one of its subscriptions cannot be created, nothing is.
func (c *Client) CreateAlert(ctx context.Context, a NewAlert, opts ...CallOption) (Alert, error) {
	made, err := c.CreateSubscription(ctx, a.subscription(), opts...)
	if err != nil {
		return Alert{}, err
	}
	if len(made.Failed) > 0 {
		for _, s := range made.Created {
			if err := c.DeleteSubscription(ctx, s.ID); err != nil {
				return Alert{}, fmt.Errorf("%w; subscription %s was created and could not be deleted: %w", made.Failed[0], s.ID, err)
			}
		}
		return Alert{}, made.Failed[0]
	}
	return alertOf(made.Created), nil
}

// Alerts lists the alerts of the workspace, newest first.
func (c *Client) Alerts(ctx context.Context) (all []Alert, err error) {
	byID := make(map[string][]Subscription)
	var order []string
	for s, err := range c.Subscriptions(ctx) {
		if err != nil {
			return nil, err
		}
		if s.AlertID == "" {
			continue
		}
		if byID[s.AlertID] == nil {
			order = append(order, s.AlertID)
		}
		byID[s.AlertID] = append(byID[s.AlertID], s)
	}
	for _, id := range order {
		all = append(all, alertOf(byID[id]))
	}
	return all, nil
}

// Alert reads one alert. One that does not exist is [feedmill.ErrNotFound].
func (c *Client) Alert(ctx context.Context, id string) (Alert, error) {
	all, err := c.Alerts(ctx)
	if err != nil {
		return Alert{}, err
	}
	i := slices.IndexFunc(all, func(a Alert) bool { return a.ID == id })
	if i < 0 {
		return Alert{}, fmt.Errorf("alert %s: %w", id, feedmill.ErrNotFound)
	}
	return all[i], nil
}

// DeleteAlert deletes the subscriptions of an alert.
func (c *Client) DeleteAlert(ctx context.Context, id string) error {
	a, err := c.Alert(ctx, id)
	if err != nil {
		return err
	}
	for _, s := range a.Subscriptions {
		if err := c.DeleteSubscription(ctx, s.ID); err != nil {
			return err
		}
	}
	return nil
}

// SetAlertState changes the state of the subscriptions of an alert. One by e-mail becomes
// active when its recipient confirms.
func (c *Client) SetAlertState(ctx context.Context, id string, state feedmill.SubscriptionState) error {
	a, err := c.Alert(ctx, id)
	if err != nil {
		return err
	}
	for _, s := range a.Subscriptions {
		if _, err := c.ChangeSubscription(ctx, s.ID, SubscriptionChange{State: state}); err != nil {
			return err
		}
	}
	return nil
}

// feedIDs are those in the filter of an alert.
var feedIDs = regexp.MustCompile(`df_[0-9a-z]{26}`)

// alertOf is the alert that consists of some subscriptions. Its state is that which needs
// attention first.
func alertOf(of []Subscription) (a Alert) {
	urgency := map[string]int{"disabled": 4, "unconfirmed": 3, "unsubscribed": 2, "paused": 1}
	for _, s := range of {
		standing := func(state feedmill.SubscriptionState, reason string) int {
			return max(urgency[string(state)], urgency[reason])
		}
		if a.ID == "" || standing(s.State, s.PausedReason) > standing(a.State, a.PausedReason) {
			a.State, a.PausedReason, a.ConfirmBy, a.DisabledReason = s.State, s.PausedReason, s.ConfirmBy, s.DisabledReason
		}
		a.ID, a.Name, a.CreatedAt = s.AlertID, s.Name, s.CreatedAt
		for _, name := range s.Events {
			if !slices.Contains(a.Events, name) {
				a.Events = append(a.Events, name)
			}
		}
		if s.Health != nil {
			a.Waiting += s.Health.Backlog
		}
		if strings.HasPrefix(s.Filters.ResourceID, feedmill.PrefixDataFeed+"_") {
			a.Feeds = append(a.Feeds, s.Filters.ResourceID)
		}
		for _, id := range feedIDs.FindAllString(s.Filter, -1) {
			if !slices.Contains(a.Feeds, id) {
				a.Feeds = append(a.Feeds, id)
			}
		}
		if address, ok := strings.CutPrefix(s.URL, "mailto:"); ok {
			a.Channel, a.To = AlertEmail, address
		} else {
			_, rest, _ := strings.Cut(s.URL, "://")
			a.Channel = AlertSlack
			a.To, _, _ = strings.Cut(rest, "/")
		}
	}
	slices.SortFunc(a.Events, func(x, y string) int { return slices.Index(AlertEvents, x) - slices.Index(AlertEvents, y) })
	a.Subscriptions = of
	return a
}
