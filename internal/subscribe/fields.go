package subscribe

import (
	"context"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// fields are what a request gives of a subscription. A nil one is not given; one
// that is given as null has its default.
type fields struct {
	name        *string
	destination feedmill.Destination
	// config is the new configuration of the destination, to be sealed; nil if it stays.
	config   []byte
	events   []event
	resource *string
	state    *feedmill.SubscriptionState
	delivery deliveryFields
	// filter, transform and preset are empty to remove what there is.
	filter, transform, preset *string
	// secret is the signing secret of a new subscription; empty means a generated one.
	secret string
	// alert marks the subscriptions of a new alert; empty for others.
	alert feedmill.ID
}

// readFields reads what a creation and a change have in common. was is the subscription
// before the change, the zero value for a new one.
func (s *Subscriptions) readFields(ctx context.Context, body *strictjson.Object, was feedmill.Subscription, faults *feedmill.Faults) (given fields, err error) {
	if f, ok := body.Get("name"); ok {
		given.name = new(string)
		if f.Kind != 'n' {
			*given.name = f.Name(feedmill.MaxNameLen)
		}
	}
	delivery, err := s.readDestination(ctx, body, was, faults, &given)
	if _, ok := body.Get("events"); ok {
		halves := bothHalves
		switch {
		case was.ID != "":
			halves = func(source bool) bool { return source == was.OfSources() }
		case feedmill.HandleOf(ctx) != nil: // a handle names a single subscription, as it was exported
			halves = func(source bool) bool { return !source }
		}
		given.events = s.readEvents(body, faults, halves)
	}
	if f, ok := body.Get("filters"); ok {
		given.resource = readFilters(f)
	}
	s.readShape(body, was, &given)
	if delivery != nil {
		given.delivery = readDelivery(delivery)
	}
	checkBatch(body, delivery, was, given)
	return given, err
}

// readFilters reads the filters: the resource, or the empty text for none.
func readFilters(f strictjson.Field) *string {
	if f.Kind == 'n' {
		return new(string)
	}
	filters, ok := f.Object()
	if !ok {
		return nil
	}
	defer filters.RefuseUnknown()
	of, ok := filters.Given("resourceId")
	if !ok {
		return new(string)
	}
	resource, ok := of.Label(feedmill.MaxResourceIDLen)
	if !ok {
		return nil
	}
	return &resource
}
