package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
)

func TestPublishAndLiveTail(t *testing.T) {
	c, key := workspace(t)
	to := newEndpoint(t)
	if _, err := c.CreateSubscription(t.Context(), client.NewSubscription{Name: "Metrics", URL: to.URL, Events: []string{"metric.*"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateSubscription(t.Context(), client.NewSubscription{Name: "Tags of one", URL: to.URL, Events: []string{"tag.*"}, Filters: client.Filters{ResourceID: "t_1"}}); err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, key)
	b.visit("/ui/events")
	b.sees("No events yet")
	b.accessible("events-empty")
	// The row comes by itself, and says in the end that it was delivered.
	b.wait(`document.querySelector('#live').innerText === 'Live'`)
	publish := func(e client.NewEvent) client.Accepted {
		t.Helper()
		accepted, err := c.Publish(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		return accepted
	}
	evil := `<img src=x onerror=console.error('ran')>`
	first := publish(client.NewEvent{Type: "metric.updated", ResourceID: evil, Data: map[string]any{"evil": evil, "\u202egnp": "👩‍👩‍👧‍👧"}})
	b.wait(`document.querySelectorAll('#tail tbody tr').length === 1`)
	b.wait(`document.querySelector('#tail tbody').innerText.includes('1 delivered')`)
	b.do(chromedp.KeyEvent(" "))
	b.wait(`!document.querySelector('#held').hidden`)
	publish(client.NewEvent{Type: "tag.created"})
	b.sees("1 newer event waits.")
	b.accessible("events")
	b.do(chromedp.KeyEvent("\x1b"))
	b.wait(`document.querySelectorAll('#tail tbody tr').length === 2`)
	b.sees("no subscription")
	b.opensInRow(first, evil, func() { publish(client.NewEvent{Type: "tag.updated"}) })
	// By its first letter a family is chosen, of which the tail shows what comes.
	b.reach("#type")
	b.press("m")
	b.wait(`location.search.includes('type=metric.*') && document.querySelectorAll('#tail tbody tr').length === 1`)

	b.visit("/ui/events/" + first.ID)
	b.sees("Metrics")
	b.sees(evil)
	b.sees("1 delivered")
	b.sees(`"\\u202egnp"`) // as JSON writes it, so that it turns nothing
	b.sees("It subscribes to other types: tag.*.")
	b.accessible("event")

	b.visit("/ui/events/publish")
	b.sees("JSON Schema")
	b.accessible("publish")
	b.expected = []string{"422"}
	b.do(chromedp.SetValue("#resource", "m_7"), chromedp.SetValue("#data", "{\n\"value\": 1,\n}"), chromedp.Click("form.publish .primary"))
	b.wait(`document.querySelector('.wrong .message')?.innerText.includes('line 3')`)
	b.do(chromedp.SetValue("#data", `{"value": 12345678901234567890}`), chromedp.Click("form.publish .primary"))
	b.sees("12345678901234567890")
	b.sees("Published")
}

// opensInRow opens the second of two events below its row by keys and by the mouse, which holds
// the tail until it is closed. Its address is that of its page.
func (b *tab) opensInRow(e client.Accepted, evil string, publish func()) {
	b.t.Helper()
	open := `location.pathname === '/ui/events/` + e.ID + `' && document.querySelector('tr.open')?.dataset.href === location.pathname && document.querySelector('tr.open + .opened .halves')`
	row := `tr[data-href="/ui/events/` + e.ID + `"]`
	closed := `location.pathname === '/ui/events' && !document.querySelector('.opened, .open') && document.querySelector('#live').innerText === 'Live'`
	b.press("jj")
	b.wait(`document.activeElement.matches('` + row + ` a')`)
	b.press("\r")
	b.wait(open)
	b.sees("Held while an event is open.")
	publish()
	b.sees("1 newer event waits.")
	for _, text := range []string{evil, `"\\u202egnp"`, "It subscribes to other types: tag.*.", e.ID} {
		b.wait(`document.querySelector('.opened').innerText.includes(` + quote(text) + `)`)
	}
	if ran := run(b, chromedp.Evaluate[int](`document.querySelectorAll('main img').length`)); ran > 0 {
		b.t.Error("what an event holds has become a part of the page")
	}
	b.accessible("event-in-row")
	b.press("\x1b")
	b.wait(closed + ` && document.querySelectorAll('#tail tbody tr').length === 3 && document.activeElement.matches('` + row + ` a')`)

	// Back closes as well, and what is pressed on in the open event works by itself.
	b.do(chromedp.Click(row + " td.went"))
	b.wait(open)
	b.do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	b.wait(closed)
	b.do(chromedp.Click(row + " td.went"))
	b.wait(open)
	b.do(chromedp.Click("#follow"))
	b.wait(closed)
	b.do(chromedp.Click(row + " td.went"))
	b.wait(open)
	b.do(chromedp.Click(".opened tr[data-href] td.p2"))
	b.wait(`location.pathname.startsWith('/ui/deliveries/')`)
	b.visit("/ui/events")
	b.wait(closed)
}
