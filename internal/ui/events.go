package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// eventList is what happened, newest first, and goes on in a browser with scripts.
type eventList struct {
	Events []eventRow
	Older  string
	// Want are the filters, and Stream where the script hears of more.
	Want     struct{ Type, Resource, Since string }
	Filtered bool
	Types    []string
	Stream   string
	// First says that this is the newest page, to which more can come.
	First bool
}

type eventRow struct {
	client.Event
	Went []stateCount
}

// listedRoutes is how many deliveries the API names of a single event.
const listedRoutes = 100

func showEvents(v *visit) error {
	q := v.r.URL.Query()
	list := eventList{First: q.Get("cursor") == ""}
	list.Want.Type, list.Want.Resource, list.Want.Since = q.Get("type"), strings.TrimSpace(q.Get("resource")), q.Get("since")
	list.Filtered = list.Want.Type != "" || list.Want.Resource != "" || list.Want.Since != ""
	types, err := v.api.EventTypes(v.r.Context())
	if err != nil {
		return err
	}
	for _, t := range types {
		if t.Status != "available" {
			continue
		}
		if !slices.Contains(list.Types, t.Family) {
			list.Types = append(list.Types, t.Family)
		}
		list.Types = append(list.Types, t.Name)
	}
	found, older, err := pageOf(v, listedRecords, func() iter.Seq2[client.Event, error] {
		return v.api.Events(v.r.Context(), client.EventQuery{Type: list.Want.Type, ResourceID: list.Want.Resource, Since: sinceOf(list.Want.Since)})
	})
	if err != nil {
		return err
	}
	list.Older = older
	for _, e := range found {
		list.Events = append(list.Events, eventRow{e, wentTo(e.Counts)})
	}
	filters := url.Values{}
	if list.Want.Type != "" {
		filters.Set("type", list.Want.Type)
	}
	if list.Want.Resource != "" {
		filters.Set("resourceId", list.Want.Resource)
	}
	list.Stream = "/events/stream?" + filters.Encode()
	return v.render(http.StatusOK, "events", "Events", list)
}

// bodyOf is what is delivered for an event.
func bodyOf(e client.Event) []byte {
	body, err := feedmill.RenderPayload(feedmill.Event{ID: feedmill.ID(e.ID), Type: e.Type, Timestamp: e.Timestamp, ResourceID: e.ResourceID}, e.Data)
	if err != nil { // it was rendered once already
		return e.Data
	}
	return body
}

// wentTo are counts of deliveries in the order of their states.
func wentTo(of map[feedmill.DeliveryState]int) (counts []stateCount) {
	for _, state := range feedmill.DeliveryStates {
		if n := of[state]; n > 0 {
			counts = append(counts, stateCount{string(state), int64(n)})
		}
	}
	return counts
}

// eventPage is an event and where it went.
type eventPage struct {
	client.Event
	Body, Pretty string
	Curl         string
	Routes       []eventRoute
	// Went are its deliveries by state, and Others the subscriptions that did not get it.
	// More says that there may be others than are shown.
	Went   []stateCount
	Others []missedEvent
	More   bool
}

// missedEvent is a subscription that an event did not go to.
type missedEvent struct{ ID, Name, Why string }

// shownMissed is how many of them a page shows.
const shownMissed = 50

type eventRoute struct {
	client.EventRoute
	Subscription string
}

