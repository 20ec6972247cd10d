package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestChart draws charts, changes each control, and reads the values by keys.
func TestChart(t *testing.T) {
	c, key := workspace(t)
	var data strings.Builder
	data.WriteString("placed_at,total,country,extra\n")
	for month := range 14 {
		for i := range 5 {
			fmt.Fprintf(&data, "%d-%02d-%02dT10:00:00Z,%d.50,%s,%d\n", 2024+month/12, month%12+1, i+1, month*100+i, []string{"DE", "SE", "DK"}[i%3], i)
		}
	}
	f := upload(t, c, "Shop orders", "orders.csv", data.String())
	upload(t, c, "Other", "other.csv", "a\n1\n")
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID + "/chart")
	b.sees("Rows by month")
	b.sees("70 of 70 rows")
	b.wait(`document.querySelectorAll('svg.chart path.s-bar').length > 0 && document.querySelector('#c-measure').value === ''`)
	b.accessible("feed-chart")

	choose := func(control, value string) {
		b.t.Helper()
		b.do(chromedp.Evaluate[chromedp.Void](`{const f = document.querySelector(` + quote(control) + `); f.value = ` + quote(value) + `; f.dispatchEvent(new Event('change', {bubbles: true}));} undefined`))
		b.wait(`document.readyState === 'complete' && new URLSearchParams(location.search).get(document.querySelector(` + quote(control) + `)?.name) === ` + quote(value))
	}
	choose("#c-measure", "total")
	b.sees("Sum of total by month")
	b.wait(`document.querySelector(".chart-facts").innerText.replace(/\s/g, "").includes("45675")`)
	// The cursor is moved by keys, and says what it shows.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.chart-box').focus(); undefined`), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight))
	b.wait(`document.querySelector('.chart-tip').innerText.includes('February 2024') && document.querySelector('#chart-said').textContent.includes('5 rows')`)
	choose("#c-split", "country")
	b.sees("Sum of total by month and country")
	b.wait(`[...document.querySelectorAll('.chart-title .key')].map((k) => k.textContent.trim().slice(0, 2)).join() === 'SE,DE,DK'`)
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('.switch a')].find((a) => a.innerText === 'Line').click(); undefined`))
	b.wait(`document.querySelectorAll('svg.chart path.line').length === 3 && document.querySelector('.switch [aria-current]').innerText === 'Line'`)
	b.accessible("feed-chart-line")

	// A filter keeps the other controls, and Back undoes it.
	b.do(chromedp.Click(".add-filter summary"))
	b.fill("#f-column", "country")
	b.fill("#f-value", "DE")
	b.do(chromedp.Click(".filter-form button"))
	b.sees("28 of 70 rows")
	b.wait(`document.querySelector('#c-measure').value === 'total' && document.querySelector('.chart-link code').innerText.includes('filter=country')`)
	b.do(chromedp.NavigateBack())
	b.sees("70 of 70 rows")

	// A text cannot be summed: the aggregate becomes a count. As a table it has the same numbers.
	choose("#c-measure", "country")
	b.sees("Count of country by month and country")
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('.switch a')].find((a) => a.innerText === 'Table').click(); undefined`))
	b.wait(`document.querySelector('.chart-table tbody tr')?.innerText.replace(/\s+/g, ' ').trim() === 'January 2024 2 2 1 5'`)
	b.accessible("feed-chart-table")

	// Too many groups are a table, and no rows leave the axes.
	many := upload(t, c, "Many", "many.csv", "n\n"+strings.Join(numbers(401), "\n")+"\n")
	b.visit("/ui/feeds/" + many.ID + "/chart")
	b.sees("Choose a longer period or add a filter to see a plot.")
	b.wait(`document.querySelectorAll('.chart-table tbody tr').length === 401`)
	b.visit("/ui/feeds/" + many.ID + "/chart?filter=n:lt:0")
	b.sees("No rows match these filters.")
	b.wait(`document.querySelectorAll('.chart-scale text').length > 0`)
	b.do(chromedp.Click(".chart-none a"))
	b.sees("401 of 401 rows")
	b.visit("/ui/feeds/" + many.ID + "/chart?filter=nope:lt:0")
	b.sees(`There is no column "nope"`)
}

func numbers(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(i))
	}
	return all
}
