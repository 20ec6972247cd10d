package ui

import (
	"cmp"
	"fmt"
	"html/template"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// subscriptionPage is a subscription with its deliveries.
type subscriptionPage struct {
	client.Subscription
	Title      string
	Limits     string
	Deliveries []client.Delivery
	Older      string
	// Want are the filters of the list, State with commas between several, and the others the
	// choices that there are.
	Want   struct{ State, Type, Since string }
	States []stateLink
	Types  []string
	Ping   *client.Ping

	// Words are its health.
	Words health
	// Stats are of the last 24 hours.
	Stats client.SubscriptionStats
	Strip template.HTML
	Plots []plot
}

// stateLink is a state to choose or, where it is chosen, to leave out; To is the list then.
type stateLink struct {
	State, To, Count string
	Chosen           bool
}

// countedDeliveries is how far the API counts deliveries of a state.
const countedDeliveries = 1000

// choose takes the states that are wanted from the address, and makes the links that add one
// to them or take one away.
func (p *subscriptionPage) choose(here *url.URL, counts map[feedmill.DeliveryState]int64) (wanted []feedmill.DeliveryState) {
	for _, state := range feedmill.DeliveryStates {
		if slices.Contains(strings.Split(here.Query().Get("state"), ","), string(state)) {
			wanted = append(wanted, state)
		}
	}
	for _, state := range feedmill.DeliveryStates {
		link := stateLink{State: string(state), Count: number(counts[state])}
		if counts[state] >= countedDeliveries {
			link.Count += "+"
		}
		var others []string
		for _, other := range feedmill.DeliveryStates {
			chosen := slices.Contains(wanted, other)
			if other == state {
				link.Chosen, chosen = chosen, !chosen
			}
			if chosen {
				others = append(others, string(other))
			}
		}
		link.To = with(here, "state", strings.Join(others, ","), "cursor", "")
		p.States = append(p.States, link)
	}
	return wanted
}

// why is what became of the last attempt of a delivery, in words.
func why(d client.Delivery) string {
	a := d.LastAttempt
	if a == nil {
		return d.Reason
	}
	text := a.Error
	if a.Status != 0 {
		text = strings.TrimSpace(strconv.Itoa(a.Status) + " " + http.StatusText(a.Status))
	}
	if d.State != feedmill.DeliveryDelivered && d.Reason != "" && d.Reason != text {
		text = strings.TrimPrefix(text+", "+d.Reason, ", ")
	}
	return text
}

// spans are the times that lists can be narrowed to.
var spans = []struct {
	Name, Words string
	length      time.Duration
}{
	{"1h", "Last hour", time.Hour},
	{"24h", "Last 24 hours", 24 * time.Hour},
	{"7d", "Last 7 days", 7 * 24 * time.Hour},
}

// sinceOf is the beginning of a span that ends now; zero for one that is not known.
func sinceOf(name string) time.Time {
	for _, s := range spans {
		if s.Name == name {
			return time.Now().Add(-s.length)
		}
	}
	return time.Time{}
}

func showSubscription(v *visit) error { return subscriptionWith(v, nil) }

// subscriptionWith shows a subscription, with what a test brought where one was made.
func subscriptionWith(v *visit, ping *client.Ping) error {
	s, err := v.api.Subscription(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	here := &url.URL{Path: subscriptionPagePath(s.ID), RawQuery: v.r.URL.RawQuery}
	q := here.Query()
	p := subscriptionPage{Subscription: s, Title: nameOf(s), Limits: limitsOf(s.Delivery), Ping: ping, Words: withHealthOf(v, []client.Subscription{s})[0].Words}
	p.Want.State, p.Want.Type, p.Want.Since = q.Get("state"), q.Get("type"), q.Get("since")
	filter := client.DeliveryQuery{Type: p.Want.Type, Since: sinceOf(p.Want.Since)}
	counts, err := v.api.CountDeliveries(v.r.Context(), s.ID, filter)
	if err != nil {
		return err
	}
	filter.States = p.choose(here, counts)
	if p.Stats, err = v.api.SubscriptionStats(v.r.Context(), s.ID, time.Time{}); err != nil {
		return err
	}
	if p.Stats.Delivered+p.Stats.Failed > 0 {
		now := time.Now()
		p.Plots, p.Strip = statsPlots(p.Stats, now), healthStrip(p.Stats, now)
	}
	types, err := v.api.EventTypes(v.r.Context())
	if err != nil {
		return err
	}
	for _, t := range types {
		if t.Status == "available" && picks(s.Events, t) {
			p.Types = append(p.Types, t.Name)
		}
	}
	p.Deliveries, p.Older, err = pageOf(v, listedRecords, func() iter.Seq2[client.Delivery, error] {
		return v.api.Deliveries(v.r.Context(), s.ID, filter)
	})
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "subscription", p.Title, p)
}

// statsPlots draws the attempts and the latencies of a day, its empty quarters of an hour
// included.
func statsPlots(s client.SubscriptionStats, now time.Time) []plot {
	attempts := plot{Title: "Attempts", Unit: "in 15 min", Bars: true}
	latency := plot{Title: "Response time", Unit: "ms"}
	delivered, failed := plotSeries{Name: "delivered", Class: "bar"}, plotSeries{Name: "failed", Class: "bad"}
	p50, p99 := plotSeries{Name: "p50", Class: "quiet"}, plotSeries{Name: "p99", Class: "accent"}
	ms := func(m *float64) float64 {
		if m == nil {
			return math.NaN()
		}
		return *m
	}
	for at, b := range bucketsOf(s, now) {
		attempts.At, latency.At = append(attempts.At, at), append(latency.At, at)
		delivered.Values, failed.Values = append(delivered.Values, float64(b.Delivered)), append(failed.Values, float64(b.Failed))
		p50.Values, p99.Values = append(p50.Values, ms(b.P50)), append(p99.Values, ms(b.P99))
	}
	attempts.Series, latency.Series = []plotSeries{delivered, failed}, []plotSeries{p50, p99}
	return []plot{attempts, latency}
}

// bucketsOf are the stretches of a day's statistics from the oldest, empty ones included.
func bucketsOf(s client.SubscriptionStats, now time.Time) iter.Seq2[time.Time, client.StatsBucket] {
	buckets := make(map[int64]client.StatsBucket)
	for _, b := range s.Buckets {
		buckets[b.From.Unix()] = b
	}
	step := max(time.Duration(s.Step), time.Minute)
	return func(yield func(time.Time, client.StatsBucket) bool) {
		for at := s.Since.Truncate(step); !at.After(now); at = at.Add(step) {
			if !yield(at, buckets[at.Unix()]) {
				return
			}
		}
	}
}

// healthStrip draws a bar for each quarter of an hour of a day, with the share of its attempts
// that failed from below. Where nothing was tried there is a mark on the base and no bar. The
// numbers stand in the table behind the plot of attempts.
func healthStrip(s client.SubscriptionStats, now time.Time) template.HTML {
	const pitch, high = 10, 32
	var b strings.Builder
	axis := plot{}
	for at, of := range bucketsOf(s, now) {
		x := len(axis.At) * pitch
		axis.At = append(axis.At, at)
		all := of.Delivered + of.Failed
		if all == 0 {
			fmt.Fprintf(&b, `<rect class="none" x="%d" y="%d" width="%d" height="2"/>`, x, high-2, pitch-1)
			continue
		}
		fmt.Fprintf(&b, `<rect x="%d" width="%d" height="%d"/>`, x, pitch-1, high)
		if of.Failed > 0 {
			part := max(float64(of.Failed)/float64(all)*high, 2)
			fmt.Fprintf(&b, `<rect class="bad" x="%d" y="%.1f" width="%d" height="%.1f"/>`, x, high-part, pitch-1, part)
		}
	}
	times := ""
	for _, t := range axis.Times() {
		times += "<span>" + string(t) + "</span>"
	}
	return template.HTML(fmt.Sprintf(`<div class="strip" aria-hidden="true"><svg viewBox="0 0 %d %d" preserveAspectRatio="none">%s</svg><div class="times">%s<span>now</span></div></div>`,
		len(axis.At)*pitch, high, b.String(), times))
}

// picks reports whether names of events have a type among them.
func picks(names []string, t client.EventType) bool {
	for _, n := range names {
		if n == t.Name || n == t.Family {
			return true
		}
	}
	return false
}

// limitsOf says how a subscription is delivered to.
func limitsOf(d client.DeliverySettings) string {
	words := []string{span(time.Duration(d.Timeout)), number(d.Concurrency) + " concurrent"}
	if d.RateLimit != nil {
		words = append(words, number(d.RateLimit.Requests)+" in "+d.RateLimit.Per.String())
	}
	return strings.Join(words, ", ")
}

func subscriptionPagePath(id string) string { return "/ui/subscriptions/" + id }

func toSubscriptions(string) string { return "/ui/subscriptions" }

func testSubscription(v *visit) error {
	ping, err := v.api.TestSubscription(v.r.Context(), v.r.PathValue("id"), client.TestEvent{})
	if err != nil {
		return err
	}
	return subscriptionWith(v, &ping)
}

// setState is an action that pauses or activates a subscription.
func setState(state feedmill.SubscriptionState) func(*visit, string) error {
	return func(v *visit, id string) error {
		_, err := v.api.ChangeSubscription(v.r.Context(), id, client.SubscriptionChange{State: state})
		return err
	}
}

func retrySubscription(v *visit, id string) error {
	_, err := v.api.RetrySubscription(v.r.Context(), id)
	return err
}

func deleteSubscription(v *visit, id string) error {
	return v.api.DeleteSubscription(v.r.Context(), id)
}

// rotatePage is the form that rotates a secret.
type rotatePage struct {
	client.Subscription
	Overlap string
	Faults  map[string]string
}

func showRotate(v *visit) error {
	return rotateWith(v, http.StatusOK, rotatePage{Overlap: "24h"})
}

func rotateWith(v *visit, status int, p rotatePage) (err error) {
	if p.Subscription, err = v.api.Subscription(v.r.Context(), v.r.PathValue("id")); err != nil {
		return err
	}
	return v.render(status, "subscription_rotate", "Rotate the secret", p)
}

func rotateSecret(v *visit) error {
	p := rotatePage{Overlap: cmp.Or(v.r.PostFormValue("overlap"), "24h")}
	overlap, err := feedmill.ParseDuration(p.Overlap)
	if err != nil {
		p.Faults = map[string]string{"overlap": "Choose an overlap. The secret was not changed."}
		return rotateWith(v, http.StatusUnprocessableEntity, p)
	}
	s, err := v.api.RotateSecret(v.r.Context(), v.r.PathValue("id"), overlap)
	if _, ok := refused(err); ok {
		p.Faults, _ = faultsOf(err, "overlap")
		return rotateWith(v, http.StatusUnprocessableEntity, p)
	}
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "subscription_secret", "The new signing secret", secretPage{Made: []client.Subscription{s}, Rotated: true, Snippets: verifySnippets})
}
