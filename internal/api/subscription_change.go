package api

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// errChangedMeanwhile says that a subscription is not any more what a change
// was worked out from.
var errChangedMeanwhile = errors.New("the subscription was changed at the same time")

// changeTries is how often a change is worked out again before the client hears
// of a conflict.
const changeTries = 5

func (s *Server) changeSubscription(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	f := s.readSubscription(c, body)
	if v, ok := body.Get("state"); ok {
		text, _ := v.Choice(string(feedmill.SubscriptionActive), string(feedmill.SubscriptionPaused), string(feedmill.SubscriptionDisabled))
		state := feedmill.SubscriptionState(text)
		f.state = &state
	}
	body.RefuseUnknown()
	found := c.faults
	found.List = slices.Clip(found.List)
	for range changeTries {
		c.faults = found
		sub, err := s.subscription(c)
		if err != nil {
			return answer{}, err
		}
		change, err := s.planChange(c, f, sub)
		if err != nil {
			return answer{}, err
		}
		stored, err := s.Store.ChangeSubscription(c.ctx(), c.who.Workspace, sub.ID, func(fresh *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			if !sameGround(*fresh, sub) {
				return nil, errChangedMeanwhile
			}
			change(fresh)
			return nil, nil
		})
		if errors.Is(err, errChangedMeanwhile) {
			continue
		}
		if err != nil {
			return answer{}, err
		}
		s.Dispatcher.Changed(sub.ID)
		return subscriptionAnswer(http.StatusOK, viewSubscription(stored)), nil
	}
	return answer{}, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "The subscription is being changed by others at the same time; try again."}
}

// sameGround reports whether what a change depends on is as it was.
func sameGround(a, b feedmill.Subscription) bool {
	return a.URL == b.URL && a.Method == b.Method && a.ResourceID == b.ResourceID &&
		slices.Equal(a.Events, b.Events) && bytes.Equal(a.Headers, b.Headers)
}

// planChange checks a change against the subscription and answers how to make
// it. Everything that needs the store or the vault is done here and not in the
// transaction of the change.
func (s *Server) planChange(c *call, f subscriptionFields, sub feedmill.Subscription) (func(*feedmill.Subscription), error) {
	next := sub
	if f.url != nil {
		next.URL = *f.url
	}
	if f.method != nil {
		next.Method = *f.method
	}
	if clashesWithPayload(next.URL, next.Method) {
		at := feedmill.Fault{Pointer: "/url", Detail: payloadClash}
		if f.url == nil {
			at.Pointer = "/httpOperation"
		}
		c.fault(at)
	}
	headers, err := s.changedHeaders(c, f, sub)
	if err != nil {
		return nil, err
	}
	if err := c.refusal(); err != nil {
		return nil, err
	}
	if err := checkSameHalf(f.events, hasSourceEvents(sub)); err != nil {
		return nil, err
	}
	if f.events != nil {
		next.Events = nil
		for _, e := range f.events {
			next.Events = append(next.Events, feedmill.InternalName(e.name))
		}
	}
	if f.resource != nil {
		if next.ResourceID, err = s.internalFilter(c.ctx(), c.who.Workspace, *f.resource, hasSourceEvents(sub)); err != nil {
			return nil, err
		}
	}
	if f.delivery.headers != nil {
		if err := s.sealHeaders(&next, headers); err != nil {
			return nil, err
		}
	}
	at := now()
	return func(fresh *feedmill.Subscription) {
		fresh.URL, fresh.Method, fresh.Events, fresh.ResourceID = next.URL, next.Method, next.Events, next.ResourceID
		fresh.Headers, fresh.HeaderNames = next.Headers, next.HeaderNames
		if f.name != nil {
			fresh.Name = *f.name
		}
		f.delivery.apply(&fresh.Delivery)
		if f.state != nil {
			setState(fresh, *f.state, at)
		}
		fresh.UpdatedAt = at
	}, nil
}

func (s *Server) changedHeaders(c *call, f subscriptionFields, sub feedmill.Subscription) (map[string]string, error) {
	if f.delivery.headers == nil {
		return nil, nil
	}
	old, err := s.openHeaders(c.ctx(), sub)
	if err != nil {
		return nil, err
	}
	headers, faults := f.delivery.headers.apply(old)
	for _, fault := range faults {
		c.fault(fault)
	}
	return headers, nil
}

// checkSameHalf refuses events that the subscription cannot have: those of the
// other half, and those that are not available.
func checkSameHalf(events []namedEvent, source bool) error {
	moves := &feedmill.Error{
		Kind: feedmill.ErrConflict, Type: "other-half",
		Detail: "A subscription has events of datafeed.source.* alone or none of them; make another subscription for the others.",
	}
	for _, e := range events {
		if e.isSource() != source {
			moves.Faults = append(moves.Faults, feedmill.Fault{Pointer: e.pointer, Detail: "This event belongs to another subscription."})
		}
	}
	missing := unavailable(events)
	switch {
	case len(moves.Faults) > 0 && missing != nil:
		moves.Faults = append(moves.Faults, missing.Faults...)
		return moves
	case len(moves.Faults) > 0:
		return moves
	case missing != nil:
		return missing
	}
	return nil
}

// setState moves a subscription to a state. For one that becomes active the
// time after which failures disable it begins anew.
func setState(sub *feedmill.Subscription, state feedmill.SubscriptionState, at time.Time) {
	if sub.State == state {
		return
	}
	sub.State, sub.DisabledReason = state, ""
	switch state {
	case feedmill.SubscriptionActive:
		sub.LastSuccessAt, sub.WarnedAt = at, time.Time{}
	case feedmill.SubscriptionDisabled:
		sub.DisabledReason = feedmill.DisabledByUser
	}
}
