package api

import (
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/strictjson"
)

func (s *Server) createSubscriptions(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	halves, err := s.Subscriptions.Create(c.ctx(), c.who.Workspace, body, &c.faults, keepWith(c, s.subscribedAnswer))
	if err != nil {
		return answer{}, err
	}
	return s.subscribedAnswer(halves), nil
}

type multiView struct {
	Created []partView                   `json:"created"`
	Errors  []client.SubscriptionFailure `json:"errors"`
}

type partView struct {
	ID            string   `json:"id"`
	Events        []string `json:"events"`
	URL           string   `json:"url"`
	SigningSecret string   `json:"signingSecret"`
}

// subscribedAnswer is one subscription in its envelope, two as a bare array, one
// of two as a multi-status.
func (s *Server) subscribedAnswer(halves []feedmill.SubscribedHalf) answer {
	var views []client.Subscription
	var multi multiView
	for _, h := range halves {
		if h.Refusal != nil {
			multi.Errors = append(multi.Errors, client.SubscriptionFailure{Events: h.Events, Status: problemOf(h.Refusal, "", "").Status, Message: h.Refusal.Detail})
			continue
		}
		view := s.viewIssued(h.Made)
		views = append(views, view)
		multi.Created = append(multi.Created, partView{view.ID, view.Events, view.URL, view.SigningSecret})
	}
	switch {
	case len(multi.Errors) > 0:
		return jsonAnswer(http.StatusMultiStatus, multi).withSecret()
	case len(views) > 1:
		return jsonAnswer(http.StatusCreated, views).withSecret()
	}
	return created(subscriptionURL(feedmill.ID(views[0].ID)), views[0]).withSecret()
}

func (s *Server) changeSubscription(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	id, err := c.subscriptionID()
	if err != nil {
		return answer{}, err
	}
	sub, err := s.Subscriptions.Change(c.ctx(), c.who.Workspace, id, body, &c.faults)
	if err != nil {
		return answer{}, err
	}
	return subscriptionAnswer(s.viewSubscription(sub)), nil
}

// rotateSecret gives a subscription a new signing secret.
func (s *Server) rotateSecret(c *call) (answer, error) {
	body, err := c.readOptionalObject()
	if err != nil {
		return answer{}, err
	}
	overlap := feedmill.DefaultRotationOverlap
	if f, ok := body.Get("overlap"); ok {
		overlap, _ = strictjson.Parse(f, feedmill.DurationBetween(0, feedmill.MaxRotationOverlap))
	}
	if err := c.finish(body); err != nil {
		return answer{}, err
	}
	id, err := c.subscriptionID()
	if err != nil {
		return answer{}, err
	}
	render := func(sub feedmill.IssuedSubscription) answer {
		return subscriptionAnswer(s.viewIssued(sub)).withSecret()
	}
	sub, err := s.Subscriptions.Rotate(c.ctx(), c.who.Workspace, id, overlap, keepWith(c, render))
	if err != nil {
		return answer{}, err
	}
	return render(sub), nil
}
