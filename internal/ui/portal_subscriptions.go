package ui

import (
	"cmp"
	"fmt"
	"html/template"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// portalEndpointsShown is how many endpoints a page of the portal lists, each with its
// statistics, and portalDeliveriesShown how many deliveries of all of them.
const portalEndpointsShown, portalDeliveriesShown = 10, 20

// portalEndpoints is the page of the endpoints, which are subscriptions.
type portalEndpoints struct {
	Endpoints  []portalEndpoint
	Older      string
	Delivered  int64
	Deliveries []portalDelivery
	Form       *portalForm
}

// portalEndpoint is an endpoint with its health.
type portalEndpoint struct {
	withHealth
	Title, Advice string
	Bars          template.HTML
}

// LastStatus is the text of the status that the endpoint returned last, empty for none.
func (e portalEndpoint) LastStatus() string {
	status, _ := strconv.Atoi(e.Words.Why)
	return http.StatusText(status)
}

// portalDelivery is a delivery with the name of its endpoint.
type portalDelivery struct {
	client.Delivery
	Endpoint string
}

// portalForm creates or changes an endpoint.
type portalForm struct {
	// ID is that of the endpoint that is changed.
	ID, Name, URL string
	Events        []string
	Choices       []eventChoice
	Faults        map[string]string
}

// Chosen counts the events that are chosen.
func (f *portalForm) Chosen() (n int) {
	for _, c := range f.Choices {
		if c.Checked {
			n++
		}
	}
	return n
}

// prepare lists the events. A family that an endpoint already has stays a choice.
func (f *portalForm) prepare(p *portal) error {
	types, err := p.eventTypes()
	if err != nil {
		return err
	}
	for _, name := range f.Events {
		if !slices.ContainsFunc(types, func(t client.EventType) bool { return t.Name == name }) {
			f.Choices = append(f.Choices, eventChoice{client.EventType{Name: name, Description: "Every event of this kind."}, true})
		}
	}
	for _, t := range types {
		f.Choices = append(f.Choices, eventChoice{t, slices.Contains(f.Events, t.Name)})
	}
	return nil
}

func showEndpoints(p *portal) error { return p.endpoints(http.StatusOK, new(portalForm)) }

// endpoints shows all endpoints, with the form for another one.
func (p *portal) endpoints(status int, form *portalForm) error {
	found, older, err := pageOf(p.visit, portalEndpointsShown, func() iter.Seq2[client.Subscription, error] { return p.api.Subscriptions(p.r.Context()) })
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(s client.Subscription) bool { return s.AlertID != "" }) // they are no endpoints
	page := portalEndpoints{Older: older}
	for _, w := range withHealthOf(p.visit, found) {
		stats, err := p.api.SubscriptionStats(p.r.Context(), w.ID, time.Time{})
		if err != nil {
			return err
		}
		page.Delivered += stats.Delivered
		page.Endpoints = append(page.Endpoints, portalEndpoint{w, nameOf(w.Subscription), adviceFor(w.Words.Why), attemptBars(stats, time.Now())})
		p.api.PageSize = portalDeliveriesShown
		n := 0
		for d, err := range p.api.Deliveries(p.r.Context(), w.ID, client.DeliveryQuery{}) {
			if err != nil {
				return err
			}
			page.Deliveries = append(page.Deliveries, portalDelivery{d, nameOf(w.Subscription)})
			if n++; n == portalDeliveriesShown {
				break
			}
		}
	}
	slices.SortStableFunc(page.Deliveries, func(a, b portalDelivery) int { return b.CreatedAt.Compare(a.CreatedAt) })
	page.Deliveries = page.Deliveries[:min(len(page.Deliveries), portalDeliveriesShown)]
	if p.link.Access == feedmill.PortalWrite {
		if err := form.prepare(p); err != nil {
			return err
		}
		page.Form = form
	}
	return p.show(status, "portal_subscriptions", "Webhooks", page)
}

// adviceFor says what to do about an endpoint that fails, by its status or kind of failure.
func adviceFor(why string) string {
	status, _ := strconv.Atoi(why)
	switch {
	case why == "":
		return ""
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "The endpoint rejects the request. Check its credential or signing secret."
	case status == http.StatusNotFound || status == http.StatusGone:
		return "The endpoint does not know the URL. Check its path."
	case status >= http.StatusInternalServerError:
		return "The endpoint reports an error of its own. Check its log."
	case status >= http.StatusMultipleChoices:
		return "Only a 2xx response counts as delivered."
	case why == "TLS":
		return "The certificate of the endpoint could not be verified. Renew it or fix its chain."
	case why == "DNS":
		return "The host of the URL was not found. Check its name."
	}
	return "The endpoint did not respond. Check that it is running and reachable."
}

