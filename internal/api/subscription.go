package api

import (
	"context"
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

// subscriptionView is a subscription as clients know it: in the public names,
// whatever it is inside.
type subscriptionView struct {
	ID             feedmill.ID                `json:"id"`
	Name           string                     `json:"name,omitzero"`
	URL            string                     `json:"url"`
	Events         []string                   `json:"events"`
	HTTPOperation  string                     `json:"httpOperation"`
	Filters        *filtersView               `json:"filters,omitzero"`
	State          feedmill.SubscriptionState `json:"state"`
	DisabledReason string                     `json:"disabledReason,omitzero"`
	Delivery       deliverySettingsView       `json:"delivery"`
	CreatedAt      timestamp                  `json:"createdAt"`
	UpdatedAt      timestamp                  `json:"updatedAt"`
	// SigningSecret is in the answers to a creation and a rotation and
	// nowhere else; OverlapUntil is when a rotated one takes over.
	SigningSecret string    `json:"signingSecret,omitzero"`
	OverlapUntil  timestamp `json:"overlapUntil,omitzero"`
	// What follows is in the answers that read. DisablingAt is when it will be disabled
	// unless something gets through.
	LastSuccessAt timestamp                  `json:"lastSuccessAt,omitzero"`
	DisablingAt   timestamp                  `json:"disablingAt,omitzero"`
	Breaker       feedmill.BreakerState      `json:"breaker,omitzero"`
	Health        *client.SubscriptionHealth `json:"health,omitzero"`
}

type filtersView struct {
	ResourceID string `json:"resourceId"`
}

type deliverySettingsView struct {
	Timeout     string         `json:"timeout"`
	RateLimit   *rateLimitView `json:"rateLimit"`
	Concurrency int            `json:"concurrency"`
	Ordered     bool           `json:"ordered"`
	// RetrySchedule is the subscription's own or the service's.
	RetrySchedule []string          `json:"retrySchedule"`
	DisableAfter  string            `json:"disableAfter"`
	Headers       map[string]string `json:"headers"`
}

type rateLimitView struct {
	Requests int    `json:"requests"`
	Per      string `json:"per"`
}

func (s *Server) viewSubscription(sub feedmill.Subscription) subscriptionView {
	v := subscriptionView{
		ID: sub.ID, Name: sub.Name, URL: sub.Destination.URL, Events: publicNames(sub.Events), HTTPOperation: sub.Destination.Method,
		State: sub.State, Delivery: s.viewDeliverySettings(sub), CreatedAt: timestamp(sub.CreatedAt), UpdatedAt: timestamp(sub.UpdatedAt),
	}
	if sub.State == feedmill.SubscriptionDisabled {
		v.DisabledReason = sub.DisabledReason
	}
	if sub.ResourceID != "" {
		v.Filters = &filtersView{sub.ResourceID}
		if sub.OfSources() {
			v.Filters.ResourceID = feedmill.PublicFilter(sub.ResourceID)
		}
	}
	return v
}

func (s *Server) viewDeliverySettings(sub feedmill.Subscription) deliverySettingsView {
	d := sub.Delivery
	v := deliverySettingsView{
		Timeout: feedmill.FormatDuration(d.Timeout), Concurrency: d.Concurrency, Ordered: d.Ordered,
		Headers: make(map[string]string, len(sub.Destination.ConfigNames)),
	}
	if d.RateLimit > 0 {
		v.RateLimit = &rateLimitView{d.RateLimit, feedmill.FormatDuration(d.RatePer)}
	}
	waits := d.Retries
	if len(waits) == 0 {
		waits = s.RetrySchedule
	}
	v.RetrySchedule = make([]string, len(waits))
	for i, wait := range waits {
		v.RetrySchedule[i] = feedmill.FormatDuration(wait)
	}
	patience, _ := d.Patience()
	v.DisableAfter = feedmill.FormatDisableAfter(patience)
	for _, name := range sub.Destination.ConfigNames {
		v.Headers[name] = feedmill.Hidden
	}
	return v
}

func publicNames(internal []string) []string {
	names := make([]string, len(internal))
	for i, name := range internal {
		names[i] = feedmill.PublicName(name)
	}
	return names
}

func subscriptionURL(id feedmill.ID) string { return "/events/subscriptions/" + string(id) }

func (s *Server) viewIssued(issued feedmill.IssuedSubscription) subscriptionView {
	v := s.viewSubscription(issued.Subscription)
	v.SigningSecret, v.OverlapUntil = issued.SigningSecret, timestamp(issued.OverlapUntil)
	return v
}

// subscriptionAnswer is a subscription in its envelope.
func subscriptionAnswer(v subscriptionView) answer {
	return jsonAnswer(http.StatusOK, resource{resourceMeta{subscriptionURL(v.ID)}, v})
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
	view := func(sub feedmill.Subscription) subscriptionView {
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
func (s *Server) readSubscription(c *call, sub feedmill.Subscription, health *client.SubscriptionHealth) (v subscriptionView, err error) {
	v = s.viewSubscription(sub)
	v.LastSuccessAt, v.DisablingAt, v.Breaker, v.Health = timestamp(sub.LastSuccessAt), disablingAt(sub), health.Breaker, health
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
