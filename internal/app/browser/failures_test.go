package browser

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// fails creates a subscription whose endpoint returns a status, and publishes events that are
// given up after the first attempt and a retry.
func fails(t *testing.T, c *client.Client, name, event string, to *endpoint, status, events int) string {
	t.Helper()
	to.status.Store(int64(status))
	made, err := c.CreateSubscription(t.Context(), client.NewSubscription{
		Name: name, URL: to.URL + "/" + url.PathEscape(name), Events: []string{event}, Delivery: client.NewDelivery{RetrySchedule: []client.Duration{client.Duration(100 * time.Millisecond)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range events {
		if _, err := c.Publish(t.Context(), client.NewEvent{Type: event, ResourceID: "t_1"}); err != nil {
			t.Fatal(err)
		}
	}
	ended(t, c, made.Created[0].ID, feedmill.DeliveryExhausted, events)
	return made.Created[0].ID
}

// brokenFeed creates a feed whose source fails.
func brokenFeed(t *testing.T, c *client.Client, name string) client.DataFeed {
	t.Helper()
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	t.Cleanup(source.Close)
	f, err := c.CreateRestFeed(t.Context(), client.RestFeed{Spec: []byte(`{"name":"` + name + `","request":{"url":"` + source.URL + `/rows"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); f.State != feedmill.FeedFailed && f.State != feedmill.FeedAuthRequired; time.Sleep(20 * time.Millisecond) {
		if f, err = c.DataFeed(t.Context(), f.ID); err != nil || time.Now().After(deadline) {
			t.Fatalf("the feed is %s, %v", f.State, err)
		}
	}
	return f
}

// TestFailures finds failures by the keyboard, opens a group, and retries a selection and a
// group.
func TestFailures(t *testing.T) {
	c, key := workspace(t)
	b := signedIn(t, key)
	b.visit("/ui/failures")
	b.sees("No failures in the last 30 days")
	b.accessible("failures-empty")

	billing, other := newEndpoint(t), newEndpoint(t)
	first := fails(t, c, "Billing sync", "tag.created", billing, http.StatusServiceUnavailable, 9)
	fails(t, c, "Returns desk", "metric.created", other, http.StatusNotFound, 2)
	brokenFeed(t, c, "Carrier tracking")
	b.visit("/ui/feeds")
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("x"))
	b.sees("11 undelivered events in 2 groups, 1 feed")
	b.wait(`document.querySelectorAll('.failures-table > tbody > tr').length === 3 && document.querySelector('.failures-table > tbody > tr').innerText.includes('503 Service Unavailable')`)
	b.wait(`document.querySelector('#selection').hasAttribute('data-none')`)
	b.sees("Carrier tracking")

	// The largest group opens and closes by the arrows, and the focus stays.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.toggle').focus()`), chromedp.KeyEvent(kb.ArrowRight))
	b.wait(`document.querySelectorAll('.inner tbody tr').length === 7 && document.activeElement.matches('.toggle') && document.querySelector('.f-response code').innerText.includes('<script>')`)
	b.sees("7 of 9 shown")
	b.do(chromedp.KeyEvent(kb.ArrowLeft))
	b.wait(`!document.querySelector('.inner') && document.activeElement.matches('.toggle')`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.wait(`document.querySelector('.inner')`)
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('.opened a')].find((a) => a.innerText === 'Show 2 more').click()`))
	b.wait(`document.querySelectorAll('.inner tbody tr').length === 9 && document.activeElement.matches('.toggle')`)

	// A selection: x, Shift and the box of all.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('[name=delivery]').focus()`), chromedp.KeyEvent("x"))
	b.wait(`document.querySelector('[data-selected]').innerText === '1 selected' && document.querySelector('[data-select-all]').indeterminate`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait(`document.querySelector('#selection').hasAttribute('data-none')`)
	b.do(chromedp.Click("[data-select-all]"))
	b.wait(`document.querySelector('[data-selected]').innerText === '9 selected'`)
	b.do(chromedp.Evaluate[chromedp.Void](`{ const all = document.querySelectorAll('[name=delivery]'); all[0].click(); all[3].dispatchEvent(new MouseEvent('click', {bubbles: true, shiftKey: true})); }`))
	b.wait(`document.querySelector('[data-selected]').innerText === '5 selected'`)
	b.accessible("failures")
	billing.status.Store(http.StatusNoContent)
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.KeyEvent("r"))
	b.sees("5 deliveries are queued for retry.")
	ended(t, c, first, feedmill.DeliveryDelivered, 5)
	b.sees("6 undelivered events in 2 groups, 1 feed")

	// The rest of the group with its own button, and what a search finds.
	b.visit("/ui/failures?q=billing")
	b.wait(`document.querySelectorAll('.failures-table > tbody > tr').length === 1`)
	b.do(chromedp.Click(".failures-table .f-do button"))
	b.sees("4 deliveries are queued for retry.")
	ended(t, c, first, feedmill.DeliveryDelivered, 9)
	b.visit("/ui/failures?state=feeds")
	b.wait(`document.querySelectorAll('.failures-table > tbody > tr').length === 1`)
	b.sees("Carrier tracking")

	reader, err := c.CreateKey(t.Context(), client.NewKey{Name: "reader", Scopes: []string{"api:read"}})
	if err != nil {
		t.Fatal(err)
	}
	r := signedIn(t, reader.Secret)
	r.visit("/ui/failures")
	r.sees("Returns desk")
	if n := run(r, chromedp.Evaluate[int](`document.querySelectorAll('main form[method=post], main [name=delivery]').length`)); n > 0 {
		t.Errorf("a key that can only read sees %d forms", n)
	}
}

// failures shows failures without scripts: open groups, sorts, and retries.
func (v *plainVisitor) failures(c *client.Client) {
	t := v.t
	t.Helper()
	want := func(page string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("no %q on %s", text, page)
			}
		}
	}
	gone := newEndpoint(t)
	sub := fails(t, c, "Loyalty <b>", "tag.deleted", gone, http.StatusNotFound, 2)
	want(v.see("/ui/failures?since=1h&sort=last"), "Loyalty &lt;b&gt;", "404 Not Found", `aria-sort="ascending"`, "Retry 2")
	want(v.see("/ui/failures?q=no+such+thing"), "No failure matches")
	want(v.see("/ui/failures?state=discarded&sort=color&open=nothing"), "Failures")
	of := url.Values{"subscription": {sub}, "state": {"exhausted"}, "error": {"the endpoint returned 404 Not Found"}, "back": {"/ui/failures?since=1h"}}
	want(v.send("/ui/failures/retry", of), "2 deliveries are queued for retry.")
	ended(t, c, sub, feedmill.DeliveryExhausted, 2)
	var ids []string
	for d, err := range c.FindUndelivered(t.Context(), client.UndeliveredQuery{SubscriptionID: sub}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	page := v.send("/ui/failures/retry", url.Values{"delivery": append(ids[:1:1], "dlv_00000000000000000000000000"), "back": {"https://elsewhere.example/"}})
	want(page, "1 delivery is queued for retry.", "1 delivery was not retried")
	want(v.send("/ui/failures/retry", nil), "0 deliveries are queued for retry.")
	if err := c.DeleteSubscription(t.Context(), sub); err != nil {
		t.Fatal(err)
	}
	want(v.see("/ui/failures"), "Deleted subscription")
}
