package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestRestWizard sets up a fetch: a refusal in the source's own words, a try, the YAML in
// step with the form, and the feed.
func TestRestWizard(t *testing.T) {
	_, key := workspace(t)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer s3cret" {
			http.Error(w, `{"error":"no <b>token</b>, no orders"}`, http.StatusForbidden)
			return
		}
		page := r.URL.Query().Get("page")
		if page == "3" {
			fmt.Fprint(w, `{"data":[]}`)
			return
		}
		fmt.Fprintf(w, `{"data":[{"id":%s01,"zip":"01067","big":12345678901234567890},{"id":%s02,"zip":"98104","big":1}]}`, page, page)
	}))
	defer source.Close()
	b := signedIn(t, key)
	b.visit("/ui/feeds/new")
	b.do(chromedp.Click("[href='/ui/feeds/new/rest']"))
	b.wait(`document.querySelector('#url')`)
	b.accessible("rest")
	b.expected = []string{"422"}
	b.do(chromedp.SendKeys("#name", "Shop orders"), chromedp.SendKeys("#url", source.URL+"/orders"), chromedp.Click("[value=try]"))
	b.sees("Response of the source")
	b.sees("no <b>token</b>, no orders")
	b.accessible("rest-error")
	b.do(
		chromedp.SetValue("#auth", "bearer"), chromedp.Evaluate[chromedp.Void](`document.querySelector('#auth').dispatchEvent(new Event('change', {bubbles: true})); undefined`),
		chromedp.SendKeys("#token", "s3cret"),
	)
	b.wait(`document.querySelector('#yaml').value.includes('kind: bearer')`)
	// What only the YAML says stays when the form is used again.
	b.do(chromedp.Evaluate[chromedp.Void](`{const y = document.querySelector('#yaml');
		y.value += 'pagination:\n  kind: page\n  param: page\n  maxPages: 9\n'; y.dispatchEvent(new Event('input', {bubbles: true}));} undefined`))
	b.wait(`document.querySelector('#paging').value === 'page' && document.querySelector('#param').value === 'page' && !document.querySelector('#param').closest('[data-when]').hidden`)
	b.do(chromedp.SendKeys("#path", "$.data[*]"))
	b.wait(`document.querySelector('#yaml').value.includes('path: $.data[*]') && document.querySelector('#yaml').value.includes('maxPages: 9')`)
	b.do(chromedp.Click("[value=try]"))
	b.sees("4 records")
	b.sees("12345678901234567890")
	b.accessible("rest-tried")
	b.do(chromedp.Click("[value=make]"))
	b.sees("Feed created")
	b.waitReloading(`document.querySelector('.grid td bdi')?.textContent === '101'`)
}

