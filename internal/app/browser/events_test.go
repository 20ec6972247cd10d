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
	b.sees("Nothing has happened yet")
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
	b.sees("nobody has subscribed")
	// By its first letter a family is chosen, of which the tail shows what comes.
	b.reach("#type")
	b.press("m")
	b.wait(`location.search.includes('type=metric.*') && document.querySelectorAll('#tail tbody tr').length === 1`)

	b.visit("/ui/events/" + first.ID)
	b.sees("Metrics")
	b.sees(evil)
	b.sees("1 delivered")
	b.sees(`"\\u202egnp"`) // as JSON writes it, so that it turns nothing
	b.sees("It is to other types: tag.*.")
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
