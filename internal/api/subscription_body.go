package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/strictjson"
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
	name    string
	pointer string // in the request
	// unavailable is the refusal of a family that is not available yet.
	unavailable *feedmill.Error
}

func (e namedEvent) isSource() bool { return feedmill.IsSourceName(e.name) }

// readSubscription reads what a creation and a change have in common.
func (s *Server) readSubscription(c *call, o *strictjson.Object) (f subscriptionFields) {
	if v, ok := o.Get("name"); ok {
		name := ""
		if v.Kind != 'n' {
			name = v.Name(feedmill.MaxNameLen)
		}
		f.name = &name
	}
	if v, ok := o.Get("url"); ok {
		if text, ok := v.Text(); ok && s.checkCallback(v, text) {
			f.url = &text
		}
	}
	if _, ok := o.Get("events"); ok {
		f.events = s.readEventNames(c, o)
	}
	if v, ok := o.Get("httpOperation"); ok {
		method := http.MethodPost
		if v.Kind != 'n' {
			method, ok = v.Choice(http.MethodPost, http.MethodGet)
		}
		if ok {
			f.method = &method
		}
	}
	if v, ok := o.Get("filters"); ok {
		f.resource = readFilters(v)
	}
	if v, ok := o.Get("delivery"); ok {
		f.delivery = readDelivery(v)
	}
	return f
}

// readEventNames reads the names; one that stands there again is folded.
func (s *Server) readEventNames(c *call, o *strictjson.Object) (names []namedEvent) {
	for f, name := range o.Texts("events", feedmill.MaxSubscribedEvents) {
		if slices.ContainsFunc(names, func(e namedEvent) bool { return e.name == name }) {
			continue
		}
		e := namedEvent{name: name, pointer: f.Pointer()}
		var refusal *feedmill.Error
		if errors.As(s.Catalogue.CheckSubscribed(name), &refusal) {
			if !errors.Is(refusal, feedmill.ErrConflict) {
				c.faults.AddOf(refusal, feedmill.Fault{Pointer: e.pointer, Detail: refusal.Detail})
				continue
			}
			e.unavailable = refusal
		}
		names = append(names, e)
	}
	return names
}

// readFilters reads the filters: the resource, or the empty text for none.
func readFilters(v strictjson.Field) *string {
	none := ""
	if v.Kind == 'n' {
		return &none
	}
	filters, ok := v.Object()
	if !ok {
		return nil
	}
	defer filters.RefuseUnknown()
	v, ok = filters.Get("resourceId")
	if !ok || v.Kind == 'n' {
		return &none
	}
	resource, ok := v.Label(feedmill.MaxResourceIDLen)
	if !ok {
		return nil
	}
	return &resource
}

// checkCallback notes all that is wrong with a callback URL. It repeats no part
// of it but the host: the rest can hold a secret.
func (s *Server) checkCallback(f strictjson.Field, text string) (ok bool) {
	ok = true
	fault := func(detail string) { f.Fault(detail); ok = false }
	if len(text) > feedmill.MaxSubscriptionURL {
		fault(fmt.Sprintf("The URL may have at most %d bytes.", feedmill.MaxSubscriptionURL))
	}
	u, err := url.Parse(text)
	if err != nil || !printable(text) {
		fault("This is no URL; write one like https://example.com/hook in ASCII and percent-encode its special characters.")
		return false
	}
	if u.User != nil {
		fault("The URL must not hold a user name or password; use delivery.headers for a credential.")
	}
	if strings.Contains(text, "#") {
		fault("The URL must not have a fragment.")
	}
	if err := s.URLs.CheckURL(u); err != nil {
		fault("The URL cannot be used: " + withoutKind(err) + ".")
	}
	return ok
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