// TestQueryWizard makes a feed of a query, from the service to the SQL.
func TestQueryWizard(t *testing.T) {
	c, key := workspace(t)
	upload(t, c, "Shop orders", "orders.csv", "id,name,amount,status,day\n1,Ann,12.50,paid,2020-01-01\n2,Bob,3,open,2020-01-02\n3,Eve,90,paid,2020-01-03\n")
	b := signedIn(t, key)
	b.visit("/ui/feeds/new/query")
	b.do(chromedp.Click(".picks a[href*='service=feeds']"))
	b.wait(`document.querySelector('.picks.mono a')`)
	b.do(chromedp.Click(".picks.mono a"))
	b.sees("What runs")
	b.sees("SELECT")
	// Errors are at their fields, and the first of them has the focus.
	b.do(chromedp.SetValue("[name='f.field']", "amount"), chromedp.SetValue("[name='f.value']", "much"), chromedp.SetValue("[name='as.name']", "id"), chromedp.Click("#query .button"))
	b.wait(`document.activeElement.name === 'as.name' && document.querySelector('.field-row.wrong .message').innerText.includes('listed twice') && document.querySelector('.filter-row.wrong .message').innerText.includes('a number')`)
	b.accessible("query-wrong")
	b.do(chromedp.Clear("[name='as.name']"), chromedp.Click("#query .button"))
	b.wait(`document.activeElement.name === 'f.value' && document.querySelectorAll('.wrong').length === 1`)
	b.do(chromedp.SetValue("[name='f.field']", "status"), chromedp.SetValue("[name='f.value']", "paid"), chromedp.SetValue("#name", "Paid orders"), chromedp.Click("#query .button"))
	b.wait(`document.querySelector('.proof .grid tbody')?.rows.length === 2`)
	b.do(chromedp.SetValue(".filter-row + .filter-row [name='f.field']", "amount"), chromedp.SetValue(".filter-row + .filter-row [name='f.op']", "gt"),
		chromedp.SetValue(".filter-row + .filter-row [name='f.value']", "50"), chromedp.Click("#query .button"))
	b.wait(`document.querySelector('.proof .grid tbody')?.rows.length === 1 && document.querySelector('.parameters')?.innerText.includes('50')`)
	b.accessible("query")
	b.wait(`document.querySelector('.ran')?.innerText.includes('in the source')`)
	// Either of two filters of a field, and a day that moves with the clock.
	b.do(chromedp.SetValue(".filter-row [name='f.field']", "amount"), chromedp.SetValue(".filter-row [name='f.op']", "lt"), chromedp.SetValue(".filter-row [name='f.value']", "10"), chromedp.Click("#query .button"))
	b.wait(`document.querySelector('.proof .grid tbody') && !document.querySelector('.proof .grid tbody').rows.length`)
	b.do(chromedp.SetValue("[name='match.amount']", "any"))
	b.wait(`document.querySelector('.proof .grid tbody')?.rows.length === 2`)
	b.do(chromedp.SetValue(".filter-row [name='f.field']", "day"), chromedp.SetValue(".filter-row [name='f.op']", "last day +"), chromedp.SetValue(".filter-row [name='f.value']", "7"), chromedp.Click("#query .button"))
	b.wait(`document.querySelector('.proof .grid tbody') && !document.querySelector('.proof .grid tbody').rows.length && document.querySelector('.proof').innerText.includes('to before')`)
	b.accessible("query-period")
	b.do(chromedp.SetValue(".filter-row [name='f.field']", "status"), chromedp.SetValue(".filter-row [name='f.op']", "eq"), chromedp.SetValue(".filter-row [name='f.value']", "paid"), chromedp.Click("#query .button"))
	b.wait(`document.querySelector('.proof .grid tbody')?.rows.length === 1`)
	// Numbers of groups of rows: by status, and the sum of amounts.
	b.do(chromedp.SetValue("[name='agg.amount']", "sum"))
	b.sees("those without an aggregate group the rows")
	b.wait(`document.querySelector('#sql')?.innerText.toLowerCase().includes('sum(')`)
	b.do(chromedp.SetValue("[name='agg.amount']:not(.set)", "max"))
	b.wait(`document.querySelector('.proof .grid thead')?.innerText.includes('amount_max')`)
	// Columns are called as they are wanted, in the form, the preview, its SQL and the feed.
	b.do(chromedp.SetValue("[name='as.amount.max']", "most"), chromedp.SetValue("[name='as.name']", "who"), chromedp.Click("#query .button"))
	b.wait(`['most', 'who'].every((name) => ['.proof .grid thead', '#sql', '#sort'].some((at) => document.querySelector(at)?.innerText.includes(name))) && !document.querySelector('.proof .grid thead').innerText.includes('amount_max')`)
	b.do(chromedp.SetValue("[name='agg.amount'].set ~ .set", ""))
	b.wait(`document.querySelectorAll("[name='agg.amount']").length === 2`)
	b.do(chromedp.SetValue("[name='agg.amount']", ""))
	b.wait(`document.querySelector('#sql') && !document.querySelector('#sql').innerText.toLowerCase().includes('sum(')`)
	b.do(chromedp.Click("input[value=id]"))
	b.wait(`!document.querySelector('.proof .grid thead').innerText.includes('id\n')`)
	b.do(chromedp.Click(".actions .primary"))
	b.sees("Feed created")
	b.sees("Paid orders")
	b.waitReloading(`document.querySelector('.grid thead')?.innerText.includes('who') && document.querySelector('.grid td bdi')?.textContent === 'Eve'`)
}

func TestConnections(t *testing.T) {
	_, key := workspace(t)
	b := signedIn(t, key)
	b.visit("/ui/connections")
	b.sees("No connections yet")
	b.accessible("connections-empty")
	b.do(chromedp.KeyEvent("n"))
	b.wait(`document.querySelector('#serviceName')`)
	b.expected = []string{"422"}
	b.do(chromedp.Click("form.settings .primary"))
	b.wait(`document.querySelector('.field.wrong .message')`)
	b.accessible("connection-wrong")
	b.do(chromedp.SetValue("#serviceName", "warehouse"), chromedp.SetValue("#host", "127.0.0.1"), chromedp.SetValue("#port", "1"), chromedp.SetValue("#database", "shop"),
		chromedp.SetValue("#user", "reader"), chromedp.SetValue("#password", "s3cret"), chromedp.Click("form.settings .primary"))
	b.sees("Saved")
	b.do(chromedp.Click(".actions .primary"))
	b.sees("The connection failed.")
	b.accessible("connection")
	b.visit("/ui/connections")
	b.sees("127.0.0.1:1/shop")
	b.accessible("connections")
	b.do(chromedp.Click("tbody tr a"))
	b.do(chromedp.Click("section.settings summary"), chromedp.Click(".danger.sure"))
	b.sees("No connections yet")
}

