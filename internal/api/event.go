package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/jstext"
)

// EventStore has the events.
type EventStore interface {
	Events(ctx context.Context, workspace feedmill.ID, q feedmill.EventQuery) ([]feedmill.Event, error)
	Event(ctx context.Context, workspace, id feedmill.ID) (feedmill.Event, error)
	Fanouts(ctx context.Context, workspace feedmill.ID, events []feedmill.ID) (map[feedmill.ID]int, error)
	EventFiltered(ctx context.Context, workspace, event feedmill.ID) (feedmill.Filtered, error)
	EventRoutes(ctx context.Context, workspace feedmill.ID, events []feedmill.ID, limit int) (map[feedmill.ID][]feedmill.EventRoute, error)
	CountEvents(ctx context.Context, workspace feedmill.ID, from, to time.Time, limit int) (map[string]int, error)
	CountSubscribers(ctx context.Context, workspace feedmill.ID, name string, limit int) (int, error)
}

// publishFormats are the media types in which events are taken.
const publishFormats = "application/json, " + structuredMode + ", " + batchMode

func (s *Server) publishEvents(c *call) (answer, error) {
	events, form, err := s.readPublished(c)
	if err != nil {
		return answer{}, err
	}
	var keep func([]feedmill.Accepted) *feedmill.IdempotentResponse
	if c.idempotent != nil {
		keep = func(accepted []feedmill.Accepted) *feedmill.IdempotentResponse {
			return c.keepOrFail(func() answer { return acceptedAnswer(accepted) })
		}
	}
	accepted, err := s.Publisher.Publish(c.ctx(), c.who.Workspace, events, keep)
	if err != nil {
		return answer{}, form.explain(err)
	}
	return acceptedAnswer(accepted), nil
}

// readPublished reads the body in whatever form it comes.
func (s *Server) readPublished(c *call) ([]feedmill.NewEvent, eventForm, error) {
	if err := c.wantPlain(); err != nil {
		return nil, eventForm{}, err
	}
	mediaType, err := c.contentType()
	binary := c.isBinaryCloudEvent()
	switch {
	case err != nil:
		return nil, eventForm{}, unsupported(publishFormats)
	case mediaType == structuredMode, mediaType == batchMode, mediaType == "", mediaType == "application/json":
	case binary && isJSONType(mediaType):
	default:
		return nil, eventForm{}, unsupported(publishFormats)
	}
	data, err := c.readBody()
	if err != nil {
		return nil, eventForm{}, err
	}
	if mediaType == structuredMode || mediaType == batchMode {
		return s.readCloudEvents(c, data, mediaType)
	}
	if binary {
		form := eventForm{one: true, cloud: true, binary: true}
		e, err := c.readBinaryCloudEvent(data)
		return s.checkTypes(c, []feedmill.NewEvent{e}, form, err)
	}
	if events, one, ok := fastEvents(data, s.typeName); ok && len(c.faults.List) == 0 {
		return events, eventForm{one: one}, nil
	}
	events, form, err := c.readEvents(data, readPlainEvent)
	return s.checkTypes(c, events, form, err)
}

func (s *Server) readCloudEvents(c *call, data []byte, mediaType string) ([]feedmill.NewEvent, eventForm, error) {
	text := bytes.TrimLeft(data, " \t\r\n")
	if isArray := len(text) > 0 && text[0] == '['; len(text) > 0 && isArray != (mediaType == batchMode) {
		return nil, eventForm{}, c.malformed("", "A body of type "+structuredMode+" must be one event, and a body of type "+batchMode+" an array of events.")
	}
	events, form, err := c.readEvents(data, readCloudEvent)
	form.cloud = true
	return s.checkTypes(c, events, form, err)
}

// typeName finds the name of a type without making a text of it.
func (s *Server) typeName(text []byte) (string, bool) {
	t, ok := s.Catalogue.Lookup(string(text))
	return t.Name, ok
}

// checkTypes adds, to a refusal of events, what is wrong with their types. Of
// events that are otherwise right the publisher says so.
func (s *Server) checkTypes(c *call, events []feedmill.NewEvent, form eventForm, err error) ([]feedmill.NewEvent, eventForm, error) {
	var refusal *feedmill.Error
	if !errors.As(err, &refusal) || len(c.faults.List) == 0 || errors.Is(err, errAborted) {
		return events, form, err
	}
	for i, e := range events {
		var unknown *feedmill.Error
		if e.Type == "" || !errors.As(s.Catalogue.CheckPublished(e.Type), &unknown) {
			continue
		}
		at := feedmill.Fault{Pointer: "/" + strconv.Itoa(i) + "/type", Detail: unknown.Detail}
		if at = form.place(at); !slices.Contains(refusal.Faults, at) && len(refusal.Faults) < feedmill.MaxFaults {
			refusal.Faults = append(refusal.Faults, at)
		}
	}
	return events, form, refusal
}

