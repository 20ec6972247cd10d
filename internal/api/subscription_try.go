package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/jstext"
	"github.com/feedmill/feedmill/internal/strictjson"
)

// testPing is the type of test events without another type.
const testPing = "test.ping"

// testSubscription sends an event to a subscription now and responds with what the endpoint
// returned.
func (s *Server) testSubscription(c *call) (answer, error) {
	e, err := s.readTest(c)
	if err != nil {
		return answer{}, err
	}
	sub, err := s.subscription(c)
	if err != nil {
		return answer{}, err
	}
	if sub.NeedsConsent() {
		return answer{}, &feedmill.Error{Kind: feedmill.ErrConflict, Detail: "The recipient has not confirmed the subscription, so nothing is sent to it. Set state to active to send a new request to confirm."}
	}
	e.ResourceID = cmp.Or(feedmill.PublicFilter(sub.ResourceID), string(sub.ID))
	a, err := s.Dispatcher.Test(c.ctx(), sub, e)
	if err != nil {
		return answer{}, explainData(err, "/data")
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{subscriptionURL(sub.ID)}, pingView{a.Error == "", viewExchange(a)}}), nil
}

// readTest reads the event of a test request.
func (s *Server) readTest(c *call) (e feedmill.NewEvent, err error) {
	body, err := c.readOptionalObject()
	if err != nil {
		return e, err
	}
	e.Type = testPing
	if f, ok := body.Given("type"); ok {
		e.Type = s.sampleType(f)
	}
	if f, ok := body.Given("data"); ok {
		e.Data = sampleData(f)
	}
	body.RefuseUnknown()
	return e, c.refusal()
}

// sampleType reads the type of an event that is not published: any of the catalogue, or a
// test.ping.
func (s *Server) sampleType(f strictjson.Field) string {
	name, ok := f.Label(feedmill.MaxEventNameLen)
	if _, known := s.Catalogue.Lookup(name); !ok || known || name == testPing {
		return name
	}
	detail := "type must be a single event type. GET /events/types lists all types."
	if refusal, ok := errors.AsType[*feedmill.Error](s.Catalogue.CheckSubscribed(name)); ok {
		detail = refusal.Detail
	}
	f.Fault(detail)
	return name
}

// sampleData reads the data of an event that is not published.
func sampleData(f strictjson.Field) []byte {
	if len(f.Raw) > feedmill.MaxEventBytes {
		f.Fault(fmt.Sprintf("data must have at most %d bytes.", feedmill.MaxEventBytes))
	}
	return f.Raw
}

// explainData makes a refusal of data that cannot be sent.
func explainData(err error, at string) error {
	var fault *jstext.Error
	if errors.As(err, &fault) {
		return feedmill.Invalid("", feedmill.Fault{Pointer: at + fault.Pointer, Detail: fault.Detail})
	}
	return err
}

// tryView is what a subscription would do with an event.
type tryView struct {
	Matches bool `json:"matches"`
	// Reason is one of a few words, null if the event would be sent.
	Reason *string `json:"reason"`
	Detail string  `json:"detail"`
	// Body and ContentType are what would be sent, null if nothing is.
	Body        *string `json:"body"`
	ContentType *string `json:"contentType"`
}

// previewSubscription shows what a subscription would do with an event.
func (s *Server) previewSubscription(c *call) (answer, error) {
	body, err := c.readObject()
	if err != nil {
		return answer{}, err
	}
	e := feedmill.NewEvent{}
	if f, ok := body.Need("event"); ok {
		e = s.readSample(f)
	}
	given, ok := body.Need("subscription")
	of, isObject := &strictjson.Object{}, false
	if ok {
		of, isObject = given.Object()
	}
	body.RefuseUnknown()
	if !isObject {
		return answer{}, cmp.Or(c.refusal(), feedmill.ErrInvalid)
	}
	sub, err := s.Subscriptions.Preview(c.ctx(), c.who.Workspace, of, &c.faults)
	if err != nil {
		return answer{}, err
	}
	payload, err := samplePayload(c.who.Workspace, e)
	if err != nil {
		return answer{}, explainData(err, "/event/data")
	}
	v, err := s.preview(c, sub, e, payload)
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, v), nil
}

// readSample reads an event that is not published.
func (s *Server) readSample(f strictjson.Field) (e feedmill.NewEvent) {
	o, ok := f.Object()
	if !ok {
		return e
	}
	defer o.RefuseUnknown()
	o.Get("id") // an event that was read can be sent as it is
	if f, ok := o.Need("type"); ok {
		e.Type = s.sampleType(f)
	}
	if f, ok := o.Given("timestamp"); ok {
		e.Timestamp, _ = readTime(f)
	}
	if f, ok := o.Given("resourceId"); ok {
		e.ResourceID, _ = f.Label(feedmill.MaxResourceIDLen)
	}
	if f, ok := o.Given("data"); ok {
		e.Data = sampleData(f)
	}
	return e
}

// samplePayload is the payload of an event that is not published.
func samplePayload(workspace feedmill.ID, e feedmill.NewEvent) ([]byte, error) {
	event := feedmill.Event{ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: workspace, Type: e.Type, Timestamp: e.Timestamp, ResourceID: e.ResourceID}
	if event.Timestamp.IsZero() {
		event.Timestamp = now()
	}
	return feedmill.RenderPayload(event, e.Data)
}

// limits reports whether the resource of a subscription applies to a type. If the
// subscription has both kinds of events, a data feed applies to one and other resources to
// the other.
func limits(sub feedmill.Subscription, name string) bool {
	both := slices.ContainsFunc(sub.Events, feedmill.IsSourceName) && !allSources(sub.Events)
	ofFeed := strings.HasPrefix(sub.ResourceID, feedmill.PrefixDataFeed+"_")
	return sub.ResourceID != "" && (!both || ofFeed == feedmill.IsSourceName(name))
}

func allSources(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !feedmill.IsSourceName(name) })
}

// preview compares a subscription, in its public form, with an event.
func (s *Server) preview(c *call, sub feedmill.Subscription, e feedmill.NewEvent, payload []byte) (tryView, error) {
	match := matchView{Matches: true, Detail: "The event matches the subscription."}
	switch {
	case !feedmill.Includes(sub.Events, e.Type):
		match = matchView{Reason: new(unmatchedType), Detail: fmt.Sprintf("The subscription does not include %s or its family.", e.Type)}
	case limits(sub, e.Type) && sub.ResourceID != e.ResourceID:
		match = matchView{Reason: new(unmatchedResource), Detail: "The subscription is limited to another resource."}
	case sub.Filter != "":
		match.filter(s.Expressions.Open(payload)(sub.Filter))
	}
	v := tryView{Matches: match.Matches, Reason: match.Reason, Detail: match.Detail}
	if !v.Matches {
		return v, nil
	}
	body := feedmill.Body{Bytes: payload, ContentType: feedmill.ContentJSON}
	if shape := sub.SentShape(); !shape.IsZero() {
		var err error
		body, err = s.Expressions.Body(c.ctx(), c.who.Workspace, shape, payload)
		if refusal, ok := errors.AsType[*feedmill.Error](err); ok {
			v.Reason, v.Detail = new(failedTransform), refusal.Detail
			return v, nil
		}
		if err != nil {
			return v, err
		}
	}
	if !sub.Delivery.Batch.IsZero() {
		body.Bytes, _ = feedmill.BatchBody([][]byte{body.Element()})
		body.ContentType = feedmill.ContentJSON
	}
	v.Body, v.ContentType = new(string(body.Bytes)), &body.ContentType
	return v, nil
}
