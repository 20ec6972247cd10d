package api

import (
	"fmt"

	"github.com/feedmill/feedmill"
)

// matchView says whether an event is for a subscription, and why not where it is not.
type matchView struct {
	Subscription feedmill.ID `json:"subscriptionId"`
	Matches      bool        `json:"matches"`
	// Reason is one of a few words, null where it matches.
	Reason *string `json:"reason"`
	Detail string  `json:"detail"`
}

// Why an event is not for a subscription.
const (
	unmatchedType     = "type"
	unmatchedResource = "resource"
	unmatchedLater    = "createdLater"
	unmatchedFilter   = "filter"
	failedFilter      = "filterError"
	failedTransform   = "transformFailed"
)

// matchOf holds an event against the subscription that the query names.
func (s *Server) matchOf(c *call, e feedmill.Event) (*matchView, error) {
	text, given := c.query["subscriptionId"]
	if !given {
		return nil, nil
	}
	sub, err := s.Store.Subscription(c.ctx(), c.who.Workspace, feedmill.ID(text))
	if err != nil {
		return nil, err
	}
	v := match(sub, e)
	if v.Matches && sub.Filter != "" {
		v.filter(s.Expressions.Open(e.Payload)(sub.Filter))
	}
	return &v, nil
}

// filter adds the verdict of the subscription's filter.
func (v *matchView) filter(of feedmill.FilterVerdict) {
	switch {
	case of.Error != "":
		v.Matches, v.Reason, v.Detail = false, new(failedFilter), of.Reason()
	case !of.Matches:
		v.Matches, v.Reason, v.Detail = false, new(unmatchedFilter), "The event does not match the filter of the subscription."
	}
}

func match(sub feedmill.Subscription, e feedmill.Event) matchView {
	v := matchView{Subscription: sub.ID}
	name, _, resource := e.Match()
	switch {
	case !feedmill.Includes(sub.Events, name):
		v.Reason, v.Detail = new(unmatchedType), fmt.Sprintf("The subscription does not include %s or its family.", e.Type)
	case sub.ResourceID != "" && sub.ResourceID != resource:
		v.Reason, v.Detail = new(unmatchedResource), "The subscription is limited to another resource."
	case sub.CreatedAt.After(e.ID.Time()):
		v.Reason, v.Detail = new(unmatchedLater), "The subscription was created after the event. Replay missing events to deliver it."
	default:
		v.Matches, v.Detail = true, "The event matches the current subscription."
	}
	return v
}