// acceptedAnswer says what became of published events.
func acceptedAnswer(accepted []feedmill.Accepted) answer {
	b := make([]byte, 0, 16+128*len(accepted))
	b = append(b, `{"accepted":[`...)
	for i, a := range accepted {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"id":"`...), a.ID...)
		if b = append(b, '"'); a.PublisherID != "" {
			b = jstext.AppendString(append(b, `,"publisherId":`...), a.PublisherID)
		}
		b = jstext.AppendString(append(b, `,"type":`...), a.Type)
		b = append(strconv.AppendBool(append(b, `,"duplicate":`...), a.Duplicate), '}')
	}
	return answer{status: http.StatusAccepted, contentType: "application/json", body: append(b, "]}"...)}
}

func (s *Server) listEventTypes(c *call) (answer, error) {
	list := c.wholeList()
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	volume, err := s.volumeOf(c.ctx(), c.who.Workspace)
	if err != nil {
		return answer{}, err
	}
	types := s.Catalogue.Types()
	views := make([]client.EventType, len(types))
	for i, t := range types {
		status := "unavailable"
		if t.Available {
			status = "available"
		}
		views[i] = client.EventType{Name: t.Name, Family: t.Family, Status: status, Operational: t.Operational, Description: t.Description, Schema: t.Schema, Volume24h: volume.of(t.Name), Subscribers: volume.subscribers[t.Name]}
	}
	return wholeAnswer(c, list, views, func(v client.EventType) string { return v.Name })
}

// eventView is an event as it was delivered, with what only its publisher and
// the reader of this answer know.
type eventView struct {
	ID          feedmill.ID    `json:"id"`
	PublisherID string         `json:"publisherId,omitzero"`
	Type        string         `json:"type"`
	Timestamp   timestamp      `json:"timestamp"`
	ResourceID  *string        `json:"resourceId"`
	Data        jsontext.Value `json:"data"`
	// Deliveries are the first of them.
	Deliveries []client.EventRoute `json:"deliveries"`
	// Size is how many bytes are delivered.
	Size int `json:"size"`
	// Counts are how many deliveries there are of each state, and CountsAtLeast says that
	// there are more than were counted.
	Counts        map[feedmill.DeliveryState]int `json:"counts"`
	CountsAtLeast bool                           `json:"countsAtLeast,omitzero"`
	// Match says whether the event is for a subscription, where that was asked.
	Match *matchView `json:"match,omitzero"`
	// FanOut is there while deliveries of it are still being made.
	FanOut *client.FanOut `json:"fanOut,omitzero"`
	// Filtered is there if filters of subscriptions did not match.
	Filtered *client.EventFiltered `json:"filtered,omitzero"`
}

func viewEvent(e feedmill.Event) eventView {
	v := eventView{ID: e.ID, PublisherID: e.PublisherID, Type: e.Type, Timestamp: timestamp(e.Timestamp), Data: payloadData(e.Payload), Size: len(e.Payload)}
	if e.ResourceID != "" {
		v.ResourceID = &e.ResourceID
	}
	return v
}

// payloadData is the data within a payload.
func payloadData(payload []byte) jsontext.Value {
	s := eventScanner{text: payload, pos: 1}
	for s.text[s.pos] != '}' {
		key := s.skip()
		s.pos++
		value := s.skip()
		if string(key) == `"data"` {
			return value
		}
		s.pos++
	}
	return jsontext.Value("{}")
}

// typeParameter reads the type of events that is asked for. A family, which
// subscriptions may name, would find nothing, and looks as if there were nothing.
func (c *call) typeParameter() string {
	name := c.query["type"]
	if strings.Contains(name, "*") {
		c.fault(feedmill.Fault{Parameter: "type", Detail: "type must be a single event type, such as metric.created. Only subscriptions accept families."})
	}
	return name
}

// maxTypes is how many types a list of events can be narrowed to, as subscriptions can.
const maxTypes = 100

// typesParameter reads the types of events that are asked for, with commas between them; a
// family stands for all of its types.
func (s *Server) typesParameter(c *call) (names []string) {
	text := c.query["type"]
	if text == "" {
		return nil
	}
	for name := range strings.SplitSeq(text, ",") {
		if !strings.Contains(name, "*") {
			names = append(names, name)
			continue
		}
		before := len(names)
		for _, t := range s.Catalogue.Types() {
			if t.Family == name {
				names = append(names, t.Name)
			}
		}
		if len(names) == before {
			c.fault(feedmill.Fault{Parameter: "type", Detail: "Unknown event family. GET /events/types lists all families."})
		}
	}
	if len(names) > maxTypes {
		c.fault(feedmill.Fault{Parameter: "type", Detail: fmt.Sprintf("type matches more than %d event types, the maximum. Omit the parameter to list all events.", maxTypes)})
	}
	return names
}

