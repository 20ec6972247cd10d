package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// SubscriptionStore has the subscriptions and listeners.
type SubscriptionStore interface {
	Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error)
	SubscriptionStandings(ctx context.Context, workspace feedmill.ID, limit int) ([]feedmill.SubscriptionStanding, error)
	DeleteSubscription(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
	Listener(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error)
	DeleteListener(ctx context.Context, workspace, id feedmill.ID, at time.Time) error
}

// viewSubscription is a subscription as clients know it: in the public names,
// without what is secret.
func (s *Server) viewSubscription(sub feedmill.Subscription) client.Subscription {
	v := client.Subscription{
		ID: string(sub.ID), Name: sub.Name, URL: sub.ShownURL(), AlertID: string(sub.AlertID), Events: publicNames(sub.Events), HTTPOperation: sub.Destination.Method,
		Filter: sub.Filter, Transform: sub.Shape.Transform, Preset: sub.Shape.Preset,
		State: sub.State, Delivery: s.viewDeliverySettings(sub), CreatedAt: sub.CreatedAt, UpdatedAt: sub.UpdatedAt,
	}
	switch sub.State {
	case feedmill.SubscriptionDisabled:
		v.DisabledReason = sub.DisabledReason
	case feedmill.SubscriptionPaused:
		v.PausedReason = sub.PausedReason
	}
	if v.PausedReason == feedmill.PausedUnconfirmed {
		v.ConfirmBy = sub.ConfirmBy
	}
	if sub.ResourceID != "" {
		v.Filters.ResourceID = sub.ResourceID
		if sub.OfSources() {
			v.Filters.ResourceID = feedmill.PublicFilter(sub.ResourceID)
		}
	}
	return v
}

func (s *Server) viewDeliverySettings(sub feedmill.Subscription) client.DeliverySettings {
	d := sub.Delivery
	v := client.DeliverySettings{
		Timeout: client.Duration(d.Timeout), Concurrency: d.Concurrency, Ordered: d.Ordered,
		Headers: make(map[string]string),
	}
	if d.RateLimit > 0 {
		v.RateLimit = &client.RateLimit{Requests: d.RateLimit, Per: client.Duration(d.RatePer)}
	}
	waits := d.Retries
	if len(waits) == 0 {
		waits = s.RetrySchedule
	}
	v.RetrySchedule = make([]client.Duration, len(waits))
	for i, wait := range waits {
		v.RetrySchedule[i] = client.Duration(wait)
	}
	patience, _ := d.Patience()
	v.DisableAfter = client.DisableAfter(patience)
	shown := v.Headers
	if sub.Destination.Kind != feedmill.DestinationWebhook {
		v.Credentials = make(map[string]string, len(sub.Destination.ConfigNames))
		shown = v.Credentials
	}
	for _, name := range sub.Destination.ConfigNames {
		shown[name] = feedmill.Hidden
	}
	v.TLS, v.OAuth2 = shownOptions(sub.Destination)
	if b := d.Batch; !b.IsZero() {
		v.Batch = &client.Batch{MaxEvents: b.MaxEvents, MaxWait: new(client.Duration(b.MaxWait))}
	}
	return v
}

// shownOptions are the options of a webhook whose secrets are hidden.
func shownOptions(d feedmill.Destination) (*client.WebhookTLS, *client.WebhookOAuth2) {
	var v struct {
		TLS    *client.WebhookTLS    `json:"tls"`
		OAuth2 *client.WebhookOAuth2 `json:"oauth2"`
	}
	if len(d.Shown) > 0 {
		if err := json.Unmarshal(d.Shown, &v); err != nil {
			panic("what is shown of a destination is not valid: " + err.Error()) // it is made here
		}
	}
	return v.TLS, v.OAuth2
}

func publicNames(internal []string) []string {
	names := make([]string, len(internal))
	for i, name := range internal {
		names[i] = feedmill.PublicName(name)
	}
	return names
}

func subscriptionURL(id feedmill.ID) string { return "/events/subscriptions/" + string(id) }

func (s *Server) viewIssued(issued feedmill.IssuedSubscription) client.Subscription {
	v := s.viewSubscription(issued.Subscription)
	v.SigningSecret, v.OverlapUntil = issued.SigningSecret, issued.OverlapUntil
	return v
}

// subscriptionAnswer is a subscription in its envelope.
func subscriptionAnswer(v client.Subscription) answer {
	return jsonAnswer(http.StatusOK, resource{resourceMeta{subscriptionURL(feedmill.ID(v.ID))}, v})
}

func (s *Server) listSubscriptions(c *call) (answer, error) {
	counts, counting := c.query["counts"]
	if counting && counts != "trouble" {
		c.fault(feedmill.Fault{Parameter: "counts", Detail: "counts must be trouble."})
	}
	var healths map[feedmill.ID]*client.SubscriptionHealth
	fetch := func(p feedmill.Page) (found []feedmill.Subscription, err error) {
		if found, err = s.Store.Subscriptions(c.ctx(), c.who.Workspace, p); err == nil {
			healths, err = s.healths(c, found, feedmill.MaxListedBacklog)
		}
		return found, err
	}
	var failed error
	view := func(sub feedmill.Subscription) client.Subscription {
		v, err := s.readSubscription(c, sub, healths[sub.ID])
		failed = errors.Join(failed, err)
		return v
	}
	a, err := listAnswer(c, feedmill.PrefixSubscription, fetch, func(s feedmill.Subscription) feedmill.ID { return s.ID }, view)
	if err := errors.Join(err, failed); err != nil || !counting {
		return a, err
	}
	troubles, err := s.countTroubles(c)
	if err != nil {
		return answer{}, err
	}
	a.set("X-Counts", counted(feedmill.SubscriptionTroubles, troubles))
	return a, nil
}

// readSubscription is a subscription with what is known of how it does.
func (s *Server) readSubscription(c *call, sub feedmill.Subscription, health *client.SubscriptionHealth) (v client.Subscription, err error) {
	v = s.viewSubscription(sub)
	v.LastSuccessAt, v.DisablingAt, v.Breaker, v.Health = sub.LastSuccessAt, disablingAt(sub), health.Breaker, health
	v.OverlapUntil, err = s.overlapUntil(c, sub)
	return v, err
}

// subscriptionID is the one that the path names.
func (c *call) subscriptionID() (feedmill.ID, error) {
	return feedmill.ParseID(feedmill.PrefixSubscription, c.r.PathValue("id"))
}

// subscription finds the one that the path names.
func (s *Server) subscription(c *call) (feedmill.Subscription, error) {
	id, err := c.subscriptionID()
	if err != nil {
		return feedmill.Subscription{}, err
	}
	return s.Store.Subscription(c.ctx(), c.who.Workspace, id)
}

func (s *Server) getSubscription(c *call) (answer, error) {
	sub, err := s.subscription(c)
	if err != nil {
		return answer{}, err
	}
	healths, err := s.healths(c, []feedmill.Subscription{sub}, feedmill.MaxCountedBacklog)
	if err != nil {
		return answer{}, err
	}
	view, err := s.readSubscription(c, sub, healths[sub.ID])
	if err != nil {
		return answer{}, err
	}
	return subscriptionAnswer(view), nil
}

func (s *Server) deleteSubscription(c *call) (answer, error) {
	id, err := c.subscriptionID()
	if err != nil {
		return answer{}, err
	}
	if err := s.Store.DeleteSubscription(c.ctx(), c.who.Workspace, id, now()); err != nil {
		return answer{}, err
	}
	s.Dispatcher.Changed(id)
	return answer{status: http.StatusNoContent}, nil
}
