package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
)

// TestLineage shows what a feed is built from and what is built from it, and follows it by links.
func TestLineage(t *testing.T) {
	c, key := workspace(t)
	orders := upload(t, c, "Orders", "orders.csv", "id,shop\n1,a\n2,b\n")
	other := upload(t, c, "Other", "other.csv", "a\n1\n")
	build := func(name, view string) client.DataFeed {
		t.Helper()
		f, err := c.CreateQueryFeed(t.Context(), client.QueryFeed{
			Spec: fmt.Appendf(nil, `{"name":%q,"serviceName":"feeds","viewName":%q,"query":{"fields":[{"field":"id"}]}}`, name, view), Wait: time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	numbers := build("Order numbers", orders.ID)
	for i := range 8 {
		build(fmt.Sprintf("Report %d", i), numbers.ID)
	}
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + numbers.ID + "/lineage")
	b.sees("1 feed upstream, 8 downstream.")
	b.waitReloading(`document.querySelectorAll('.lineage-lines path.line').length === 7 && document.querySelectorAll('.lineage-lines text').length >= 1`)
	b.wait(`[...document.querySelectorAll('.lineage-heads h3')].map((h) => h.innerText).join() === 'Upstream, direct,This feed,Downstream, direct'`)
	b.sees("and 2 more")
	b.wait(`document.querySelectorAll('#connected + .table-box tbody tr').length === 9`)
	b.accessible("feed-lineage")
	b.do(chromedp.Click(".lineage-column:first-of-type .node"))
	b.sees("0 feeds upstream, 9 downstream.")
	b.visit("/ui/feeds/" + other.ID + "/lineage")
	b.sees("No feed reads this one.")
}
