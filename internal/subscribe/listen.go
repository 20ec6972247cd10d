package subscribe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Listen makes one listener of all names that a request has, those of the
// gateway's family and others: it has one connection and one secret. Otherwise
// it is like [Subscriptions.Create].
func (s *Subscriptions) Listen(ctx context.Context, workspace feedmill.ID, body *strictjson.Object, faults *feedmill.Faults, keep func(feedmill.IssuedSubscription) (*feedmill.IdempotentResponse, error)) (made feedmill.IssuedSubscription, err error) {
	events := s.readEvents(body, faults, bothHalves)
	var resource string
	if f, ok := body.Get("filters"); ok {
		if given := readFilters(f); given != nil {
			resource = *given
		}
	}
	secret := readSecret(body)
	body.RefuseUnknown()
	if err := faults.Refusal(); err != nil {
		return made, err
	}
	if refusal := unavailable(events); refusal != nil {
		return made, refusal
	}
	at := now()
	sub := newSubscription(workspace, events)
	sub.Destination = feedmill.Destination{Kind: feedmill.DestinationListener, Method: http.MethodPost}
	sub.ListenUntil = feedmill.ListenerEnd(at, at)
	sources := 0
	for _, e := range events {
		if e.isSource() {
			sources++
		}
	}
	ofFeed := sources == len(events) || sources > 0 && strings.HasPrefix(resource, feedmill.PrefixDataFeed+"_")
	if sub.ResourceID, err = s.internalFilter(ctx, workspace, resource, ofFeed); err != nil {
		return made, err
	}
	if made, err = s.issue(sub, secret); err != nil {
		return made, err
	}
	response, err := keep(made)
	if err != nil {
		return made, err
	}
	err = s.Store.CreateSubscriptions(ctx, []feedmill.Subscription{made.Subscription}, feedmill.MaxListeners, response)
	if _, full := errors.AsType[*feedmill.QuotaError](err); full {
		err = &feedmill.Error{
			Kind: feedmill.ErrConflict, Type: "quota-reached", Transient: true,
			Detail: fmt.Sprintf("The workspace already has %d listeners (the maximum). Disconnected listeners are removed after 10 minutes.", feedmill.MaxListeners),
		}
	}
	return made, err
}