// attemptBars draws a bar for each of the last 24 hours, with the share of its attempts that
// failed from below. An hour without attempts is a stub.
func attemptBars(s client.SubscriptionStats, now time.Time) template.HTML {
	const hours, pitch, high = 24, 4, 16
	var delivered, failed [hours]int64
	first := now.Truncate(time.Hour).Add(-(hours - 1) * time.Hour)
	for _, b := range s.Buckets {
		if at := int(b.From.Sub(first) / time.Hour); !b.From.Before(first) && at < hours {
			delivered[at], failed[at] = delivered[at]+b.Delivered, failed[at]+b.Failed
		}
	}
	var b strings.Builder
	for at := range hours {
		all, x := delivered[at]+failed[at], at*pitch
		from := first.Add(time.Duration(at) * time.Hour).UTC()
		fmt.Fprintf(&b, `<g><title>%s to %s UTC: %d delivered, %d failed</title>`, from.Format("15:04"), from.Add(time.Hour).Format("15:04"), delivered[at], failed[at])
		switch {
		case all == 0:
			fmt.Fprintf(&b, `<rect class="none" x="%d" y="%d" width="%d" height="2"/>`, x, high-2, pitch-1)
		default:
			fmt.Fprintf(&b, `<rect x="%d" width="%d" height="%d"/>`, x, pitch-1, high)
		}
		if failed[at] > 0 {
			part := max(float64(failed[at])/float64(all)*high, 2)
			fmt.Fprintf(&b, `<rect class="bad" x="%d" y="%.1f" width="%d" height="%.1f"/>`, x, high-part, pitch-1, part)
		}
		b.WriteString("</g>")
	}
	return template.HTML(fmt.Sprintf(`<svg class="hours" role="img" aria-label="%d delivered and %d failed attempts in the last 24 hours" width="%d" height="%d" viewBox="0 0 %d %d">%s</svg>`,
		s.Delivered, s.Failed, hours*pitch, high, hours*pitch, high, b.String()))
}

// readEndpoint reads the form of an endpoint.
func (p *portal) readEndpoint() *portalForm {
	return &portalForm{Name: strings.TrimSpace(p.r.PostFormValue("name")), URL: strings.TrimSpace(p.r.PostFormValue("url")), Events: p.r.PostForm["events"]}
}

// endpointFields are the members of a subscription that the form has fields for.
var endpointFields = []string{"name", "url", "events"}

// faulty shows a form again with what the API says of its fields.
func (f *portalForm) faulty(err error, show func(int, *portalForm) error) error {
	faults, ok := faultsOf(err, endpointFields...)
	if !ok {
		return err
	}
	f.Faults = faults
	return show(http.StatusUnprocessableEntity, f)
}

func createEndpoint(p *portal) error {
	f := p.readEndpoint()
	operation := ""
	if isWebhook(f.URL) {
		operation = http.MethodPost
	}
	made, err := p.api.CreateSubscription(p.r.Context(), client.NewSubscription{Name: f.Name, URL: f.URL, Events: f.Events, HTTPOperation: operation})
	if err != nil {
		return f.faulty(err, p.endpoints)
	}
	return p.show(http.StatusOK, "portal_secret", "Signing secret", portalSecret{Made: made.Created, Failed: made.Failed})
}

// portalSecret shows secrets, once.
type portalSecret struct {
	Made    []client.Subscription
	Failed  []client.SubscriptionFailure
	Rotated bool
}

// Address is where the endpoint is, whose secret is not shown again.
func (s portalSecret) Address() string {
	if len(s.Made) == 1 {
		return endpointPath(s.Made[0].ID)
	}
	return "/portal/subscriptions"
}

// Snippets verify a signature.
func (portalSecret) Snippets() []snippet { return verifySnippets }

func endpointPath(id string) string { return "/portal/subscriptions/" + id }

// endpointPage is an endpoint with its deliveries and, for a session that can write, the form
// that changes it.
type endpointPage struct {
	portalEndpoint
	Stats      client.SubscriptionStats
	Deliveries []client.Delivery
	Older      string
	State      string
	States     []stateLink
	Ping       *client.Ping
	Replay     *client.Replay
	Form       *portalForm
	Faults     map[string]string
}

func showEndpoint(p *portal) error { return p.endpoint(http.StatusOK, nil, nil) }

