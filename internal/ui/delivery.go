package ui

import (
	"bytes"
	"cmp"
	"encoding/json"
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
	Title        string
	// Steps are the attempts that were made and those that are to come.
	Steps []attemptStep
	// Shown is the attempt in full; nil where none was made.
	Shown   *client.Attempt
	Parts   []timingPart
	Timing  template.HTML
	Method  string
	URL     string
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
	s, err := v.api.Subscription(v.r.Context(), d.SubscriptionID)
	if err != nil {
		return err
	}
	p := deliveryPage{
		Delivery: d, Subscription: s, Title: nameOf(s), Method: s.HTTPOperation, URL: s.URL, Snippets: verifySnippets,
		CanRetry: d.State != feedmill.DeliveryPending && d.State != feedmill.DeliveryDelivering && s.State != feedmill.SubscriptionDisabled,
	}
	if e, err := v.api.Event(v.r.Context(), d.EventID); err == nil {
		p.Body = string(bodyOf(e))
		p.Pretty = laidOut(p.Body)
	}
	chosen, _ := strconv.Atoi(v.r.URL.Query().Get("attempt"))
	for i, a := range d.Attempts {
		if a.Number == chosen || chosen == 0 && i == len(d.Attempts)-1 {
			p.Shown = &d.Attempts[i]
		}
	}
	p.steps()
	if p.Shown != nil {
		p.sent()
	}
	return v.render(http.StatusOK, "delivery", d.Type, p)
}

// steps lists the attempts, with the plan for those to come.
func (p *deliveryPage) steps() {
	for i, a := range p.Attempts {
		step := attemptStep{Number: a.Number, State: "delivered", When: clock(a.At), To: "?attempt=" + strconv.Itoa(a.Number), Current: p.Shown != nil && p.Shown.Number == a.Number}
		if i > 0 {
			step.When = template.HTML(span(a.At.Sub(p.Attempts[i-1].At)) + " later")
		}
		took := took(float64(a.Timing.Total))
		step.Say = template.HTML(strconv.Itoa(a.Status) + ", " + took)
		if a.Status == 0 {
			step.Say = template.HTML("no answer, " + took)
		}
		if a.Status < 200 || a.Status > 299 || a.Error != "" {
			step.State = "failed"
		}
		p.Steps = append(p.Steps, step)
	}
	if p.NextAttemptAt.IsZero() {
		return
	}
	at := p.NextAttemptAt
	for n := len(p.Attempts) + 1; n <= p.MaxAttempts && n <= len(p.Attempts)+9; n++ {
		step := attemptStep{Number: n, State: "pending", When: template.HTML("in " + span(time.Until(at))), Say: clock(at)}
		if n > len(p.Attempts)+1 {
			wait := time.Duration(0)
			if i := n - 2; i < len(p.Subscription.Delivery.RetrySchedule) {
				wait = time.Duration(p.Subscription.Delivery.RetrySchedule[i])
			}
			at = at.Add(wait)
			step.When, step.Say = template.HTML("+"+span(wait)), "about "+clock(at)
		}
		p.Steps = append(p.Steps, step)
	}
}

// clock is a time of the last or the next days.
func clock(at time.Time) template.HTML {
	if d := time.Since(at).Abs(); d > 20*time.Hour {
		return timeElement(at, at.UTC().Format("2 Jan 15:04")+" UTC", "moment")
	}
	return timeElement(at, at.UTC().Format("15:04:05")+" UTC", "second")
}

// sent fills in the request of the attempt as it was sent. Signatures are not kept
// anywhere: whoever has the secret can make them again, below.
func (p *deliveryPage) sent() {
	a := p.Shown
	p.Timing, p.Parts = timingBar(a.Timing)
	h := func(name, value string) { p.Headers = append(p.Headers, client.AnswerHeader{Name: name, Value: value}) }
	if p.Method == http.MethodPost {
		h("content-type", "application/json")
	} else {
		p.URL += queryJoin(p.URL) + "payload=…"
	}
	h("webhook-id", p.ID)
	h("webhook-timestamp", strconv.FormatInt(a.At.Unix(), 10))
	h("x-service-event", p.Type)
	h("x-service-delivery", p.ID)
	h("x-service-attempt", strconv.Itoa(a.Number))
	for name := range p.Subscription.Delivery.Headers {
		h(strings.ToLower(name), "•••• (yours, not shown)")
	}
	p.Answer = laidOut(a.Body)
	var curl strings.Builder
	fmt.Fprintf(&curl, "curl -X %s %s", p.Method, shellQuote(p.Subscription.URL))
	for _, header := range p.Headers {
		fmt.Fprintf(&curl, " \\\n  -H %s", shellQuote(header.Name+": "+header.Value))
	}
	if p.Method == http.MethodPost {
		fmt.Fprintf(&curl, " \\\n  --data-raw %s", shellQuote(p.Body))
	} else {
		fmt.Fprintf(&curl, " \\\n  --get --data-urlencode %s", shellQuote("payload="+p.Body))
	}
	p.Curl = curl.String()
}

func queryJoin(u string) string {
	if strings.Contains(u, "?") {
		return "&"
	}
	return "?"
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
		return strings.ToValidUTF8(text[:shownText], "") + "…"
	}
	return text
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
		{"t5", "Rest of the answer", max(t.Total-before-first, 0)},
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
