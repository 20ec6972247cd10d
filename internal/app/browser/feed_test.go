package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/feedmill/feedmill/client"
)

func TestFeedTable(t *testing.T) {
	c, key := workspace(t)
	var data strings.Builder
	data.WriteString("n,status,note,big\n")
	for i := range 30_000 {
		fmt.Fprintf(&data, "%d,%s,\"row, %d\",%d0000000000000001\n", i, []string{"paid", "open", ""}[i%3], i, i+1)
	}
	f := upload(t, c, "Shop orders", "orders.csv", data.String())
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID)
	b.wait(`document.querySelector('.grid td bdi')?.textContent === '0'`)
	// What the columns are like stands in their heads.
	b.wait(`document.querySelectorAll('[data-picture=n] .hist rect').length === 20 && document.querySelector('[data-picture=status]').innerText.includes('33\u202f% null')`)
	b.accessible("feed")
	// The digits are those of the data, and null is no text.
	b.wait(`document.querySelector('.grid tbody tr:nth-child(3)').innerText.includes('30000000000000001') && document.querySelector('.grid tbody tr:nth-child(3) i')`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.grid-box').scrollTop = 1e9; undefined`))
	b.wait(`document.querySelector('.grid').innerText.includes('row, 29999')`)
	if rows := run(b, chromedp.Evaluate[int](`document.querySelectorAll('.grid tbody tr').length`)); rows > 60 {
		t.Errorf("the table has %d rows in memory", rows)
	}
	// By keys alone: to the top, and a selection.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.grid-box').focus(); undefined`), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.wait(`document.querySelectorAll('td.chosen').length === 2 && document.querySelector('.cells').innerText === '2 cells, sum 1'`)
	b.visit("/ui/feeds/" + f.ID + "?sort=-n&filter=status:eq:paid")
	b.wait(`document.querySelector('.grid td bdi')?.textContent === '29997'`)
	b.sees("10\u202f000 of 30\u202f000 rows")
	b.wait(`document.querySelectorAll('[data-picture=n] .hist rect.left').length === 20 && [...document.querySelectorAll('[data-picture=status] .left')].map((r) => r.getAttribute('width')).sort().join() === '0.0,50.0'`)
	b.do(chromedp.Click(".chip.boxed"))
	b.sees("30\u202f000 rows")
	b.do(chromedp.Click(".add-filter summary"), chromedp.SetValue("#f-column", "note"), chromedp.SetValue("#f-op", "contains"), chromedp.SetValue("#f-value", "row, 1234"), chromedp.Click(".filter-form button"))
	b.sees("note contains row, 1234")
	b.sees("11 of 30\u202f000 rows")
	// What is exported, copied and counted are the rows that are shown, and the address names them.
	b.do(chromedp.Evaluate[chromedp.Void](`navigator.clipboard.writeText = async (text) => { window.clipped = text; }; undefined`), chromedp.Click("[data-copy-rows]"))
	b.wait(`window.clipped?.split('\r\n').length === 13 && window.clipped.startsWith('n,status,note,big\r\n12349,open,"row, 12349",12350000')`)
	if got := run(b, chromedp.Evaluate[string](`fetch(document.querySelector('.menu-box a').href).then((r) => r.text())`, chromedp.EvalAwaitPromise)); strings.Count(got, "\n") != 12 {
		t.Errorf("the export has %q", got)
	}
	b.do(chromedp.Click(".tabs [href*='/profile']"))
	b.sees("11 rows of version 1 are left by note contains row, 1234")
	b.do(chromedp.Evaluate[chromedp.Void](`navigator.clipboard.writeText = async (text) => { window.clipped = text; }; undefined`))
	b.press("Y")
	b.wait(`window.clipped?.startsWith('Column,Values,Distinct,Null,Middle,Notes\r\nn integer,')`)
	b.visit("/ui/feeds/" + f.ID + "?row=12345&sort=-n")
	b.wait(`document.querySelector('td.active')?.innerText === '17655' && document.querySelector('td.active').parentNode.cells[0].innerText === '12\u202f345'`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.grid-box').focus(); undefined`), chromedp.KeyEvent(kb.ArrowDown))
	b.wait(`new URLSearchParams(location.search).get('row') === '12346'`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait(`!location.search.includes('row') && location.search.includes('offset=') && location.search.includes('sort=-n')`)
	for _, tab := range []string{"profile", "refreshes", "versions", "links", "settings", "use"} {
		b.visit("/ui/feeds/" + f.ID + "/" + tab)
		b.accessible("feed-" + tab)
	}
	b.visit("/ui/feeds/" + f.ID + "/versions")
	b.do(chromedp.Click("[value=pin]"))
	b.wait(`document.querySelector('[value=unpin]')`)
	b.visit("/ui/feeds/" + f.ID + "/links")
	b.do(chromedp.SetValue("#name", "Dashboard"), chromedp.SetValue("#format", "csv"), chromedp.Click("section .primary"))
	b.wait(`document.querySelector('#made-link')`)
	if got := run(b, chromedp.Evaluate[string](`fetch(document.querySelector('#made-link').innerText, {credentials: 'omit'}).then(r => r.text()).then(t => t.slice(0, 17))`, chromedp.EvalAwaitPromise)); got != "n,status,note,big" {
		t.Errorf("the link reads %q", got)
	}
	b.accessible("feed-links-made")
	b.do(chromedp.Click(".made-key .primary"))
	b.wait(`!document.querySelector('#made-link')`)
	b.do(chromedp.Click("tbody .sure-box summary"), chromedp.Click("tbody .danger.sure"))
	b.sees("No links yet")
	b.visit("/ui/feeds/" + f.ID + "/settings")
	b.do(chromedp.SetValue("#name", "Orders of the shop"), chromedp.Click(".settings .primary"))
	b.sees("Saved")
	b.do(chromedp.Click("section.settings summary"), chromedp.Click(".danger.sure"))
	b.sees("Create your first feed")
}

func TestRestFeedPages(t *testing.T) {
	c, key := workspace(t)
	var broken atomic.Bool
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, `{"error":"<b>the shop is closed</b>"}`, http.StatusNotFound)
			return
		}
		fmt.Fprint(w, `[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]`)
	}))
	defer source.Close()
	f, err := c.CreateRestFeed(t.Context(), client.RestFeed{Spec: []byte(`{"name":"Shop","request":{"url":"` + source.URL + `/orders"},"schedule":{"every":"15m"},"retry":{"maxAttempts":1}}`), Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID)
	b.sees("every 15m")
	broken.Store(true)
	b.do(chromedp.Click(".actions .primary"))
	b.sees("Refresh started")
	b.waitReloading(`document.body.innerText.includes('the shop is closed')`)
	b.visit("/ui/feeds/" + f.ID + "/refreshes")
	b.wait(`document.querySelector('.rail .trouble')?.innerText.includes('1')`)
	b.do(chromedp.Click("tbody tr a"))
	b.sees("Requests")
	b.accessible("refresh")
	b.visit("/ui/feeds/" + f.ID + "/settings")
	b.wait(`document.querySelectorAll('.runs li').length === 5`)
	// While it is written, the form says what a schedule comes to.
	b.do(chromedp.SetValue("[name=cron]", "0 6 * * 1-5"), chromedp.Clear("[name=timezone]"), chromedp.SendKeys("[name=timezone]", "Europe/Paris"))
	b.wait(`document.querySelector('[name=when][value=cron]').checked && document.querySelector('.plan').innerText.includes('in Europe/Paris') &&
		new Set([...document.querySelectorAll('.runs > li > time')].map((t) => t.innerText)).size === 5 && document.querySelector('.runs time').innerText.endsWith('06:00')`)
	b.do(chromedp.SendKeys("[name=timezone]", "x"))
	b.sees("The time zone is unknown")
	b.do(chromedp.Clear("[name=every]"), chromedp.SendKeys("[name=every]", "1s"))
	b.wait(`document.querySelector('.schedule.wrong .message')?.innerText.includes('between')`)
	b.do(chromedp.Click(".settings .primary"))
	b.expected = []string{"422"}
	b.wait(`document.querySelector('fieldset.wrong[data-wrong] .message')`) // of the page that came, not of the script
	b.accessible("feed-settings-wrong")
}

