package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// portalOf makes a workspace with two endpoints, one of which fails, and a link to its portal.
func portalOf(t *testing.T, access feedmill.PortalAccess) (link string, c *client.Client) {
	t.Helper()
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(good.Close)
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(bad.Close)
	c, _ = workspace(t)
	for name, url := range map[string]string{"Warehouse": good.URL + "/nordlicht", "Accounting <i>": bad.URL + "/hooks/4"} {
		if _, err := c.CreateSubscription(t.Context(), client.NewSubscription{Name: name, URL: url, Events: []string{"metric.created", "metric.updated"}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		if _, err := c.Publish(t.Context(), client.NewEvent{Type: "metric.created", ResourceID: fmt.Sprintf("o_91826%d", i), Data: map[string]any{"total": i}}); err != nil {
			t.Fatal(err)
		}
	}
	upload(t, c, "Orders", "orders.csv", "order,total\no_1,12.50\no_2,7.00\n")
	me, err := c.Me(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l, err := admin().CreatePortalLink(t.Context(), me.Workspace.ID, client.NewPortalLink{Pages: feedmill.PortalPages, Access: access, ReturnURL: server.app.URL + "/settings"})
	if err != nil {
		t.Fatal(err)
	}
	return l.URL, c
}

// TestPortalPages opens the portal, adds an endpoint, changes it, tests it, retries a delivery and
// deletes it, and sees that a session whose link is revoked ends on an open page.
func TestPortalPages(t *testing.T) {
	link, c := portalOf(t, feedmill.PortalWrite)
	b := open(t)
	b.visit(link)
	b.sees("The link works once")
	b.accessible("portal-link")
	b.do(chromedp.Click("form[data-open] button"))
	b.sees("Recent deliveries")
	b.waitReloading(`document.body.innerText.includes('Failing') && document.querySelectorAll('section tbody tr').length === 12`)
	b.accessible("portal")
	b.expected = []string{"422", "401"}
	b.do(chromedp.SendKeys("#name", "Support desk"), chromedp.SendKeys("#url", "ftp://desk.example/in"), chromedp.Click(`input[value="metric.created"]`), chromedp.Click(".portal-side .primary"))
	b.wait(`document.querySelector('#url-message')`)
	b.accessible("portal-wrong")
	b.do(chromedp.SetValue("#url", "https://127.0.0.1:1/in"), chromedp.Click(".portal-side .primary"))
	b.sees("won't be able to see it again")
	b.accessible("portal-secret")
	b.do(chromedp.Click("dialog .primary"))
	b.sees("Change endpoint")
	b.accessible("portal-endpoint")
	b.do(chromedp.SetValue("#name", "Help desk"), chromedp.Click(".portal-side .primary"))
	b.sees("Saved")
	b.do(chromedp.Click(".actions .primary"))
	b.sees("The endpoint did not respond")
	b.do(chromedp.Click(".actions .quiet"))
	b.sees("Paused")
	b.do(chromedp.Click(".portal-side summary"))
	b.do(chromedp.Click("dialog .sure"))
	b.sees("Deleted")
	b.wait(`!document.body.innerText.includes('Help desk')`)

	b.do(chromedp.Click(`td.answer-retrying + td + td + td + td form button`))
	b.sees("Due now")
	b.accessible("portal-delivery")
	for _, page := range []string{"events", "feeds"} {
		b.visit("/portal/" + page)
		b.accessible("portal-" + page)
		b.do(chromedp.Click("tbody a"))
		b.wait(`location.pathname.startsWith('/portal/` + page + `/')`)
		b.accessible("portal-" + page + "-one")
	}
	b.visit("/ui/feeds")
	b.sees("Sign in")
	b.visit("/portal/subscriptions")
	me, err := c.Me(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for l, err := range admin().PortalLinks(t.Context(), me.Workspace.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if err := admin().DeletePortalLink(t.Context(), me.Workspace.ID, l.ID); err != nil {
			t.Fatal(err)
		}
	}
	b.do(chromedp.Click("tbody form button"))
	b.sees("This session has ended.")
	b.accessible("portal-ended")
}

// TestPortalThatCanOnlyBeRead shows no form and no button that changes something.
func TestPortalThatCanOnlyBeRead(t *testing.T) {
	link, _ := portalOf(t, feedmill.PortalRead)
	b := open(t)
	b.visit(link)
	b.do(chromedp.Click("form[data-open] button"))
	b.sees("Recent deliveries")
	if n := run(b, chromedp.Evaluate[int](`document.querySelectorAll('form').length`)); n != 0 {
		t.Errorf("the page has %d forms", n)
	}
	if text := b.text("body"); strings.Contains(text, "Feedmill") || !strings.Contains(text, "Back") {
		t.Errorf("the page is %s", text)
	}
}

// TestPortalInAFrame shows the portal on a page of the operator, where the session starts by
// itself and the page learns the height. A page of the console and the portal on another page
// cannot be framed.
func TestPortalInAFrame(t *testing.T) {
	link, _ := portalOf(t, feedmill.PortalWrite)
	path := fmt.Sprintf("/portal-%d", time.Now().UnixNano())
	server.pages.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>Shop</title><iframe src="%s" width="600" height="400"></iframe><script>addEventListener('message', (e) => { window.told = e.data; });</script>`, link)
	})
	b := open(t)
	b.visit(server.app.URL + path)
	b.wait(`window.told?.height > 400 && Object.keys(window.told).length === 2`)
}
