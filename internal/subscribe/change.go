package subscribe

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// errChangedMeanwhile says that a subscription is not any more what a change
// was worked out from.
var errChangedMeanwhile = errors.New("the subscription was changed by another request")

// changeTries is how often a change is worked out again before the client hears
// of a conflict.
const changeTries = 5

// Change changes a subscription as a request asks for, and returns it as it is
// then. Faults are noted as [Subscriptions.Create] notes them.
func (s *Subscriptions) Change(ctx context.Context, workspace, id feedmill.ID, body *strictjson.Object, faults *feedmill.Faults) (feedmill.Subscription, error) {
	found := *faults
	found.List = slices.Clip(found.List)
	for range changeTries {
		*faults = found
		sub, err := s.Store.Subscription(ctx, workspace, id)
		if err != nil {
			return feedmill.Subscription{}, err
		}
		change, err := s.planChange(ctx, body, sub, faults)
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
			s.confirmSoon(changed)
			if sub.Filter != "" || changed.Filter != "" {
				s.FilterChanged(workspace)
			}
		}
		return changed, err
	}
	return feedmill.Subscription{}, &feedmill.Error{Kind: feedmill.ErrConflict, Transient: true, Detail: "The subscription was changed by another request. Fetch it again and retry."}
}

// sameGround reports whether what a change depends on is as it was.
func sameGround(a, b feedmill.Subscription) bool {
	return a.Destination.Equal(b.Destination) && a.Shape == b.Shape && a.Delivery.Batch == b.Delivery.Batch && a.ResourceID == b.ResourceID && slices.Equal(a.Events, b.Events)
}

// planChange reads a change, checks it against the subscription and returns how to make
// it. Everything that needs the store or the vault is done here and not in the
// transaction of the change.
func (s *Subscriptions) planChange(ctx context.Context, body *strictjson.Object, sub feedmill.Subscription, faults *feedmill.Faults) (func(*feedmill.Subscription), error) {
	f, err := s.readFields(ctx, body, sub, faults)
	if err != nil {
		return nil, err
	}
	if given, ok := body.Get("state"); ok {
		text, _ := given.Choice(string(feedmill.SubscriptionActive), string(feedmill.SubscriptionPaused), string(feedmill.SubscriptionDisabled))
		f.state = new(feedmill.SubscriptionState(text))
	}
	body.RefuseUnknown()
	if err := faults.Refusal(); err != nil {
		return nil, err
	}
	if err := checkSameHalf(f.events, sub.OfSources()); err != nil {
		return nil, err
	}
	next := sub
	if f.events != nil {
		next.Events = internalNames(f.events)
	}
	if f.resource != nil {
		if next.ResourceID, err = s.internalFilter(ctx, sub.Workspace, *f.resource, sub.OfSources()); err != nil {
			return nil, err
		}
	}
	if err := s.setDestination(&next, f.destination, f.config); err != nil {
		return nil, err
	}
	at := now()
	moves := next.Destination.URL != sub.Destination.URL
	return func(fresh *feedmill.Subscription) {
		fresh.Destination, fresh.Events, fresh.ResourceID = next.Destination, next.Events, next.ResourceID
		if f.name != nil {
			fresh.Name = *f.name
		}
		f.delivery.apply(&fresh.Delivery)
		f.applyShape(fresh)
		s.keepConsent(fresh, moves, at)
		if f.state != nil {
			setState(fresh, *f.state, at)
		}
		fresh.UpdatedAt = at
	}, nil
}

// checkSameHalf refuses events that the subscription cannot have: those of the
// other half, and those that are not available.
func checkSameHalf(events []event, source bool) error {
	moves := &feedmill.Error{
		Kind: feedmill.ErrConflict, Type: "other-half",
		Detail: "A subscription cannot combine events of datafeed.source.* with other events. Create a separate subscription for them.",
	}
	for _, e := range events {
		if e.isSource() != source {
			moves.Faults = append(moves.Faults, feedmill.Fault{Pointer: e.pointer, Detail: "The event requires a separate subscription."})
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
// time after which failures disable it begins anew. One that needs the consent of its
// recipient stays paused, and the recipient is asked again.
func setState(sub *feedmill.Subscription, state feedmill.SubscriptionState, at time.Time) {
	if state == feedmill.SubscriptionActive && sub.NeedsConsent() {
		sub.AskConsent(at)
		return
	}
	if sub.State == state {
		return
	}
	sub.State, sub.DisabledReason, sub.PausedReason = state, "", ""
	switch state {
	case feedmill.SubscriptionPaused:
		sub.PausedReason = feedmill.PausedAsked
	case feedmill.SubscriptionActive:
		sub.WarnedAt, sub.FailingSince, sub.Failures = time.Time{}, time.Time{}, 0
	case feedmill.SubscriptionDisabled:
		sub.DisabledReason = feedmill.DisabledByUser
	}
}
