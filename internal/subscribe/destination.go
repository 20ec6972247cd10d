package subscribe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// readDestination has the kind of the destination read its part of a request. It returns
// the member delivery, of which the rest is to be read, nil if it is not an object.
func (s *Subscriptions) readDestination(ctx context.Context, body *strictjson.Object, was feedmill.Subscription, faults *feedmill.Faults, given *fields) (delivery *strictjson.Object, err error) {
	r := feedmill.DestinationRequest{Body: body, Was: was.Destination, Faults: faults, OpenConfig: func() ([]byte, error) { return s.openConfig(ctx, was) }}
	f, ok := body.Get("delivery")
	switch {
	case ok && f.Kind == 'n':
		given.delivery, r.ResetDelivery = defaultDelivery(), true
	case ok:
		r.Delivery, _ = f.Object()
	}
	if f, ok := body.Get("url"); ok && f.Kind == '"' && strings.HasSuffix(f.Value.Text(), "/"+feedmill.Hidden) {
		f.Fault("url has *** instead of its path. Set the complete URL, or omit url to keep it.")
	}
	kind := s.kindOf(body, was.Destination.Kind)
	if kind.Name() != was.Destination.Kind {
		// No kind sees the secrets that were given for another.
		r.Was = feedmill.Destination{}
		if was.Destination.Kind != "" {
			faults.Note("/url", fmt.Sprintf("url must stay that of a %s destination; its scheme selects %s. Create a new subscription for it.", was.Destination.Kind, kind.Name()))
		}
	}
	given.destination, given.config, err = kind.Define(r)
	return r.Delivery, err
}

// kindOf is the kind that the URL of a request selects; without one, a subscription keeps
// its kind. The first kind refuses URLs of unknown schemes.
func (s *Subscriptions) kindOf(body *strictjson.Object, was feedmill.DestinationKind) Kind {
	f, ok := body.Given("url")
	selects := func(k Kind) bool { return k.Name() == was }
	if ok && f.Kind == '"' {
		scheme, _, _ := strings.Cut(strings.ToLower(f.Value.Text()), ":")
		selects = func(k Kind) bool { return slices.Contains(k.Schemes(), scheme) }
	}
	return s.Kinds[max(slices.IndexFunc(s.Kinds, selects), 0)]
}

// keepConsent keeps the consent of the recipient to a subscription, which moves to another
// address or not. Without consent it is paused, and the recipient is asked.
func (s *Subscriptions) keepConsent(sub *feedmill.Subscription, moves bool, at time.Time) {
	i := slices.IndexFunc(s.Kinds, func(k Kind) bool { return k.Name() == sub.Destination.Kind })
	kind, ok := s.Kinds[max(i, 0)].(Consenting)
	if i < 0 || !ok || !moves {
		return
	}
	asked := sub.PausedReason == feedmill.PausedUnconfirmed || sub.PausedReason == feedmill.PausedUnsubscribed
	switch {
	case kind.Consented(sub.Destination) && asked:
		sub.Confirm(at)
	case kind.Consented(sub.Destination):
		sub.Consent = feedmill.Consent{ConsentedAt: at}
	case sub.State == feedmill.SubscriptionActive || asked:
		sub.AskConsent(at)
	default: // asked when it becomes active
		sub.Consent = feedmill.Consent{}
	}
}

// confirmSoon has the recipient of a subscription asked, if that is due.
func (s *Subscriptions) confirmSoon(sub feedmill.Subscription) {
	if !sub.ConfirmDueAt.IsZero() && s.ToConfirm != nil {
		s.ToConfirm()
	}
}
