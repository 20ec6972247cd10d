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
