package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
)

// subscriptionFields are the fields of a subscription that a request gives. A
// nil one is not given; one that is given as null has its default.
type subscriptionFields struct {
	name     *string
	url      *string
	events   []namedEvent
	method   *string
	resource *string
	state    *feedmill.SubscriptionState
	delivery deliveryFields
}

// namedEvent is an event name or wildcard that a request subscribes to.
type namedEvent struct {
	name  string
	index int // in the request
	// unavailable is the refusal of a family that is not available yet.
	unavailable *feedmill.Error
}

func (e namedEvent) isSource() bool { return feedmill.IsSourceName(e.name) }

// readSubscription reads what a creation and a change have in common.
func (s *Server) readSubscription(o *object) (f subscriptionFields) {
	if v, ok := o.get("name"); ok {
		name := ""
		if v.kind != 'n' {
			name = o.checkName("name", v)
		}
		f.name = &name
	}
	if v, ok := o.get("url"); ok {
		if text, ok := o.text("url", v); ok && s.checkCallback(o, text) {
			f.url = &text
		}
	}
	if _, ok := o.get("events"); ok {
		f.events = s.readEventNames(o)
	}
	if v, ok := o.get("httpOperation"); ok {
		method := http.MethodPost
		if v.kind != 'n' {
			method, ok = o.choice("httpOperation", v, http.MethodPost, http.MethodGet)
		}
		if ok {
			f.method = &method
		}
	}
	if v, ok := o.get("filters"); ok {
		f.resource = o.readFilters(v)
	}
	if v, ok := o.get("delivery"); ok {
		f.delivery = o.readDelivery(v)
	}
	return f
}

// readEventNames reads the names; one that stands there again is folded.
func (s *Server) readEventNames(o *object) (names []namedEvent) {
	for i, name := range o.texts("events", feedmill.MaxSubscribedEvents) {
		if slices.ContainsFunc(names, func(e namedEvent) bool { return e.name == name }) {
			continue
		}
		e := namedEvent{name: name, index: i}
		var refusal *feedmill.Error
		if errors.As(s.Catalogue.CheckSubscribed(name), &refusal) {
			if !errors.Is(refusal, feedmill.ErrConflict) {
				o.c.faultOf(refusal, feedmill.Fault{Pointer: e.pointer(), Detail: refusal.Detail})
				continue
			}
			e.unavailable = refusal
		}
		names = append(names, e)
	}
	return names
}

func (e namedEvent) pointer() string { return fmt.Sprintf("/events/%d", e.index) }

// readFilters reads the filters: the resource, or the empty text for none.
func (o *object) readFilters(v value) *string {
	none := ""
	if v.kind == 'n' {
		return &none
	}
	filters, ok := o.inner("filters", v)
	if !ok {
		return nil
	}
	defer filters.refuseUnknown()
	v, ok = filters.get("resourceId")
	if !ok || v.kind == 'n' {
		return &none
	}
	resource, ok := filters.label("resourceId", v, feedmill.MaxResourceIDLen)
	if !ok {
		return nil
	}
	return &resource
}

// checkCallback notes all that is wrong with a callback URL. It repeats no part
// of it but the host: the rest can hold a secret.
func (s *Server) checkCallback(o *object, text string) bool {
	before := len(o.c.faults)
	if len(text) > feedmill.MaxSubscriptionURL {
		o.fault("url", fmt.Sprintf("The URL may have at most %d bytes.", feedmill.MaxSubscriptionURL))
	}
	u, err := url.Parse(text)
	if err != nil || !printable(text) {
		o.fault("url", "This is no URL; write one like https://example.com/hook in ASCII and percent-encode its special characters.")
		return false
	}
	if u.User != nil {
		o.fault("url", "The URL must not hold a user name or password; use delivery.headers for a credential.")
	}
	if strings.Contains(text, "#") {
		o.fault("url", "The URL must not have a fragment.")
	}
	if err := s.URLs.CheckURL(u); err != nil {
		o.fault("url", "The URL cannot be used: "+withoutKind(err)+".")
	}
	return len(o.c.faults) == before
}

// withoutKind is the text of an error without the sentinel at its end, which is
// for programs and says nothing new to people.
func withoutKind(err error) string {
	kind := err
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		kind = inner
	}
	return strings.TrimSuffix(err.Error(), ": "+kind.Error())
}

// clashesWithPayload reports whether a URL has the query parameter in which a
// GET delivery carries its payload.
func clashesWithPayload(text, method string) bool {
	_, query, ok := strings.Cut(text, "?")
	if !ok || method != http.MethodGet {
		return false
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if name == "payload" {
			return true
		}
	}
	return false
}

const payloadClash = "The URL must not have a query parameter payload when httpOperation is GET: each delivery adds one."
