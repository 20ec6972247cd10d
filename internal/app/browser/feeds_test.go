package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

const orders = "id,name,amount,day,zip\n1,Ann,12.50,2026-01-31,01234\n2,Bob,3,2026-02-28,98765\n"

func TestFeedList(t *testing.T) {
	c, key := workspace(t)
	b := signedIn(t, key)
	b.sees("Create your first feed")
	b.accessible("feeds-empty")
	upload(t, c, "Shop orders", "orders.csv", orders)
	upload(t, c, "Bank statements", "bank.csv", orders)
	upload(t, c, `<img src=x onerror="console.error('ran')">`, "hostile.csv", orders)
	b.visit("/ui/feeds")
	b.sees("3 feeds")
	b.sees(`<img src=x onerror=`)
	b.accessible("feeds")
	b.do(chromedp.KeyEvent("/"))
	b.wait(`document.activeElement.id === 'q'`)
	b.do(chromedp.SetValue("#q", "shop"), chromedp.KeyEvent("\r"))
	b.wait(`document.querySelectorAll('tbody tr').length === 1`)
	b.visit("/ui/feeds?q=nothing-like-it")
	b.sees("No feed matches “nothing-like-it”")
	b.do(chromedp.KeyEvent("gf"))
	b.wait(`location.search === '' && document.querySelectorAll('tbody tr').length === 3`)
	// A page that is not there leaves people where they are.
	b.expected = []string{"404"}
	b.visit("/ui/nowhere")
	b.sees("The page does not exist")
	b.wait(`document.querySelector('.rail [data-go=f]')`)
	b.accessible("nowhere")
}

// TestShowMore adds the rows of the next pages below those that are shown, and they stay while the
// list updates.
func TestShowMore(t *testing.T) {
	c, key := workspace(t)
	for i := range 101 {
		if _, err := c.CreateSubscription(t.Context(), client.NewSubscription{Name: fmt.Sprint("Number ", i), URL: "http://127.0.0.1:1/", Events: []string{"tag.*"}}); err != nil {
			t.Fatal(err)
		}
	}
	b := signedIn(t, key)
	b.visit("/ui/subscriptions")
	rows := `document.querySelectorAll('[data-rows="subscriptions"] > tr').length`
	for _, n := range []string{"100", "101"} {
		b.do(chromedp.Click("a[data-more]"))
		b.wait(rows + ` === ` + n + ` && document.activeElement.closest('[data-rows]')`)
	}
	b.wait(`!document.querySelector('a[data-more]') && location.search === '' && new Set([...document.querySelectorAll('[data-rows] a')].map((a) => a.href)).size === 101`)
	var last client.Subscription
	for s, err := range c.Subscriptions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if last.ID == "" {
			last = s
		}
	}
	if _, err := c.ChangeSubscription(t.Context(), last.ID, client.SubscriptionChange{State: feedmill.SubscriptionPaused}); err != nil {
		t.Fatal(err)
	}
	b.wait(`document.querySelector('[data-rows] > tr').innerText.includes('Paused') && ` + rows + ` === 101`)
}
