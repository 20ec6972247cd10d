package api

import (
	"net/http"

	"github.com/feedmill/feedmill"
)

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
}

type filtersView struct {
	ResourceID string `json:"resourceId"`
}

type deliverySettingsView struct {
	Timeout     string            `json:"timeout"`
	RateLimit   *rateLimitView    `json:"rateLimit"`
	Concurrency int               `json:"concurrency"`
	Ordered     bool              `json:"ordered"`
	Headers     map[string]string `json:"headers"`
}

type rateLimitView struct {
	Requests int    `json:"requests"`
	Per      string `json:"per"`
}

func viewSubscription(s feedmill.Subscription) subscriptionView {
	v := subscriptionView{
		ID: s.ID, Name: s.Name, URL: s.URL, Events: publicNames(s.Events), HTTPOperation: s.Method,
		State: s.State, Delivery: viewDeliverySettings(s), CreatedAt: timestamp(s.CreatedAt), UpdatedAt: timestamp(s.UpdatedAt),
	}
	if s.State == feedmill.SubscriptionDisabled {
		v.DisabledReason = s.DisabledReason
	}
	if s.ResourceID != "" {
		v.Filters = &filtersView{s.ResourceID}
		if s.OfSources() {
			v.Filters.ResourceID = feedmill.PublicFilter(s.ResourceID)
		}
	}
	return v
}

func viewDeliverySettings(s feedmill.Subscription) deliverySettingsView {
	v := deliverySettingsView{
		Timeout: feedmill.FormatDuration(s.Delivery.Timeout), Concurrency: s.Delivery.Concurrency, Ordered: s.Delivery.Ordered,
		Headers: make(map[string]string, len(s.HeaderNames)),
	}
	if s.Delivery.RateLimit > 0 {
		v.RateLimit = &rateLimitView{s.Delivery.RateLimit, feedmill.FormatDuration(s.Delivery.RatePer)}
	}
	for _, name := range s.HeaderNames {
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

func viewIssued(s feedmill.IssuedSubscription) subscriptionView {
	v := viewSubscription(s.Subscription)
	v.SigningSecret, v.OverlapUntil = s.SigningSecret, timestamp(s.OverlapUntil)
	return v
}

// subscriptionAnswer is a subscription in its envelope.
func subscriptionAnswer(v subscriptionView) answer {
	return jsonAnswer(http.StatusOK, resource{resourceMeta{subscriptionURL(v.ID)}, v})
}

func (s *Server) listSubscriptions(c *call) (answer, error) {
	p, err := c.page(feedmill.PrefixSubscription)
	if err != nil {
		return answer{}, err
	}
	fetch := func(p feedmill.Page) ([]feedmill.Subscription, error) {
		return s.Store.Subscriptions(c.ctx(), c.who.Workspace, p)
	}
	return listAnswer(c, p, fetch, func(s feedmill.Subscription) feedmill.ID { return s.ID }, viewSubscription)
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
	return subscriptionAnswer(viewSubscription(sub)), nil
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
