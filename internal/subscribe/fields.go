package subscribe

import (
	"net/http"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// fields are what a request gives of a subscription. A nil one is not given; one
// that is given as null has its default.
type fields struct {
	name     *string
	url      *string
	events   []event
	method   *string
	resource *string
	state    *feedmill.SubscriptionState
	delivery deliveryFields
}

// readFields reads what a creation and a change have in common.
func (s *Subscriptions) readFields(body *strictjson.Object, faults *feedmill.Faults) (given fields) {
	if f, ok := body.Get("name"); ok {
		given.name = new(string)
		if f.Kind != 'n' {
			*given.name = f.Name(feedmill.MaxNameLen)
		}
	}
	if f, ok := body.Get("url"); ok {
		if text, ok := s.readURL(f); ok {
			given.url = &text
		}
	}
	if _, ok := body.Get("events"); ok {
		given.events = s.readEvents(body, faults)
	}
	if f, ok := body.Get("httpOperation"); ok {
		method := http.MethodPost
		if f.Kind != 'n' {
			method, ok = f.Choice(http.MethodPost, http.MethodGet)
		}
		if ok {
			given.method = &method
		}
	}
	if f, ok := body.Get("filters"); ok {
		given.resource = readFilters(f)
	}
	if f, ok := body.Get("delivery"); ok {
		given.delivery = readDelivery(f)
	}
	return given
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
