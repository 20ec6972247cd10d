package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
)

// TestTwoSubscriptions chooses events that need two subscriptions: the form says so before,
// both secrets are shown together, and the address can be reloaded.
func TestTwoSubscriptions(t *testing.T) {
	c, key := workspace(t)
	to := newEndpoint(t)
	b := signedIn(t, key)
	b.visit("/ui/subscriptions/new")
	b.fill("#name", "Both")
	b.fill("#url", to.URL)
	b.do(chromedp.Click("[value='datafeed.source.*']"), chromedp.Click("[value='metric.*']"))
	b.sees("Feedmill creates 2 subscriptions, each with its own secret.")
	b.accessible("subscription-mixed")
	b.do(chromedp.Click("form.settings .primary"))
	b.wait(`document.querySelectorAll('dialog.once [id^=secret-]').length === 2 && document.querySelector('dialog.once .primary').innerText === 'I have copied both'`)
	b.accessible("subscription-secrets")
	b.do(chromedp.Reload())
	b.wait(`location.pathname === '/ui/subscriptions' && document.querySelectorAll('tbody tr[data-href]').length === 2`)
	b.sees("Never called")
	var n int
	for _, err := range c.Subscriptions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("there are %d subscriptions", n)
	}
}

// TestExpiredSession sends a form after the session has ended, and returns to it.
func TestExpiredSession(t *testing.T) {
	_, key := workspace(t)
	b := signedIn(t, key)
	b.visit("/ui/subscriptions/new")
	b.fill("#name", "Kept")
	b.fill("#url", "https://receiver.example/hook")
	b.do(chromedp.Click("[value='metric.*']"))
	b.do(chromedp.Evaluate[chromedp.Void](`fetch('/ui/sign-out', {method: 'POST', headers: {'Content-Type': 'application/x-www-form-urlencoded'}, redirect: 'manual'}).then(() => { window.out = true; }); undefined`))
	b.wait(`window.out`)
	b.do(chromedp.Click("form.settings .primary"))
	b.sees("Your session has expired")
	b.do(chromedp.SendKeys("#key", key), chromedp.Submit("#key"))
	b.wait(`location.pathname === '/ui/subscriptions/new' && document.querySelector('#name')?.value === 'Kept' && document.querySelector('#url').value.endsWith('/hook') && document.querySelector("[value='metric.*']").checked`)
	b.sees("The values of the form are restored")
}

// TestReadOnly shows a key that can only read no button that changes a record.
func TestReadOnly(t *testing.T) {
	c, _ := workspace(t)
	f := upload(t, c, "Orders", "orders.csv", "id\n1\n")
	k, err := c.CreateKey(t.Context(), client.NewKey{Name: "reader", Scopes: []string{"api:read"}})
	if err != nil {
		t.Fatal(err)
	}
	to := newEndpoint(t)
	made, err := c.CreateSubscription(t.Context(), client.NewSubscription{URL: to.URL, Events: []string{"tag.*"}})
	if err != nil {
		t.Fatal(err)
	}
	connection, err := c.CreateConnection(t.Context(), client.NewConnection{ServiceName: "warehouse", Connector: "postgres", Config: map[string]any{"host": "127.0.0.1", "port": 1, "database": "shop", "user": "reader", "password": "s3cret"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateLink(t.Context(), f.ID, client.NewLink{Name: "Sheet"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateAlert(t.Context(), client.NewAlert{Name: "On call", Slack: to.URL + "/s"}); err != nil {
		t.Fatal(err)
	}
	feed := "/ui/feeds/" + f.ID
	b := signedIn(t, k.Secret)
	for _, path := range []string{
		"/ui/feeds", feed, feed + "/settings", feed + "/columns", feed + "/checks", feed + "/links", feed + "/versions", feed + "/refreshes/" + f.LastRefresh.ID,
		"/ui/subscriptions", "/ui/subscriptions/" + made.Created[0].ID, "/ui/failures", "/ui/alerts", "/ui/connections", "/ui/connections/" + connection.ID, "/ui/events", "/ui/events/catalogue/tag.created",
	} {
		b.visit(path)
		b.wait(`document.readyState === 'complete' && document.querySelector('h1')`)
		if forms := run(b, chromedp.Evaluate[[]string](`[...document.querySelectorAll('main form[method=post] button:not(:disabled), main a.primary')].filter((e) => e.offsetParent && !e.closest('fieldset:disabled')).map((e) => e.innerText)`)); len(forms) > 0 {
			t.Errorf("%s has %q", path, forms)
		}
	}
}

// TestLiveRows shows the rows of a new feed as soon as they are there, in two tabs, without a reload by
// the user.
func TestLiveRows(t *testing.T) {
	c, key := workspace(t)
	release := make(chan struct{})
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `[{"id":1,"city":"Lyon"}]`)
	}))
	defer source.Close()
	f, err := c.CreateRestFeed(t.Context(), client.RestFeed{Spec: []byte(`{"name":"Cities","request":{"url":"` + source.URL + `"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID)
	b.sees("No rows yet")
	close(release)
	b.sees("Lyon")
	b.wait(`document.querySelector('.head .badge').innerText.includes('Ready')`)
}
