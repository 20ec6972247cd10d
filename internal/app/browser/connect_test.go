package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
	"github.com/feedmill/feedmill/internal/connect/connecttest"
)

// TestConnectAService is somebody who gets a link, signs in at a provider, chooses what
// to share, and comes back to the application that asked, which learns of the feed.
func TestConnectAService(t *testing.T) {
	c, _ := workspace(t)
	arrived := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- string(body)
	}))
	defer hook.Close()
	if _, err := c.CreateSubscription(t.Context(), client.NewSubscription{URL: hook.URL, Events: []string{"datafeed.source.created"}}); err != nil {
		t.Fatal(err)
	}
	link, err := c.CreationURL(t.Context(), "ledgerly", server.app.URL+"/done")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t)
	b.visit(link.URL)
	b.sees("Connect Ledgerly")
	b.sees("contacts.read")
	b.accessible("connect")
	b.do(chromedp.Click(".connect .primary"), chromedp.WaitReady("#allow"))
	if at := run(b, chromedp.Location()); !strings.HasPrefix(at, server.provider.URL+"/authorize?") {
		t.Fatalf("the sign-in is at %s", at)
	}
	b.do(chromedp.Click("#allow"))
	b.sees("Choose what to share")
	b.sees("Choose a location first.")
	b.accessible("connect-choose")
	b.do(chromedp.SetValue("#setting-team", "north"), chromedp.Click("[name=field][value=email]"))
	// The preview follows, without the field that was taken away.
	b.wait(`document.querySelector('#preview tbody')?.innerText.includes('Contact 1') && !document.querySelector('#preview').innerText.includes('@example.com')`)
	// Errors are at their fields: while the form is filled in, and with the focus when it was sent.
	b.expected = []string{"422"}
	b.do(chromedp.Click("#filters summary"), chromedp.SetValue("[name=filterField]", "since"), chromedp.SetValue("[name=filterOp]", "last"), chromedp.SetValue("[name=filterValue]", "some time"))
	b.wait(`document.querySelector('[data-field="filter.0"].wrong .message')?.innerText.includes('is not valid')`)
	b.do(chromedp.Click("[value=make]"))
	b.wait(`document.activeElement.name === 'filterValue' && document.activeElement.value === 'some time' && document.activeElement.getAttribute('aria-describedby') === 'filter-0-message'`)
	b.accessible("connect-wrong")
	b.do(chromedp.SetValue("[name=filterField]", ""))
	b.wait(`!document.querySelector('.wrong') && document.querySelector('#preview tbody')?.innerText.includes('Contact 1')`)
	b.do(chromedp.SetValue("#name", "Contacts of Mara"), chromedp.Click("[value=make]"))
	b.sees("Back in the application")
	_, id, _ := strings.Cut(run(b, chromedp.Location()), "dataFeedId=")
	f, err := c.DataFeed(t.Context(), id)
	if err != nil || f.Name != "Contacts of Mara" {
		t.Fatalf("%+v %v", f, err)
	}
	if body := <-arrived; !strings.Contains(body, id) {
		t.Errorf("%s", body)
	}
	for f.State != "ready" {
		if f, err = c.DataFeed(t.Context(), id); err != nil || f.State == "failed" || b.ctx.Err() != nil {
			t.Fatalf("%+v %v", f, err)
		}
	}
	if f.RowCount != 7 || len(f.Columns) != 4 {
		t.Errorf("%+v", f)
	}
	again := open(t)
	again.expected = []string{"409"}
	again.visit(link.URL)
	again.sees("The link was already used")
	again.accessible("connect-over")
}

// startProvider starts what the server's personal service is connected at, and the
// application that people come back to.
func startProvider() (stop func()) {
	server.provider = connecttest.New()
	server.pages.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,">Back in the application`))
	})
	server.app = httptest.NewServer(&server.pages)
	return func() {
		server.provider.Close()
		server.app.Close()
	}
}