// endpoint shows an endpoint, with a form that was refused and with a test that was sent.
func (p *portal) endpoint(status int, form *portalForm, ping *client.Ping) error {
	ctx := p.r.Context()
	s, err := p.api.Subscription(ctx, p.r.PathValue("id"))
	if err != nil {
		return err
	}
	page := endpointPage{State: p.r.URL.Query().Get("state"), Ping: ping}
	w := withHealthOf(p.visit, []client.Subscription{s})[0]
	if page.Stats, err = p.api.SubscriptionStats(ctx, s.ID, time.Time{}); err != nil {
		return err
	}
	page.portalEndpoint = portalEndpoint{w, nameOf(s), adviceFor(w.Words.Why), attemptBars(page.Stats, time.Now())}
	counts, err := p.api.CountDeliveries(ctx, s.ID, client.DeliveryQuery{})
	if err != nil {
		return err
	}
	chosen := subscriptionPage{}
	here := *p.r.URL
	here.Path = endpointPath(s.ID)
	wanted := chosen.choose(&here, counts)
	page.States = chosen.States
	page.Deliveries, page.Older, err = pageOf(p.visit, portalDeliveriesShown, func() iter.Seq2[client.Delivery, error] {
		return p.api.Deliveries(ctx, s.ID, client.DeliveryQuery{States: wanted})
	})
	if err != nil {
		return err
	}
	if id := p.r.URL.Query().Get("replay"); id != "" {
		if r, err := p.api.Replay(ctx, s.ID, id); err == nil {
			page.Replay = &r
		}
	}
	if p.link.Access == feedmill.PortalWrite {
		if form == nil {
			form = &portalForm{Name: s.Name, URL: s.URL, Events: s.Events}
		}
		form.ID = s.ID
		if err := form.prepare(p); err != nil {
			return err
		}
		page.Form = form
	}
	return p.show(status, "portal_subscription", page.Title, page)
}

func changeEndpoint(p *portal) error {
	f := p.readEndpoint()
	change := client.SubscriptionChange{Name: client.To(f.Name), URL: f.URL, Events: f.Events}
	if strings.HasSuffix(f.URL, "/"+feedmill.Hidden) {
		change.URL = "" // it is not shown, and stays
	}
	if len(f.Events) == 0 {
		f.Faults = map[string]string{"events": "Choose at least one event."}
		return p.endpoint(http.StatusUnprocessableEntity, f, nil)
	}
	id := p.r.PathValue("id")
	if _, err := p.api.ChangeSubscription(p.r.Context(), id, change); err != nil {
		return f.faulty(err, func(status int, f *portalForm) error { return p.endpoint(status, f, nil) })
	}
	return p.done(endpointPath(id), "saved")
}

func testEndpoint(p *portal) error {
	ping, err := p.api.TestSubscription(p.r.Context(), p.r.PathValue("id"), client.TestEvent{})
	if err != nil {
		return err
	}
	return p.endpoint(http.StatusOK, nil, &ping)
}

// actEndpoint is an action on an endpoint that leads back to its page.
func actEndpoint(do func(*visit, string) error, what string) func(*portal) error {
	return func(p *portal) error {
		id := p.r.PathValue("id")
		if err := do(p.visit, id); err != nil {
			return err
		}
		return p.done(endpointPath(id), what)
	}
}

func deleteEndpoint(p *portal) error {
	if err := deleteSubscription(p.visit, p.r.PathValue("id")); err != nil {
		return err
	}
	return p.done("/portal/subscriptions", "deleted")
}

func rotateEndpoint(p *portal) error {
	overlap, err := feedmill.ParseDuration(cmp.Or(p.r.PostFormValue("overlap"), "24h"))
	if err != nil {
		return &client.Problem{Status: http.StatusBadRequest, Title: "Choose an overlap", Detail: "The secret was not changed."}
	}
	s, err := p.api.RotateSecret(p.r.Context(), p.r.PathValue("id"), overlap)
	if err != nil {
		return err
	}
	return p.show(http.StatusOK, "portal_secret", "The new signing secret", portalSecret{Made: []client.Subscription{s}, Rotated: true})
}

// replayEndpoint delivers events of a period again.
func replayEndpoint(p *portal) error {
	id, since := p.r.PathValue("id"), sinceOf(p.r.PostFormValue("span"))
	if since.IsZero() {
		return &client.Problem{Status: http.StatusBadRequest, Title: "Choose a period", Detail: "Nothing was replayed."}
	}
	r, err := p.api.ReplaySubscription(p.r.Context(), id, client.ReplayRange{Since: since, State: feedmill.ReplaySelection(p.r.PostFormValue("state"))})
	if err != nil {
		return err
	}
	return p.redirect(endpointPath(id) + "?did=replaying&replay=" + r.ID)
}

func cancelEndpointReplay(p *portal) error {
	id, rid := p.r.PathValue("id"), p.r.PathValue("rid")
	if _, err := p.api.CancelReplay(p.r.Context(), id, rid); err != nil {
		return err
	}
	return p.redirect(endpointPath(id) + "?did=cancelled&replay=" + rid)
}

// showPortalDelivery shows a delivery and one of its attempts.
func showPortalDelivery(p *portal) error {
	d, err := p.api.Delivery(p.r.Context(), p.r.PathValue("id"))
	if err != nil {
		return err
	}
	s, err := p.api.Subscription(p.r.Context(), d.SubscriptionID)
	gone := isNotThere(err)
	if err != nil && !gone {
		return err
	}
	page := newDeliveryPage(d, s, gone, p.r.URL.Query().Get("attempt"))
	return p.show(http.StatusOK, "portal_delivery", d.Type, page)
}

func retryPortalDelivery(p *portal) error {
	id := p.r.PathValue("id")
	if err := retryDelivery(p.visit, id); err != nil {
		return err
	}
	return p.done("/portal/deliveries/"+id, "retrying")
}
