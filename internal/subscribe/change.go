package subscribe

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// errChangedMeanwhile says that a subscription is not any more what a change
// was worked out from.
var errChangedMeanwhile = errors.New("the subscription was changed at the same time")

// changeTries is how often a change is worked out again before the client hears
// of a conflict.
const changeTries = 5

// Change changes a subscription as a request asks for, and returns it as it is
// then. Faults are noted as [Subscriptions.Create] notes them.
func (s *Subscriptions) Change(ctx context.Context, workspace, id feedmill.ID, body *strictjson.Object, faults *feedmill.Faults) (feedmill.Subscription, error) {
	given := s.readFields(body, faults)
	if f, ok := body.Get("state"); ok {
		text, _ := f.Choice(string(feedmill.SubscriptionActive), string(feedmill.SubscriptionPaused), string(feedmill.SubscriptionDisabled))
		given.state = new(feedmill.SubscriptionState(text))
	}
	body.RefuseUnknown()
	found := *faults
	found.List = slices.Clip(found.List)
	for range changeTries {
		*faults = found
		sub, err := s.Store.Subscription(ctx, workspace, id)
		if err != nil {
			return feedmill.Subscription{}, err
		}
		change, err := s.planChange(ctx, given, sub, faults)
		if err != nil {
			return feedmill.Subscription{}, err
		}
		changed, err := s.Store.ChangeSubscription(ctx, workspace, id, func(fresh *feedmill.Subscription) (*feedmill.IdempotentResponse, error) {
			if !sameGround(*fresh, sub) {
				return nil, errChangedMeanwhile
			}
			change(fresh)
			return nil, nil
		})
		if errors.Is(err, errChangedMeanwhile) {
			continue
		}
		if err == nil {
			s.Changed(id)
		}
		return changed, err
	}
	return feedmill.Subscription{}, &feedmill.Error{Kind: feedmill.ErrConflict, Transient: true, Detail: "The subscription is being changed by others at the same time; try again."}
}

// sameGround reports whether what a change depends on is as it was.
func sameGround(a, b feedmill.Subscription) bool {
	return a.URL == b.URL && a.Method == b.Method && a.ResourceID == b.ResourceID &&
		slices.Equal(a.Events, b.Events) && bytes.Equal(a.Headers, b.Headers)
}

// planChange checks a change against the subscription and returns how to make
// it. Everything that needs the store or the vault is done here and not in the
// transaction of the change.
func (s *Subscriptions) planChange(ctx context.Context, f fields, sub feedmill.Subscription, faults *feedmill.Faults) (func(*feedmill.Subscription), error) {
	next := sub
	if f.url != nil {
		next.URL = *f.url
	}
	if f.method != nil {
		next.Method = *f.method
	}
	if clashesWithPayload(next.URL, next.Method) {
		at := "/url"
		if f.url == nil {
			at = "/httpOperation"
		}
		faults.Note(at, payloadClash)
	}
	headers, err := s.planHeaders(ctx, f, sub, faults)
	if err != nil {
		return nil, err
	}
	if err := faults.Refusal(); err != nil {
		return nil, err
	}
	if err := checkSameHalf(f.events, sub.OfSources()); err != nil {
		return nil, err
	}
	if f.events != nil {
		next.Events = internalNames(f.events)
	}
	if f.resource != nil {
		if next.ResourceID, err = s.internalFilter(ctx, sub.Workspace, *f.resource, sub.OfSources()); err != nil {
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

// planHeaders returns the extra headers as a change makes them. Their values were
// given for one origin and go to no other: a change that names another one
// begins without them, and has to say so.
func (s *Subscriptions) planHeaders(ctx context.Context, f fields, sub feedmill.Subscription, faults *feedmill.Faults) (headers map[string]string, err error) {
	moves := f.url != nil && len(sub.HeaderNames) > 0 && !sameOrigin(*f.url, sub.URL)
	if f.delivery.headers == nil {
		if moves {
			faults.Note("/delivery/headers", "The URL has another origin, and the headers were given for the old one: write those that the new one needs, or null for none.")
		}
		return nil, nil
	}
	var old map[string]string
	if !moves {
		if old, err = s.openHeaders(ctx, sub); err != nil {
			return nil, err
		}
	}
	return f.delivery.headers.apply(old, faults), nil
}

// checkSameHalf refuses events that the subscription cannot have: those of the
// other half, and those that are not available.
func checkSameHalf(events []event, source bool) error {
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
		sub.WarnedAt, sub.FailingSince, sub.Failures = time.Time{}, time.Time{}, 0
	case feedmill.SubscriptionDisabled:
		sub.DisabledReason = feedmill.DisabledByUser
	}
}
