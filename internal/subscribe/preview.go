package subscribe

import (
	"context"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// Preview reads a subscription as [Subscriptions.Create] does, without creating it. It needs
// no URL. Its names and its resource are those of the request.
func (s *Subscriptions) Preview(ctx context.Context, workspace feedmill.ID, body *strictjson.Object, faults *feedmill.Faults) (feedmill.Subscription, error) {
	body.Need("events")
	f, err := s.readFields(ctx, body, feedmill.Subscription{}, faults)
	if err != nil {
		return feedmill.Subscription{}, err
	}
	body.RefuseUnknown()
	if err := faults.Refusal(); err != nil {
		return feedmill.Subscription{}, err
	}
	sub := feedmill.Subscription{Workspace: workspace, Events: names(f.events), Destination: f.destination}
	if f.resource != nil {
		sub.ResourceID = *f.resource
	}
	f.applyShape(&sub)
	f.delivery.apply(&sub.Delivery)
	return sub, nil
}
