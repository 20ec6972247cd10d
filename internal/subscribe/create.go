package subscribe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Create makes the subscriptions that a request asks for: one, or two where it
// names events of the gateway's family and others. Of two, one can be refused
// and the other made; where none is, that is the error. Faults of the request
// are noted with those that were found before, and are all of them in the error.
// keep makes the response that is kept with what is made; it is
// called again where that turns out to be less.
func (s *Subscriptions) Create(ctx context.Context, workspace feedmill.ID, body *strictjson.Object, faults *feedmill.Faults, keep func([]feedmill.SubscribedHalf) (*feedmill.IdempotentResponse, error)) ([]feedmill.SubscribedHalf, error) {
	body.Need("url")
	body.Need("events")
	f, err := s.readFields(ctx, body, feedmill.Subscription{}, faults)
	if err != nil {
		return nil, err
	}
	f.secret = readSecret(body)
	if given, ok := body.Given("alert"); ok {
		if yes, _ := given.Boolean(); yes {
			f.alert = feedmill.NewID(feedmill.PrefixAlert)
		}
	}
	body.RefuseUnknown()
	if err := faults.Refusal(); err != nil {
		return nil, err
	}
	divided := divide(f.events)
	halves := make([]feedmill.SubscribedHalf, len(divided))
	for i, events := range divided {
		halves[i].Events = names(events)
		made, err := s.makeHalf(ctx, newSubscription(workspace, events), f, events, len(divided) > 1)
		if err != nil && !errors.As(err, &halves[i].Refusal) {
			return nil, err
		}
		halves[i].Made = made
	}
	if err := s.storeHalves(ctx, halves, keep); err != nil {
		return halves, err
	}
	for _, h := range halves {
		s.confirmSoon(h.Made.Subscription)
	}
	if f.filter != nil {
		s.FilterChanged(workspace)
	}
	return halves, nil
}

// readSecret reads the signing secret of a new subscription; empty means a new one.
func readSecret(body *strictjson.Object) string {
	given, ok := body.Given("signingSecret")
	if !ok {
		return ""
	}
	secret, ok := given.Text()
	if !ok {
		return ""
	}
	if err := feedmill.CheckSigningSecret(secret); err != nil {
		given.Fault(err.Error() + ".")
	}
	return secret
}

// divide parts the events of a request into its halves, the half named first
// before the other: the names of the gateway's family are one, all others another.
func divide(events []event) (halves [][]event) {
	for _, e := range events {
		i := 0
		for i < len(halves) && halves[i][0].isSource() != e.isSource() {
			i++
		}
		if i == len(halves) {
			halves = append(halves, nil)
		}
		halves[i] = append(halves[i], e)
	}
	return halves
}

func names(events []event) []string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = e.name
	}
	return names
}

// newSubscription is an active one with the default settings.
func newSubscription(workspace feedmill.ID, events []event) feedmill.Subscription {
	at := now()
	sub := feedmill.Subscription{
		ID: feedmill.NewID(feedmill.PrefixSubscription), Workspace: workspace, Events: internalNames(events),
		State: feedmill.SubscriptionActive, CreatedAt: at, UpdatedAt: at,
	}
	defaultDelivery().apply(&sub.Delivery)
	return sub
}

// makeHalf completes the subscription of a half. A refusal is of this half alone.
func (s *Subscriptions) makeHalf(ctx context.Context, sub feedmill.Subscription, f fields, events []event, mixed bool) (made feedmill.IssuedSubscription, err error) {
	if refusal := unavailable(events); refusal != nil {
		return made, refusal
	}
	if f.name != nil {
		sub.Name = *f.name
	}
	f.delivery.apply(&sub.Delivery)
	f.applyShape(&sub)
	source := events[0].isSource()
	if f.resource != nil && (!mixed || source == strings.HasPrefix(*f.resource, feedmill.PrefixDataFeed+"_")) {
		if sub.ResourceID, err = s.internalFilter(ctx, sub.Workspace, *f.resource, source); err != nil {
			return made, err
		}
	}
	if err := s.setDestination(&sub, f.destination, f.config); err != nil {
		return made, err
	}
	s.keepConsent(&sub, true, sub.CreatedAt)
	sub.AlertID = f.alert
	return s.issue(sub, f.secret)
}

// storeHalves writes the halves that are not refused. Where the workspace may not
// have as many more, the last of them are refused.
func (s *Subscriptions) storeHalves(ctx context.Context, halves []feedmill.SubscribedHalf, keep func([]feedmill.SubscribedHalf) (*feedmill.IdempotentResponse, error)) error {
	for {
		var made []feedmill.Subscription
		for _, h := range halves {
			if h.Refusal == nil {
				made = append(made, h.Made.Subscription)
			}
		}
		if len(made) == 0 {
			return refusal(halves)
		}
		response, err := keep(halves)
		if err != nil {
			return err
		}
		err = s.Store.CreateSubscriptions(ctx, made, s.Max, response)
		quota, full := errors.AsType[*feedmill.QuotaError](err)
		if !full {
			return err
		}
		refuseHalves(halves, quota)
	}
}

// refuseHalves refuses those halves for which there is no room.
func refuseHalves(halves []feedmill.SubscribedHalf, quota *feedmill.QuotaError) {
	left := quota.Left
	detail := fmt.Sprintf("The workspace would exceed its maximum of %d subscriptions. Delete one that is not needed.", quota.Most)
	for i := range halves {
		if halves[i].Refusal != nil {
			continue
		}
		if left--; left < 0 {
			halves[i] = feedmill.SubscribedHalf{Events: halves[i].Events, Refusal: &feedmill.Error{
				Kind: feedmill.ErrConflict, Type: "quota-reached", Transient: true, Detail: detail,
				Faults: []feedmill.Fault{{Pointer: "/events", Detail: detail}},
			}}
		}
	}
}

// refusal is that of the first half, with the faults of all.
func refusal(halves []feedmill.SubscribedHalf) error {
	all := *halves[0].Refusal
	for _, h := range halves[1:] {
		all.Faults = append(all.Faults, h.Refusal.Faults...)
		all.Transient = all.Transient || h.Refusal.Transient
	}
	return &all
}