func (s *Server) listEvents(c *call) (answer, error) {
	q := feedmill.EventQuery{Types: s.typesParameter(c), ResourceID: c.query["resourceId"], Since: c.timeParameter("since")}
	p, err := c.page(feedmill.PrefixEvent)
	if err != nil {
		return answer{}, err
	}
	q.Page, q.MaxBytes = p, maxListBytes
	q.Limit++ // to know whether there are more
	if err := c.takeList(); err != nil {
		return answer{}, err
	}
	events, err := s.Store.Events(c.ctx(), c.who.Workspace, q)
	if err != nil {
		return answer{}, err
	}
	views, err := s.routedEvents(c.ctx(), c.who.Workspace, events[:min(q.Fit(events), p.Limit)], maxListedRoutes, maxListedCounts)
	if err != nil {
		return answer{}, err
	}
	a := jsonAnswer(http.StatusOK, views)
	if len(views) < len(events) {
		c.linkNext(&a, views[len(views)-1].ID)
	}
	return a, nil
}

// maxListBytes is how large the payloads of a page of events get; the page ends
// with the event with which they do.
const maxListBytes = 1 << 20

// How many deliveries the answer about an event names, and each item of a list, and how
// many of them are counted by their states.
const (
	maxRoutes       = 100
	maxListedRoutes = 10
	maxCounts       = 10_000
	maxListedCounts = 100
)

// routedEvents are events, each with the first of its deliveries: most are named, and counted
// of them counted.
func (s *Server) routedEvents(ctx context.Context, workspace feedmill.ID, events []feedmill.Event, most, counted int) ([]eventView, error) {
	views := make([]eventView, len(events))
	ids := make([]feedmill.ID, len(events))
	for i, e := range events {
		views[i], ids[i] = viewEvent(e), e.ID
	}
	routes, err := s.Store.EventRoutes(ctx, workspace, ids, counted+1)
	if err != nil {
		return nil, err
	}
	making, err := s.Store.Fanouts(ctx, workspace, ids)
	if err != nil {
		return nil, err
	}
	for i := range views {
		v := &views[i]
		if made, ok := making[v.ID]; ok {
			v.FanOut = &client.FanOut{State: "making", Made: made}
		}
		v.Deliveries, v.Counts, v.CountsAtLeast = []client.EventRoute{}, make(map[feedmill.DeliveryState]int), len(routes[v.ID]) > counted
		for i, r := range routes[v.ID][:min(len(routes[v.ID]), counted)] {
			state := s.stateNow(r.Delivery, r.State)
			if v.Counts[state]++; i < most {
				v.Deliveries = append(v.Deliveries, client.EventRoute{ID: string(r.Delivery), SubscriptionID: string(r.Subscription), State: state})
			}
		}
	}
	return views, nil
}

func (s *Server) getEvent(c *call) (answer, error) {
	if text, given := c.query["subscriptionId"]; given && !feedmill.IsID(feedmill.PrefixSubscription, text) {
		c.fault(feedmill.Fault{Parameter: "subscriptionId", Detail: "subscriptionId must be the ID of a subscription, such as sub_…."})
	}
	if err := c.refusal(); err != nil {
		return answer{}, err
	}
	id, err := feedmill.ParseID(feedmill.PrefixEvent, c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	e, err := s.Store.Event(c.ctx(), c.who.Workspace, id)
	if err != nil {
		return answer{}, err
	}
	views, err := s.routedEvents(c.ctx(), c.who.Workspace, []feedmill.Event{e}, maxRoutes, maxCounts)
	if err != nil {
		return answer{}, err
	}
	if views[0].Match, err = s.matchOf(c, e); err != nil {
		return answer{}, err
	}
	filtered, err := s.Store.EventFiltered(c.ctx(), c.who.Workspace, id)
	if err != nil {
		return answer{}, err
	}
	if filtered.Count > 0 {
		views[0].Filtered = &client.EventFiltered{Count: filtered.Count}
		for _, sub := range filtered.Subscriptions {
			views[0].Filtered.SubscriptionIDs = append(views[0].Filtered.SubscriptionIDs, string(sub))
		}
	}
	return jsonAnswer(http.StatusOK, resource{resourceMeta{"/events/" + string(id)}, views[0]}), nil
}