// TestRejects shows the rows that were not stored, on the page of their refresh and on their own.
func TestRejects(t *testing.T) {
	c, key := workspace(t)
	var data strings.Builder
	data.WriteString("id,spend\n")
	for i := range 240 {
		fmt.Fprintf(&data, "%d,%s\n", i, []string{"1.50", "<b>12.4O</b>"}[i%2])
	}
	f, err := c.CreateDataFeed(t.Context(), client.Upload{
		Name: "Ad spend", Data: strings.NewReader(data.String()), Format: "csv", FileName: "spend.csv",
		Columns: []client.ColumnChange{{SourceName: "spend", Type: client.To("decimal"), OnMisfit: client.To("reject")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID + "/refreshes")
	b.do(chromedp.Click("tbody tr a"))
	b.sees("9 of 120")
	b.sees("<b>12.4O</b>")
	b.accessible("refresh-rejects")
	b.do(chromedp.Click("section .title .end"))
	b.wait(`document.querySelector('h1').innerText === 'Rejected rows' && document.querySelectorAll('.rejects tbody tr').length === 100`)
	b.do(chromedp.Click(".whole summary"))
	b.sees(`"spend": "<b>12.4O</b>"`)
	b.accessible("rejects")
	b.do(chromedp.KeyEvent("["))
	b.wait(`document.querySelectorAll('.rejects tbody tr').length === 20`)
}

// What strangers wrote is text, in every place.
func TestHostileRows(t *testing.T) {
	c, key := workspace(t)
	evil := `<script>console.error('ran')</script><img src=x onerror=console.error('ran')>`
	f := upload(t, c, evil, "hostile.csv", "\"<img src=x onerror=console.error(1)>\",\u202eevil,emoji\n\""+evil+"\",\u202etxt.exe,👩‍👩‍👧‍👧\n"+strings.Repeat("x", 1<<20)+",javascript:alert(1),=cmd()\n")
	b := signedIn(t, key)
	for _, page := range []string{"", "/profile", "/settings", "/use", "/refreshes"} {
		b.visit("/ui/feeds/" + f.ID + page)
		b.sees("<script>console.error")
	}
	b.visit("/ui/feeds/" + f.ID)
	b.wait(`document.querySelector('.grid').innerText.includes('javascript:alert(1)')`)
	b.wait(`document.querySelector('[data-picture] .pic')`)
	if n := run(b, chromedp.Evaluate[int](`document.querySelectorAll('main img, main script').length`)); n != 0 {
		t.Errorf("%d elements came out of the data", n)
	}
	if n := run(b, chromedp.Evaluate[int](`document.documentElement.outerHTML.length`)); n > 200_000 {
		t.Errorf("a page of a long text has %d characters", n)
	}
}