func showEvent(v *visit) error {
	e, err := v.api.Event(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	body := bodyOf(e)
	p := eventPage{Event: e, Body: string(body), Pretty: laidOut(string(body))}
	p.Curl = "curl -X POST " + baseOf(v.r) + "/events -H \"Authorization: Bearer $FEEDMILL_API_KEY\" -H 'Content-Type: application/json' \\\n  --data-raw " + shellQuote(publishable(e))
	names, got := make(map[string]string), make(map[string]bool)
	for _, r := range e.Deliveries {
		got[r.SubscriptionID] = true
	}
	v.api.PageSize = listedFeeds
	for s, err := range v.api.Subscriptions(v.r.Context()) {
		if err != nil {
			return err
		}
		names[s.ID] = nameOf(s)
		if !got[s.ID] {
			p.Others = append(p.Others, missedEvent{s.ID, nameOf(s), whyNot(s, e)})
		}
		if p.More = len(names) == listedFeeds; p.More {
			break
		}
	}
	p.Went = wentTo(e.Counts)
	if e.FanOut != nil || len(e.Deliveries) == listedRoutes { // who got it is not known whole
		p.Others, p.More = nil, true
	}
	if len(p.Others) > shownMissed {
		p.Others, p.More = p.Others[:shownMissed], true
	}
	for _, r := range e.Deliveries {
		p.Routes = append(p.Routes, eventRoute{r, names[r.SubscriptionID]})
	}
	if v.r.URL.Query().Has("part") { // for the list, which shows it in its row
		return v.part("event", p)
	}
	return v.render(http.StatusOK, "event", e.Type, p)
}

// whyNot says why an event did not go to a subscription.
func whyNot(s client.Subscription, e client.Event) string {
	family, _, _ := strings.Cut(e.Type, ".")
	if strings.HasPrefix(e.Type, "datafeed.source.") {
		family = "datafeed.source"
	}
	switch {
	case !slices.Contains(s.Events, e.Type) && !slices.Contains(s.Events, family+".*"):
		return "It subscribes to other types: " + strings.Join(s.Events, ", ") + "."
	case s.Filters.ResourceID != "" && s.Filters.ResourceID != e.ResourceID:
		return "It is limited to the resource " + s.Filters.ResourceID + "."
	}
	return "It was created or activated after the event. Replay missing events to deliver it."
}

// publishable is what publishes an event like this one.
func publishable(e client.Event) string {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	_ = out.Encode(struct {
		Type       string          `json:"type"`
		ResourceID string          `json:"resourceId,omitzero"`
		Data       json.RawMessage `json:"data"`
	}{e.Type, e.ResourceID, e.Data})
	return strings.TrimSpace(b.String())
}

// publishForm publishes an event.
type publishForm struct {
	Type, Resource, ID, Text string

	Types  []client.EventType
	Schema string
	Faults map[string]string
}

func (f *publishForm) show(v *visit, status int) error {
	types, err := v.api.EventTypes(v.r.Context())
	if err != nil {
		return err
	}
	for _, t := range types {
		if t.Status != "available" || t.Operational || strings.HasPrefix(t.Name, "datafeed.source.") {
			continue
		}
		if f.Types = append(f.Types, t); f.Type == "" {
			f.Type = t.Name
		}
		if t.Name == f.Type {
			f.Schema = laidOut(string(t.Schema))
		}
	}
	return v.render(status, "publish", "Publish event", f)
}

func showPublish(v *visit) error {
	q := v.r.URL.Query()
	f := publishForm{Type: q.Get("type"), Resource: q.Get("resource"), ID: q.Get("publisherId"), Text: q.Get("data")}
	if f.Text == "" {
		f.Text = "{}"
	}
	return f.show(v, http.StatusOK)
}

func publishEvent(v *visit) error {
	form := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	f := publishForm{Type: form("type"), Resource: form("resource"), ID: form("publisherId"), Text: form("data")}
	if fault := jsonFault(f.Text); fault != "" {
		f.Faults = map[string]string{"data": fault}
		return f.show(v, http.StatusUnprocessableEntity)
	}
	accepted, err := v.api.Publish(v.r.Context(), client.NewEvent{ID: f.ID, Type: f.Type, ResourceID: f.Resource, Data: json.RawMessage(f.Text)})
	if err != nil {
		faults, ok := faultsOf(err, "type", "resourceId", "id", "data")
		if !ok {
			return err
		}
		f.Faults = faults
		return f.show(v, http.StatusUnprocessableEntity)
	}
	return v.redirect("/ui/events/" + accepted.ID + "?did=published")
}

// jsonFault is why a text is not valid JSON, empty if it is.
func jsonFault(text string) string {
	var fault *json.SyntaxError
	if err := json.Unmarshal([]byte(text), new(any)); !errors.As(err, &fault) {
		return ""
	}
	before := text[:min(int(fault.Offset), len(text))]
	return fmt.Sprintf("The data is not valid JSON: %v, on line %d.", fault, strings.Count(before, "\n")+1)
}
