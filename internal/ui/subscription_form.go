package ui

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// subscriptionForm makes or changes a subscription. Its fields are as they were sent,
// or as they are.
type subscriptionForm struct {
	// ID is that of the one that is changed.
	ID, Title                                                      string
	Name, URL, HTTPOperation, Resource, Timeout, Concurrency, Rate string
	Ordered                                                        bool
	Events                                                         []string
	Every                                                          bool

	Families []eventFamily
	Feeds    []client.DataFeed
	Faults   map[string]string
}

// eventFamily is a family of the catalogue, with its types.
type eventFamily struct {
	Name    string
	Checked bool
	Types   []eventChoice
}

type eventChoice struct {
	client.EventType
	Checked bool
}

// prepare fills in what the form lets people choose from.
func (f *subscriptionForm) prepare(v *visit) error {
	types, err := v.api.EventTypes(v.r.Context())
	if err != nil {
		return err
	}
	f.Every = slices.Contains(f.Events, feedmill.EveryEvent)
	for _, t := range types {
		if t.Status != "available" {
			continue
		}
		if n := len(f.Families); n == 0 || f.Families[n-1].Name != t.Family {
			f.Families = append(f.Families, eventFamily{Name: t.Family, Checked: slices.Contains(f.Events, t.Family)})
		}
		last := &f.Families[len(f.Families)-1]
		last.Types = append(last.Types, eventChoice{t, slices.Contains(f.Events, t.Name)})
	}
	v.api.PageSize = listedFeeds
	for feed, err := range v.api.DataFeeds(v.r.Context()) {
		if err != nil {
			return err
		}
		if f.Feeds = append(f.Feeds, feed); len(f.Feeds) == listedFeeds {
			break
		}
	}
	return nil
}

func (f *subscriptionForm) show(v *visit, status int) error {
	if err := f.prepare(v); err != nil {
		return err
	}
	return v.render(status, "subscription_form", f.Title, f)
}

func showNewSubscription(v *visit) error {
	f := subscriptionForm{Title: "New subscription", HTTPOperation: "POST"}
	if feed := v.r.URL.Query().Get("feed"); feed != "" {
		f.Resource, f.Events = feed, []string{"datafeed.source.*"}
	}
	return f.show(v, http.StatusOK)
}