// TestQueryBuilder builds a query of two joined views: rows of the form are added without loading the
// page, and every part of the query is in the preview and in the feed.
func TestQueryBuilder(t *testing.T) {
	c, key := workspace(t)
	orders := upload(t, c, "Orders", "orders.csv", "id,customer,price,cost,at\n1,7,10.50,4,2026-01-05T10:00:00Z\n2,8,20,5,2026-01-31T23:30:00Z\n3,7,30,6,2026-02-02T10:00:00Z\n4,9,1,1,2026-02-03T10:00:00Z\n")
	customers := upload(t, c, "Customers", "customers.csv", "number,country\n7,AT\n8,DE\n")
	b := signedIn(t, key)
	b.visit("/ui/feeds/new/query?service=feeds&view=" + orders.ID)
	b.sees("What runs")
	change := func(selector, value string) {
		t.Helper()
		b.do(chromedp.SetValue(selector, value))
	}
	// A join without fields is refused at its row, and complete with them.
	b.do(chromedp.SetValue("[name='j.kind']", "left"))
	change("[name='j.view']", customers.ID)
	b.wait(`document.querySelector('.join-row.wrong .message') && document.querySelector("[name='j.as']").value === 'd'`)
	b.accessible("query-join-wrong")
	change("[name='j.left']", "customer")
	b.wait(`document.querySelector("[name='j.left']").value === 'customer'`)
	change("[name='j.right']", "number")
	b.wait(`!document.querySelector('.wrong') && document.querySelector('#sql').innerText.includes('LEFT JOIN')`)
	b.do(chromedp.Click("input[value='d.country']"))
	b.wait(`document.querySelector('.proof .grid thead')?.innerText.includes('country')`)
	// A computed field is chosen when it is added; an error is at its row.
	b.do(chromedp.SetValue("[name='c.name']", "margin"), chromedp.SetValue("[name='c.expression']", "price - costs"), chromedp.Click("#query button.button"))
	b.wait(`document.activeElement.name === 'c.expression' && document.querySelector('.computed-row.wrong .message').innerText.includes('costs')`)
	b.do(chromedp.SetValue("[name='c.expression']", "price - cost"), chromedp.Click("#query button.button"))
	b.wait(`document.querySelector('.proof .grid thead')?.innerText.includes('margin') && document.querySelector("input[value='margin']").checked`)
	// Two filters are added without loading the page; any of them is enough.
	b.do(chromedp.Evaluate[chromedp.Void](`window.kept = true; undefined`), chromedp.Click("[data-add='row-filters']"))
	b.wait(`document.querySelectorAll('.filter-row').length === 2 && document.activeElement === document.querySelectorAll('.filter-row')[1].querySelector('select') && window.kept`)
	b.do(chromedp.Click("[data-add='row-filters']"))
	b.wait(`document.querySelectorAll('.filter-row').length === 3 && document.getElementById('announced').textContent === 'Row added'`)
	b.do(chromedp.Click(".filter-row:nth-child(3) [data-remove]"))
	b.wait(`document.querySelectorAll('.filter-row').length === 2 && window.kept`)
	b.do(chromedp.SetValue(".filter-row:nth-child(1) [name='f.field']", "d.country"), chromedp.SetValue(".filter-row:nth-child(1) [name='f.value']", "AT"),
		chromedp.SetValue(".filter-row:nth-child(2) [name='f.field']", "margin"), chromedp.SetValue(".filter-row:nth-child(2) [name='f.op']", "gt"), chromedp.SetValue(".filter-row:nth-child(2) [name='f.value']", "10"))
	change("#match", "any")
	b.wait(`document.querySelector('.proof .grid tbody')?.rows.length === 3 && document.querySelector('#sql').innerText.includes(' OR ')`)
	// Groups by month of a time zone, of which the large ones stay, in an order of two columns.
	for _, name := range []string{"id", "customer", "price", "cost"} {
		b.do(chromedp.Click("input[value='" + name + "']"))
		b.wait(`!document.querySelector("input[value='` + name + `']").checked && document.querySelector('.proof .grid')`)
	}
	change("[name='group.at']", "month")
	b.wait(`document.querySelector("[name='group.at']").value === 'month'`)
	change("[name='agg.margin']", "sum")
	b.wait(`document.querySelector("[name='agg.margin']").value === 'sum'`)
	change("#sort", "d.country")
	b.wait(`document.querySelectorAll("[name='sort']").length === 2`)
	change("[aria-label='Then by']", "at")
	b.wait(`document.querySelectorAll("[name='sort']").length === 3`)
	b.do(chromedp.SetValue("[name='h.fn']", "sum"), chromedp.SetValue("[name='h.field']", "margin"), chromedp.SetValue("[name='h.value']", "10"),
		chromedp.SetValue("#timezone", "Europe/Vienna"), chromedp.SetValue("#name", "Margins"), chromedp.Click("#query button.button"))
	b.wait(`[...document.querySelectorAll('.proof .grid tbody tr')].map((r) => r.innerText.replace(/\s+/g, ' ').trim()).join('; ') === '2026-02-01 AT 24.00; 2026-02-01 DE 15.00'`)
	b.wait(`document.querySelector('.ran').innerText.includes('sum(margin)')`)
	b.accessible("query-builder")
	b.do(chromedp.Click(".actions .primary"))
	b.sees("Feed created")
	b.sees("Margins")
	b.waitReloading(`document.querySelectorAll('.grid tbody tr').length === 2`)
}
