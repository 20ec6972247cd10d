package browser

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
)

// endpoint is a receiver that keeps the headers of the last request and answers as it
// is told to.
type endpoint struct {
	*httptest.Server
	status atomic.Int64
	last   atomic.Pointer[http.Header]
}

func newEndpoint(t *testing.T) *endpoint {
	e := new(endpoint)
	e.status.Store(http.StatusNoContent)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.last.Store(&r.Header)
		if status := int(e.status.Load()); status != http.StatusNoContent {
			http.Error(w, `{"error":"<script>console.error('ran')</script>"}`, status)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(e.Close)
	return e
}

// TestSubscribeToDelivery subscribes an endpoint, by keys and forms alone, and follows an
// event to it.
func TestSubscribeToDelivery(t *testing.T) {
	c, key := workspace(t)
	to := newEndpoint(t)
	b := signedIn(t, key)
	b.visit("/ui/subscriptions")
	b.sees("Send events to a URL")
	b.accessible("subscriptions-empty")
	b.do(chromedp.KeyEvent("n"))
	b.wait(`document.querySelector('#url')`)
	b.expected = []string{"422"}
	b.do(chromedp.SetValue("#name", "Billing sync"), chromedp.SetValue("#url", to.URL+"/hook"), chromedp.Click("form .primary"))
	b.wait(`document.activeElement.name === 'events' && document.querySelector('fieldset.wrong .message')?.innerText === 'Choose at least one event type.'`)
	b.do(chromedp.SetValue("#url", "ftp://nowhere"), chromedp.Click("[value='metric.*']"), chromedp.Click("form .primary"))
	b.wait(`document.activeElement.id === 'url' && document.querySelector('.field.wrong .message')`)
	b.accessible("subscription-form-wrong")
	b.do(chromedp.SetValue("#url", to.URL+"/hook"), chromedp.Click("form .primary"))
	b.wait(`document.querySelector('#secret-0')?.innerText.startsWith('whsec_')`)
	secret := b.text("#secret-0")
	b.accessible("subscription-secret")
	b.do(chromedp.Click(".row-end .primary"))
	b.sees("Billing sync")
	b.sees("No deliveries")
	page := b.path()

	b.do(chromedp.Click(".actions .primary"))
	b.sees("The endpoint accepted the test: 204")
	to.status.Store(http.StatusServiceUnavailable)
	b.do(chromedp.Click(".actions .primary"))
	b.sees("The endpoint returned 503")

	// An event that fails, its attempt in full, and its retry.
	if _, err := c.Publish(t.Context(), client.NewEvent{Type: "metric.updated", ResourceID: "m_1", Data: map[string]any{"note": "<img src=x onerror=console.error(1)>"}}); err != nil {
		t.Fatal(err)
	}
	b.visit(page)
	b.waitReloading(`[...document.querySelectorAll('.chips .chip')].some((c) => /Retrying\s+1$/.test(c.innerText.trim())) && document.querySelector('.rows tbody tr') && document.querySelector('.figures').innerText.includes('failed attempts') && document.querySelector('.plots svg')`)
	b.sees("503 Service Unavailable")
	// Two states at once, each with how many there are; the second has none.
	chip := func(state string) string {
		return `.chips .chip[href*="state="]:has(.badge):nth-of-type(` + state + `)`
	}
	if got := strings.Fields(b.text(chip("5"))); !slices.Equal(got, []string{"Retrying", "1"}) {
		t.Errorf("the filter says %q", got)
	}
	b.do(chromedp.Click(chip("6")))
	b.sees("No deliveries like that")
	b.do(chromedp.Click(chip("5")))
	b.wait(`document.querySelectorAll('.chips [aria-current]').length === 2 && document.querySelectorAll('.rows tbody tr').length === 1`)
	b.accessible("subscription")
	if _, err := chromedp.Call(b.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Click(".rows tbody tr a"))
	b.sees("503")
	b.wait(`new Date().getTimezoneOffset() === -330 && ['second', 'exact'].every((kind) => [...document.querySelectorAll('time[data-time=' + kind + ']')].some((t) => t.textContent.endsWith(new Date(t.dateTime).toTimeString().slice(0, 8))))`)
	b.sees("<script>console.error")
	b.do(chromedp.SetValue("#secret", secret), chromedp.Click("#sign"))
	b.sees((*to.last.Load()).Get("X-Service-Signature"))
	b.sees((*to.last.Load()).Get("Webhook-Signature"))
	b.accessible("delivery")
	to.status.Store(http.StatusNoContent)
	b.do(chromedp.KeyEvent("r"))
	b.sees("Due now")
	b.waitReloading(`document.querySelector('.head .badge').innerText === 'Delivered'`)

	b.visit("/ui/subscriptions")
	b.sees("Billing sync")
	b.accessible("subscriptions")
}

// TestRotateAndReplay changes a secret and delivers what was missed, by keys alone.
func TestRotateAndReplay(t *testing.T) {
	c, key := workspace(t)
	to := newEndpoint(t)
	if _, err := c.Publish(t.Context(), client.NewEvent{Type: "tag.created", ResourceID: "t_1"}); err != nil {
		t.Fatal(err)
	}
	made, err := c.CreateSubscription(t.Context(), client.NewSubscription{Name: "Tags", URL: to.URL, Events: []string{"tag.*"}})
	if err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, key)
	page := "/ui/subscriptions/" + made.Created[0].ID
	b.visit(page)
	b.enter(".actions [href$='/rotate']")
	b.wait(`document.querySelector('#overlap')`)
	b.accessible("subscription-rotate")
	// An error is at its field, which has the focus.
	b.expected = []string{"422"}
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#overlap option').value = '169h'; undefined`))
	b.enter("form .primary")
	b.wait(`document.querySelector('.field.wrong #overlap-message')?.innerText.includes('7d') && document.activeElement.id === 'overlap'`)
	b.accessible("subscription-rotate-wrong")
	b.enter("form .primary")
	b.sees("the old secret is also used")
	if got := b.text("#secret-0"); !strings.HasPrefix(got, "whsec_") || got == made.Created[0].SigningSecret {
		t.Errorf("the new secret is %q", got)
	}
	b.enter(".row-end .primary")
	b.sees("Two secrets sign until")

	b.enter(".actions [href$='/replay']")
	b.wait(`document.querySelector('#state')`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#state option').value = 'pending'; undefined`))
	b.enter("form .primary")
	b.wait(`document.querySelector('.field.wrong #state-message') && document.activeElement.id === 'state'`)
	b.accessible("replay-wrong")
	b.reach("#state")
	b.press("Missing events")
	b.wait(`document.querySelector('#state').value === 'missing'`)
	b.enter("form .primary")
	b.sees("1 delivery")
	b.accessible("replay")
	b.enter("[name=go]")
	b.wait(`document.querySelector('.head .badge')?.innerText === 'Done'`)
	b.accessible("replay-done")
	b.visit(page)
	b.waitReloading(`document.querySelector('.rows tbody tr')?.innerText.includes('Delivered')`)

	b.visit(page + "/edit")
	b.wait(`document.querySelector('[value="tag.*"]').checked`)
	b.accessible("subscription-form")
	b.write("#name", "Labels")
	b.press("\r")
	b.sees("Saved")
	b.enter(".actions form .quiet")
	b.wait(`document.querySelector('.head .badge').innerText === 'Paused'`)
	b.enter("section.settings summary")
	b.enter(".danger.sure")
	b.sees("Send events to a URL")
}
