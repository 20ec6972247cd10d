package browser

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
)

// TestCatalogue finds an event type, reads its schema, and sends a test event to one of two
// subscriptions.
func TestCatalogue(t *testing.T) {
	c, key := workspace(t)
	first, second := newEndpoint(t), newEndpoint(t)
	for name, to := range map[string]*endpoint{"Loyalty points": first, "Fraud scoring": second} {
		if _, err := c.CreateSubscription(t.Context(), client.NewSubscription{Name: name, URL: to.URL, Events: []string{"metric.*"}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := c.Publish(t.Context(), client.NewEvent{Type: "metric.created", ResourceID: "m_1", Data: map[string]any{"name": "<b>Revenue</b>"}}); err != nil {
			t.Fatal(err)
		}
	}
	b := signedIn(t, key)
	b.visit("/ui/events")
	b.do(chromedp.Click(".tabs a[href='/ui/events/catalogue']"))
	b.sees("metric.*")
	b.accessible("catalogue")
	b.visit("/ui/events/catalogue")
	b.do(chromedp.SendKeys("#q", "createdBy\r"))
	b.wait(`location.search === '?q=createdBy' && document.querySelectorAll('.types-table tr[data-href]').length > 0 && !document.querySelector('.types-table').innerText.includes('subscription.*')`)
	b.do(chromedp.Click(".types-table a[title='metric.created']"))
	b.wait(`location.pathname === '/ui/events/catalogue/metric.created' && document.querySelector('.schema-rows').innerText.includes('createdBy') && document.querySelector('#example').innerText.includes('<b>Revenue</b>')`)
	b.wait(`[...document.querySelectorAll('.types-detail dd')].some((d) => d.innerText === '3')`)
	b.accessible("catalogue-type")
	before := second.last.Load()
	b.do(chromedp.Evaluate[chromedp.Void](`{ const s = document.querySelector('#subscription'); s.value = [...s.options].find((o) => o.text === 'Loyalty points').value; }`), chromedp.Click("#test .primary"))
	b.sees("Delivered: 204")
	if h := first.last.Load(); h.Get("X-Service-Test") != "true" || h.Get("X-Service-Event") != "metric.created" || second.last.Load() != before {
		t.Errorf("the test was sent with %v", h)
	}
	first.status.Store(http.StatusBadGateway)
	b.do(chromedp.Click("#test .primary"))
	b.sees("The endpoint returned 502 Bad Gateway.")
	b.accessible("catalogue-tested")

	reader, err := c.CreateKey(t.Context(), client.NewKey{Name: "reader", Scopes: []string{"api:read"}})
	if err != nil {
		t.Fatal(err)
	}
	r := signedIn(t, reader.Secret)
	r.visit("/ui/events/catalogue/metric.created")
	r.sees("Schema of data")
	if n := run(r, chromedp.Evaluate[int](`document.querySelectorAll('main form[method=post], .actions .button').length`)); n > 0 {
		t.Errorf("a key that can only read sees %d forms and buttons", n)
	}
}

// catalogue sends test events without scripts.
func (v *plainVisitor) catalogue(sub string) {
	t := v.t
	t.Helper()
	path := "/ui/events/catalogue/metric.created/test"
	if page := v.send(path, url.Values{"subscription": {sub}, "data": {`{"name":"x"}`}}); !strings.Contains(page, "Delivered: 204") {
		t.Error("the page does not say that the test was delivered")
	}
	if page := v.refused(path, url.Values{"subscription": {sub}, "data": {"{"}}); !strings.Contains(page, "not valid JSON") {
		t.Error("data that is not valid JSON is not refused")
	}
	if page := v.refused(path, url.Values{"data": {"{}"}}); !strings.Contains(page, "Choose a subscription.") {
		t.Error("a test without a subscription is not refused")
	}
}
