package ui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// deliveryPage is a delivery with one of its attempts in full.
type deliveryPage struct {
	client.Delivery
	Subscription client.Subscription
	// Gone says that the subscription is deleted.
	Gone  bool
	Title string
	// Waits says what it waits for.
	Waits string
	// Steps are the attempts that were made and those that are to come.
	Steps []attemptStep
	// MorePlans is how many further attempts can come.
	MorePlans int
	// Shown is the attempt in full; nil where none was made.
	Shown   *client.Attempt
	Parts   []timingPart
	Timing  template.HTML
	Headers []client.AnswerHeader
	// Body is what was sent, byte for byte, and Pretty the same for people.
	Body, Pretty string
	// Answer is the body of a failed answer, laid out where it is JSON.
	Answer   string
	Curl     string
	CanRetry bool
	Snippets []snippet
}

// attemptStep is one of the attempts in their row.
type attemptStep struct {
	Number    int
	State     string
	When, Say template.HTML
	To        string
	Current   bool
}

type timingPart struct {
	Class, Word string
	Took        string
}

func showDelivery(v *visit) error {
	d, err := v.api.Delivery(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	// Deliveries stay in the log when their subscription is gone.
	s, err := v.api.Subscription(v.r.Context(), d.SubscriptionID)
	gone := isNotThere(err)
	if err != nil && !gone {
		return err
	}
	return v.render(http.StatusOK, "delivery", d.Type, newDeliveryPage(d, s, gone, v.r.URL.Query().Get("attempt")))
}

// newDeliveryPage describes a delivery, with the attempt of a number in full; the default is the
// last one.
func newDeliveryPage(d client.Delivery, s client.Subscription, gone bool, attempt string) deliveryPage {
	p := deliveryPage{
		Delivery: d, Subscription: s, Gone: gone, Title: nameOf(s), Snippets: verifySnippets, Body: d.Payload, Pretty: laidOut(d.Payload), Waits: waits(d),
		CanRetry: !gone && d.State != feedmill.DeliveryPending && d.State != feedmill.DeliveryDelivering && s.State != feedmill.SubscriptionDisabled,
	}
	chosen, _ := strconv.Atoi(attempt)
	for i, a := range d.Attempts {
		if a.Number == chosen || chosen == 0 && i == len(d.Attempts)-1 {
			p.Shown = &d.Attempts[i]
		}
	}
	p.steps()
	if p.Shown != nil {
		p.sent()
	}
	return p
}

// isNotThere reports whether the API knows of nothing at an address.
func isNotThere(err error) bool {
	p, ok := errors.AsType[*client.Problem](err)
	return ok && p.Status == http.StatusNotFound
}

// waits says in words what a delivery waits for where that is not the time alone.
func waits(d client.Delivery) string {
	if d.WaitsFor == nil {
		return ""
	}
	return map[string]string{
		"paused":  "until the paused subscription is activated",
		"breaker": "for the endpoint, which does not respond and is probed from time to time",
		"order":   "for an earlier event of the same resource",
		"turn":    "for its turn",
	}[d.WaitsFor.Reason]
}

// shownPlans is how many of the attempts to come a page shows.
const shownPlans = 9

// steps lists the attempts, with the plan for those to come.
func (p *deliveryPage) steps() {
	for i, a := range p.Attempts {
		step := attemptStep{Number: a.Number, State: "delivered", When: clock(a.At), To: "?attempt=" + strconv.Itoa(a.Number), Current: p.Shown != nil && p.Shown.Number == a.Number}
		if i > 0 {
			step.When = template.HTML(span(a.At.Sub(p.Attempts[i-1].At)) + " later")
		}
		took := took(float64(a.Timing.Total))
		step.Say = template.HTML(strconv.Itoa(a.Status) + ", " + took)
		switch {
		case a.Status == 0 && a.Error == "":
			step.Say = template.HTML("acknowledged, " + took)
		case a.Status == 0:
			step.Say = template.HTML("no response, " + took)
		}
		if a.Error != "" || a.Status != 0 && (a.Status < 200 || a.Status > 299) {
			step.State = "failed"
		}
		p.Steps = append(p.Steps, step)
	}
	for i, at := range p.PlannedAttempts[:min(len(p.PlannedAttempts), shownPlans)] {
		step := attemptStep{Number: p.AttemptCount + i + 1, State: "pending", When: until(at), Say: clock(at)}
		if i > 0 {
			step.When, step.Say = template.HTML("+"+span(at.Sub(p.PlannedAttempts[i-1]))), "about "+clock(at)
		}
		p.Steps = append(p.Steps, step)
	}
	p.MorePlans = max(len(p.PlannedAttempts)-shownPlans, 0)
}

// clock is a time of the last or the next days.
func clock(at time.Time) template.HTML {
	if d := time.Since(at).Abs(); d > 20*time.Hour {
		return timeElement(at, at.UTC().Format("2 Jan 15:04")+" UTC", "moment")
	}
	return timeElement(at, at.UTC().Format("15:04:05")+" UTC", "second")
}

// hiddenValue is what the API writes in place of a secret.
const hiddenValue = "***"

// sent fills in the request of the attempt as it was sent. Signatures are not kept anywhere:
// whoever has the secret can make them again, below.
func (p *deliveryPage) sent() {
	a := p.Shown
	p.Timing, p.Parts = timingBar(a.Timing)
	p.Answer = laidOut(a.Body)
	if a.Request == nil {
		return
	}
	if a.Request.Method == "" { // a broker
		p.Headers = a.Request.Headers
		return
	}
	var curl strings.Builder
	fmt.Fprintf(&curl, "curl -X %s %s", a.Request.Method, shellQuote(a.Request.URL))
	for _, header := range a.Request.Headers {
		if header.Value == hiddenValue {
			header.Value = "•••• (not shown)"
		} else {
			fmt.Fprintf(&curl, " \\\n  -H %s", shellQuote(header.Name+": "+header.Value))
		}
		p.Headers = append(p.Headers, header)
	}
	if a.Request.Method == http.MethodPost {
		fmt.Fprintf(&curl, " \\\n  --data-raw %s", shellQuote(p.Body))
	}
	p.Curl = curl.String()
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// shownText bounds how much of a text a page has.
const shownText = 64 << 10

// turning writes the signs that turn the direction of text as JSON escapes them: they would
// show a payload in another order than it has.
var turning = strings.NewReplacer(
	"\u202a", `\u202a`, "\u202b", `\u202b`, "\u202c", `\u202c`, "\u202d", `\u202d`, "\u202e", `\u202e`,
	"\u2066", `\u2066`, "\u2067", `\u2067`, "\u2068", `\u2068`, "\u2069", `\u2069`, "\u200e", `\u200e`, "\u200f", `\u200f`,
)

// laidOut is JSON with a line for each member, or the text as it is where it is none.
func laidOut(text string) string {
	var b bytes.Buffer
	if len(text) < shownText && json.Indent(&b, []byte(text), "", "  ") == nil {
		return turning.Replace(b.String())
	}
	if len(text) > shownText {
		text = strings.ToValidUTF8(text[:shownText], "") + "…"
	}
	return turning.Replace(text)
}

// timingBar draws what the time of an exchange went into. FirstByte and Total are counted
// from the beginning, the others by themselves.
func timingBar(t client.Timing) (template.HTML, []timingPart) {
	before := t.DNS + t.Connect + t.TLS
	first := max(t.FirstByte-before, 0)
	if t.FirstByte < before {
		first = t.FirstByte
	}
	parts := []struct {
		class, word string
		ms          client.Milliseconds
	}{
		{"t1", "DNS", t.DNS},
		{"t2", "Connect", t.Connect},
		{"t3", "TLS", t.TLS},
		{"t4", "First byte", first},
		{"t5", "Rest of the response", max(t.Total-before-first, 0)},
	}
	var b strings.Builder
	words := make([]timingPart, len(parts))
	whole, x := float64(cmp.Or(before+first+parts[4].ms, 1)), 0.0
	for i, p := range parts {
		words[i] = timingPart{p.class, p.word, took(float64(p.ms))}
		if width := float64(p.ms) / whole * 1000; width > 0 {
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="0" width="%.1f" height="14"><title>%s %s</title></rect>`, p.class, x, max(width-1, 1), p.word, words[i].Took)
			x += width
		}
	}
	return template.HTML(`<svg class="timing" viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">` + b.String() + `</svg>`), words
}

func retryDelivery(v *visit, id string) error {
	_, err := v.api.RetryDelivery(v.r.Context(), id)
	return err
}

func deliveryPagePath(id string) string { return "/ui/deliveries/" + id }
