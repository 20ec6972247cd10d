package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill"
)

// half is one subscription of those that a request makes: the names of the
// gateway's family make one, all other names another.
type half struct {
	source bool
	events []namedEvent

	made   feedmill.Subscription
	secret string
	err    *feedmill.Error
}

// halvesOf divides the events of a request, the half named first before the other.
func halvesOf(events []namedEvent) (halves []half) {
	for _, e := range events {
		i := 0
		for i < len(halves) && halves[i].source != e.isSource() {
			i++
		}
		if i == len(halves) {
			halves = append(halves, half{source: e.isSource()})
		}
		halves[i].events = append(halves[i].events, e)
	}
	return halves
}

func (h half) names() []string {
	names := make([]string, len(h.events))
	for i, e := range h.events {
		names[i] = e.name
	}
	return names
}

// unavailable is the refusal of names in families that are not available yet.
func unavailable(events []namedEvent) *feedmill.Error {
	var refusal *feedmill.Error
	for _, e := range events {
		if e.unavailable == nil {
			continue
		}
		if refusal == nil {
			first := *e.unavailable
			refusal = &first
		}
		refusal.Faults = append(refusal.Faults, feedmill.Fault{Pointer: e.pointer, Detail: e.unavailable.Detail})
	}
	return refusal
}

func (s *Server) createSubscriptions(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	body.Need("url")
	body.Need("events")
	f := s.readSubscription(c, body)
	if f.method == nil {
		post := http.MethodPost
		f.method = &post
	}
	if f.url != nil && clashesWithPayload(*f.url, *f.method) {
		body.Fault("url", payloadClash)
	}
	headers := f.newHeaders(c)
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	if s.MaxSubscriptions > 0 {
		// Of two requests at once, the second must see what the first made.
		s.quota.Lock()
		defer s.quota.Unlock()
	}
	left, err := s.subscriptionsLeft(c)
	if err != nil {
		return answer{}, err
	}
	halves := halvesOf(f.events)
	for i := range halves {
		h := &halves[i]
		err := s.makeHalf(c.ctx(), c.who.Workspace, f, headers, h, len(halves) > 1)
		if err == nil && left == 0 {
			err = tooManySubscriptions(s.MaxSubscriptions)
		}
		if err != nil && !errors.As(err, &h.err) {
			return answer{}, err
		}
		if err == nil {
			left--
		}
	}
	return s.storeHalves(c, halves)
}

// newHeaders are the extra headers of a new subscription.
func (f subscriptionFields) newHeaders(c *call) map[string]string {
	if f.delivery.headers == nil {
		return nil
	}
	headers, faults := f.delivery.headers.apply(nil)
	for _, fault := range faults {
		c.fault(fault)
	}
	return headers
}

// subscriptionsLeft is how many more the workspace may have; negative means any number.
func (s *Server) subscriptionsLeft(c *call) (int, error) {
	if s.MaxSubscriptions <= 0 {
		return -1, nil
	}
	n, err := s.Store.CountSubscriptions(c.ctx(), c.who.Workspace)
	return max(s.MaxSubscriptions-n, 0), err
}

func tooManySubscriptions(most int) error {
	detail := fmt.Sprintf("A workspace may have at most %d subscriptions; delete one that is not needed.", most)
	return &feedmill.Error{
		Kind: feedmill.ErrConflict, Type: "quota-reached", Detail: detail,
		Faults: []feedmill.Fault{{Pointer: "/events", Detail: detail}},
	}
}

// makeHalf makes the subscription of a half. A refusal is of this half alone.
func (s *Server) makeHalf(ctx context.Context, workspace feedmill.ID, f subscriptionFields, headers map[string]string, h *half, mixed bool) error {
	if refusal := unavailable(h.events); refusal != nil {
		return refusal
	}
	at := now()
	sub := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: workspace, URL: *f.url, Method: *f.method,
		State: feedmill.SubscriptionActive, CreatedAt: at, UpdatedAt: at,
	}
	if f.name != nil {
		sub.Name = *f.name
	}
	for _, name := range h.names() {
		sub.Events = append(sub.Events, feedmill.InternalName(name))
	}
	deliveryFields{}.defaults().apply(&sub.Delivery)
	f.delivery.apply(&sub.Delivery)
	if resource := f.resource; resource != nil && (!mixed || h.source == strings.HasPrefix(*resource, feedmill.PrefixDataFeed+"_")) {
		var err error
		if sub.ResourceID, err = s.internalFilter(ctx, workspace, *resource, h.source); err != nil {
			return err
		}
	}
	h.secret = feedmill.NewSigningSecret()
	var err error
	if sub.Secrets, err = s.sealJSON(feedmill.SigningSecrets{Current: h.secret}, secretsRecord(sub.ID)); err != nil {
		return err
	}
	if err := s.sealHeaders(&sub, headers); err != nil {
		return err
	}
	h.made = sub
	return nil
}

// internalFilter maps the resource that a subscriber names to what the
// subscription is kept with.
func (s *Server) internalFilter(ctx context.Context, workspace feedmill.ID, resource string, source bool) (string, error) {
	if !source || resource == "" {
		return resource, nil
	}
	feed, err := feedmill.ParseID(feedmill.PrefixDataFeed, resource)
	var of feedmill.ID
	if err == nil {
		of, err = s.Store.FeedSource(ctx, workspace, feed)
	}
	if errors.Is(err, feedmill.ErrNotFound) {
		const detail = "There is no such data feed in this workspace."
		return "", &feedmill.Error{Kind: feedmill.ErrNotFound, Detail: detail, Faults: []feedmill.Fault{{Pointer: "/filters/resourceId", Detail: detail}}}
	}
	return feedmill.InternalFilter(of, feed), err
}

type multiView struct {
	Created []partView   `json:"created"`
	Errors  []failedView `json:"errors"`
}

type partView struct {
	ID            feedmill.ID `json:"id"`
	Events        []string    `json:"events"`
	URL           string      `json:"url"`
	SigningSecret string      `json:"signingSecret"`
}

type failedView struct {
	Events  []string `json:"events"`
	Status  int      `json:"status"`
	Message string   `json:"message"`
}

// storeHalves writes what could be made and answers: one subscription in its
// envelope, two as a bare array, one of two as a multi-status.
func (s *Server) storeHalves(c *call, halves []half) (answer, error) {
	var made []feedmill.Subscription
	var views []subscriptionView
	var multi multiView
	var refusal *feedmill.Error
	for _, h := range halves {
		if h.err != nil {
			multi.Errors = append(multi.Errors, failedView{h.names(), problemOf(h.err, "", "").Status, h.err.Detail})
			if refusal == nil {
				first := *h.err
				refusal = &first
			} else {
				refusal.Faults = append(refusal.Faults, h.err.Faults...)
			}
			continue
		}
		view := viewSubscription(h.made)
		view.SigningSecret = h.secret
		made, views = append(made, h.made), append(views, view)
		multi.Created = append(multi.Created, partView{h.made.ID, view.Events, view.URL, h.secret})
	}
	var a answer
	switch {
	case len(made) == 0:
		return answer{}, refusal
	case refusal != nil:
		a = jsonAnswer(http.StatusMultiStatus, multi)
	case len(made) > 1:
		a = jsonAnswer(http.StatusCreated, views)
	default:
		a = created(subscriptionURL(views[0].ID), views[0])
	}
	return a, s.Store.CreateSubscriptions(c.ctx(), made, c.keep(a))
}