func showEditSubscription(v *visit) error {
	s, err := v.api.Subscription(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	f := subscriptionForm{
		ID: s.ID, Title: "Change " + nameOf(s), Name: s.Name, URL: s.URL, HTTPOperation: s.HTTPOperation, Resource: s.Filters.ResourceID, Events: s.Events,
		Timeout: s.Delivery.Timeout.String(), Concurrency: strconv.Itoa(s.Delivery.Concurrency), Ordered: s.Delivery.Ordered,
	}
	if s.Delivery.RateLimit != nil {
		f.Rate = strconv.Itoa(s.Delivery.RateLimit.Requests)
	}
	return f.show(v, http.StatusOK)
}

// subscriptionFields are the parts of a subscription that the form has fields for.
var subscriptionFields = []string{"name", "url", "events", "httpOperation", "filters", "delivery/timeout", "delivery/concurrency", "delivery/rateLimit"}

// readSubscription reads what was sent. What is no number or time is a fault of
// its field, as what the API refuses is.
func readSubscription(v *visit) (f subscriptionForm, timeout client.Duration, concurrency int, rate *client.RateLimit) {
	form := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	f = subscriptionForm{
		Name: form("name"), URL: form("url"), HTTPOperation: form("httpOperation"), Resource: form("resource"), Timeout: form("timeout"),
		Concurrency: form("concurrency"), Rate: form("rate"), Ordered: form("ordered") != "", Events: v.r.PostForm["events"], Faults: make(map[string]string),
	}
	if f.Timeout != "" {
		d, err := feedmill.ParseDuration(f.Timeout)
		if err != nil {
			f.Faults["delivery/timeout"] = "Enter a duration such as 15s."
		}
		timeout = client.Duration(d)
	}
	if slices.Contains(f.Events, feedmill.EveryEvent) {
		f.Events = []string{feedmill.EveryEvent} // it includes the others
	}
	whole := func(text, field string) int {
		if text == "" {
			return 0
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			f.Faults[field] = "Enter a number of at least 1."
		}
		return n
	}
	concurrency = whole(f.Concurrency, "delivery/concurrency")
	if n := whole(f.Rate, "delivery/rateLimit"); n > 0 {
		rate = &client.RateLimit{Requests: n}
	}
	return f, timeout, concurrency, rate
}

// secretPage shows secrets, once.
type secretPage struct {
	Made     []client.Subscription
	Failed   []client.SubscriptionFailure
	Rotated  bool
	Snippets []snippet
}

// Address is where the subscription is, whose secret is not shown again.
func (p secretPage) Address() string {
	if len(p.Made) == 1 {
		return subscriptionPagePath(p.Made[0].ID)
	}
	return toSubscriptions("")
}

func createSubscription(v *visit) error {
	f, timeout, concurrency, rate := readSubscription(v)
	f.Title = "New subscription"
	if len(f.Faults) > 0 {
		return f.show(v, http.StatusUnprocessableEntity)
	}
	if !isWebhook(f.URL) {
		f.HTTPOperation = ""
	}
	made, err := v.api.CreateSubscription(v.r.Context(), client.NewSubscription{
		Name: f.Name, URL: f.URL, Events: f.Events, HTTPOperation: f.HTTPOperation, Filters: client.Filters{ResourceID: f.Resource},
		Delivery: client.NewDelivery{Timeout: timeout, Concurrency: concurrency, RateLimit: rate, Ordered: f.Ordered},
	})
	if err != nil {
		return f.refuse(v, err)
	}
	return v.render(http.StatusOK, "subscription_secret", "Signing secret", secretPage{Made: made.Created, Failed: made.Failed, Snippets: verifySnippets})
}

func changeSubscription(v *visit) error {
	f, timeout, concurrency, rate := readSubscription(v)
	f.ID, f.Title = v.r.PathValue("id"), "Change "+f.Name
	if len(f.Faults) > 0 {
		return f.show(v, http.StatusUnprocessableEntity)
	}
	delivery := client.DeliveryChange{Ordered: client.To(f.Ordered), RateLimit: client.Reset[client.RateLimit](), Timeout: client.Reset[client.Duration](), Concurrency: client.Reset[int]()}
	if rate != nil {
		delivery.RateLimit = client.To(*rate)
	}
	if timeout > 0 {
		delivery.Timeout = client.To(timeout)
	}
	if concurrency > 0 {
		delivery.Concurrency = client.To(concurrency)
	}
	change := client.SubscriptionChange{
		Name: client.To(f.Name), URL: f.URL, Events: f.Events, HTTPOperation: client.To(f.HTTPOperation), Filters: client.Reset[client.Filters](), Delivery: client.To(delivery),
	}
	if strings.HasSuffix(f.URL, "/"+feedmill.Hidden) {
		change.URL = "" // it is not shown, and stays
	}
	if !isWebhook(f.URL) {
		change.HTTPOperation = client.Reset[string]()
	}
	if f.Resource != "" {
		change.Filters = client.To(client.Filters{ResourceID: f.Resource})
	}
	if _, err := v.api.ChangeSubscription(v.r.Context(), f.ID, change); err != nil {
		return f.refuse(v, err)
	}
	return v.redirect(subscriptionPagePath(f.ID) + "?did=saved")
}

// isWebhook reports whether a URL is not that of a broker, so that its method applies.
func isWebhook(url string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(url), ":")
	return scheme == "https" || scheme == "http"
}

// refuse shows the form again with what the API says of its fields. That a feed to
// filter by is not there is a 404 as well.
func (f *subscriptionForm) refuse(v *visit, err error) error {
	faults, ok := faultsOf(err, subscriptionFields...)
	if !ok {
		return err
	}
	if p, is := errors.AsType[*client.Problem](err); is && p.Status == http.StatusNotFound && f.Resource != "" {
		faults = map[string]string{"filters": p.Detail}
	}
	f.Faults = faults
	return f.show(v, http.StatusUnprocessableEntity)
}
