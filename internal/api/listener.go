package api

import (
	"strings"

	"github.com/feedmill/feedmill"
)

// listenerView is a listener as its maker sees it.
type listenerView struct {
	ID        feedmill.ID  `json:"id"`
	Events    []string     `json:"events"`
	Filters   *filtersView `json:"filters,omitzero"`
	CreatedAt timestamp    `json:"createdAt"`
	ExpiresAt timestamp    `json:"expiresAt"`
	// SigningSecret is shown nowhere else.
	SigningSecret string `json:"signingSecret"`
}

func listenerURL(id feedmill.ID) string { return "/events/listeners/" + string(id) }

// listener finds the one that the path names, if it has not come to its end.
func (s *Server) listener(c *call) (feedmill.Subscription, error) {
	id, err := feedmill.ParseID(feedmill.PrefixSubscription, c.r.PathValue("id"))
	if err != nil {
		return feedmill.Subscription{}, err
	}
	sub, err := s.Store.Listener(c.ctx(), c.who.Workspace, id)
	if err == nil && !sub.ListenUntil.After(now()) {
		return feedmill.Subscription{}, feedmill.ErrNotFound // it is about to be removed
	}
	return sub, err
}

// createListener makes one listener of all names, those of the gateway's family
// and others: it has one connection and one secret.
func (s *Server) createListener(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	events := s.readEventNames(c, body)
	var resource string
	if v, ok := body.Get("filters"); ok {
		if given := readFilters(v); given != nil {
			resource = *given
		}
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	if refusal := unavailable(events); refusal != nil {
		return answer{}, refusal
	}
	at := now()
	sub := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: c.who.Workspace, Method: "POST", State: feedmill.SubscriptionActive,
		CreatedAt: at, UpdatedAt: at, ListenUntil: feedmill.ListenerEnd(at, at),
	}
	deliveryFields{}.defaults().apply(&sub.Delivery)
	sources := 0
	for _, e := range events {
		sub.Events = append(sub.Events, feedmill.InternalName(e.name))
		if e.isSource() {
			sources++
		}
	}
	ofFeed := sources == len(events) || sources > 0 && strings.HasPrefix(resource, feedmill.PrefixDataFeed+"_")
	if sub.ResourceID, err = s.internalFilter(c.ctx(), sub.Workspace, resource, ofFeed); err != nil {
		return answer{}, err
	}
	return s.storeListener(c, sub)
}

// storeListener writes a new listener, where there may be one more, and answers
// with its secret.
func (s *Server) storeListener(c *call, sub feedmill.Subscription) (answer, error) {
	secret := feedmill.NewSigningSecret()
	var err error
	if sub.Secrets, err = s.sealJSON(feedmill.SigningSecrets{Current: secret}, secretsRecord(sub.ID)); err != nil {
		return answer{}, err
	}
	s.quota.Lock()
	defer s.quota.Unlock()
	n, err := s.Store.CountListeners(c.ctx(), sub.Workspace)
	if err != nil {
		return answer{}, err
	}
	if n >= feedmill.MaxListeners {
		return answer{}, &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "quota-reached",
			Detail: "The workspace has as many listeners as it may have at a time; one that is not connected is removed after 10 minutes.",
		}
	}
	view := listenerView{
		ID: sub.ID, Events: publicNames(sub.Events), CreatedAt: timestamp(sub.CreatedAt), ExpiresAt: timestamp(sub.ListenUntil), SigningSecret: secret,
	}
	if sub.ResourceID != "" {
		view.Filters = &filtersView{feedmill.PublicFilter(sub.ResourceID)}
	}
	a := created(listenerURL(sub.ID), view)
	return a, s.Store.CreateSubscriptions(c.ctx(), []feedmill.Subscription{sub}, c.keep(a))
}

func (s *Server) deleteListener(c *call) (answer, error) {
	id, err := feedmill.ParseID(feedmill.PrefixSubscription, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if err := s.Store.DeleteListener(c.ctx(), c.who.Workspace, id, now()); err != nil {
		return answer{}, err
	}
	s.Dispatcher.Changed(id)
	s.Listeners.Removed(id)
	return answer{status: 204}, nil
}
