package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// press sends keys to whatever has the focus, when the page knows what they mean.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.wait(`document.documentElement.classList.contains('scripted') && document.readyState === 'complete'`)
	b.do(chromedp.KeyEvent(keys))
}

// reach goes on with Tab until something has the focus, which must then be seen to have it.
func (b *tab) reach(selector string) {
	b.t.Helper()
	b.wait(`document.querySelector(` + quote(selector) + `) && document.documentElement.classList.contains('scripted') && document.readyState === 'complete'`)
	for range 150 {
		switch run(b, chromedp.Evaluate[string](`(() => { const e = document.activeElement; if (!e?.matches(`+quote(selector)+`)) return 'no';
			const s = getComputedStyle(e); return s.outlineStyle === 'none' || s.outlineWidth === '0px' ? 'unseen' : 'yes'; })()`)) {
		case "yes":
			return
		case "unseen":
			b.t.Fatalf("%s has the focus, and nothing shows it", selector)
		}
		b.do(chromedp.KeyEvent("\t"))
	}
	b.t.Fatalf("no number of tabs leads to %s at %s", selector, b.path())
}

// enter reaches something and opens it.
func (b *tab) enter(selector string) {
	b.t.Helper()
	b.reach(selector)
	b.press("\r")
}

// write reaches a field and writes into it, over what is there.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	b.reach(selector)
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(text))
}

// choose reaches a field for a file, opens its dialog and chooses a file in it.
func (b *tab) choose(selector, file string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true}); err != nil {
		b.t.Fatal(err)
	}
	dialogs := chromedp.Events(b.ctx, page.FileChooserOpened)
	b.enter(selector)
	for dialog, err := range dialogs {
		if err == nil {
			_, err = chromedp.Call(b.ctx, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, BackendNodeID: dialog.BackendNodeID})
		}
		if err != nil {
			b.t.Fatal(err)
		}
		return
	}
	b.t.Fatal("no dialog for a file was opened")
}

// TestKeyboardOnly finishes what people come for without a mouse.
func TestKeyboardOnly(t *testing.T) {
	c, key := workspace(t)
	upload(t, c, "Shop orders", "orders.csv", orders)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]`)
	}))
	defer source.Close()
	to := newEndpoint(t)
	b := open(t)
	b.visit("/ui/sign-in")
	b.write("#key", key)
	b.press("\r")

	// A fetch: tried, and made. A select is chosen from by its letters.
	b.sees("Shop orders")
	b.press("n")
	b.enter("[href='/ui/feeds/new/rest']")
	b.write("#name", "Fetched")
	b.write("#url", source.URL)
	b.press("\r") // tries, and makes nothing
	b.sees("2 records")
	b.reach("#every")
	b.press("every 1h")
	b.enter("[value=make]")
	b.sees("Feed created")
	b.sees("every 1h")

	// A query, from the service to the feed.
	b.press("gf")
	b.wait(`document.querySelectorAll('tr[data-href]').length === 2`)
	b.press("n")
	b.enter("[href='/ui/feeds/new/query']")
	b.enter(".picks a[href*='service=feeds']")
	b.enter(".picks.mono a")
	b.sees("What runs")
	b.write("[name='as.name']", "called")
	b.reach("[name='f.field']")
	b.press("id")
	b.write("[name='f.value']", "1")
	b.press("\r") // runs, and makes nothing
	b.wait(`document.querySelector('.proof .grid tbody')?.rows.length === 1 && document.querySelector('.proof .grid thead').innerText.includes('called')`)
	b.write("#name", "Asked")
	b.enter("[formaction='/ui/feeds/new/query']")
	b.sees("Feed created")

	// A feed: to the end of its rows, a filter, its settings, and away with it after a question.
	b.press("gf")
	b.wait(`document.querySelectorAll('tr[data-href]').length === 3`)
	b.press("jj")
	b.wait(`document.activeElement.innerText === 'Fetched'`)
	b.press("\r")
	b.wait(`document.querySelector('.grid td bdi')?.textContent === '1'`)
	b.reach(".grid-box")
	b.press(kb.End)
	b.wait(`document.querySelector('td.active')?.innerText === '2'`)
	b.enter(".add-filter summary")
	b.reach("#f-column")
	b.press("name")
	b.write("#f-value", "Bob")
	b.press("\r")
	b.sees("1 of 2 rows")
	b.enter(".tabs [href$='/settings']")
	b.enter("section.settings summary")
	b.enter(".danger.sure")
	b.wait(`document.querySelectorAll('tr[data-href]').length === 2`)

	// A subscription, its secret and a test; an event and where it went.
	b.press("gs")
	b.sees("Send events to a URL")
	b.press("n")
	b.write("#name", "By keys")
	b.write("#url", to.URL)
	b.reach("[value='metric.*']")
	b.press(" ")
	b.enter("form.settings .primary")
	b.sees("whsec_")
	b.enter(".row-end .primary")
	b.enter(".actions .primary")
	b.sees("The endpoint accepted the test: 204")
	b.press("ge")
	b.wait(`location.pathname === '/ui/events' && document.querySelector('[data-key=n]')`)
	b.press("n")
	b.enter("form.publish .primary")
	b.sees("By keys")

	// A key, made and revoked.
	b.press("gk")
	b.write("#name", "Nightly")
	b.press("\r")
	b.wait(`document.querySelector('#made-key')`)
	b.enter(".made-key .primary")
	b.wait(`!document.querySelector('#made-key')`)
	b.enter("tbody tr summary")
	b.enter("tbody tr .sure")
	b.sees("Revoked")
	b.enter(".rail-out button")
	b.wait(`location.pathname === '/ui/sign-in'`)
}

// held presses Tab often enough to leave a dialog that did not hold the focus.
func (b *tab) held() {
	b.t.Helper()
	b.wait(`document.querySelector('dialog[open]')?.contains(document.activeElement)`)
	for _, tab := range []chromedp.Action[chromedp.Void]{chromedp.KeyEvent("\t"), chromedp.KeyEvent("\t", chromedp.KeyModifiers(chromedp.ModifierShift))} {
		for range 6 {
			b.do(tab)
			if !run(b, chromedp.Evaluate[bool](`document.querySelector('dialog[open]').contains(document.activeElement)`)) {
				b.t.Fatalf("the focus left the dialog at %s", b.path())
			}
		}
	}
}

// TestDialogs opens a dialog of every kind by keys: the focus goes in and stays in, Escape
// closes, and the focus returns to what opened it.
func TestDialogs(t *testing.T) {
	c, key := workspace(t)
	f := upload(t, c, "Shop orders", "orders.csv", orders)
	upload(t, c, "Bank statements", "bank.csv", orders)
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID + "/settings")
	const opener = "section.settings summary"
	back := `!document.querySelector('dialog[open]') && document.activeElement.matches('` + opener + `')`
	for name, keys := range map[string]chromedp.Action[chromedp.Void]{
		"Delete feed": chromedp.KeyEvent("\r"), "Go to": chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)), "Keyboard": chromedp.KeyEvent("?"),
	} {
		b.reach(opener)
		b.do(keys)
		b.wait(`document.querySelector('dialog[open]')?.ariaLabel === '` + name + `'`)
		b.held()
		if name == "Delete feed" { // the others are looked at where they are used
			b.accessible("dialog")
		}
		b.press(kb.Escape)
		b.wait(back)
	}
	// The first Enter only asks, and the second says no.
	b.press("\r")
	b.wait(`document.activeElement.innerText === 'Cancel'`)
	b.press("\r")
	b.wait(back)
	// The palette finds a feed that the page does not name.
	b.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.wait(`document.activeElement.role === 'combobox'`)
	b.press("statem")
	b.wait(`document.querySelector('.palette [aria-selected=true]')?.innerText.startsWith('Bank statements')`)
	b.press("\r")
	b.wait(`document.querySelector('h1')?.innerText === 'Bank statements'`)
	// A secret stays until it was copied.
	b.press("gk")
	b.write("#name", "Nightly")
	b.press("\r")
	b.wait(`document.querySelector('#made-key')`)
	b.held()
	b.press(kb.Escape + kb.Escape)
	b.held()
	b.enter(".made-key .primary")
	b.wait(`!document.querySelector('#made-key')`)

	// Lists and tables are sorted and filtered by keys.
	b.press("gf")
	b.enter(".c-rows a")
	b.wait(`location.search === '?sort=-rowCount' && document.querySelector('[aria-sort=descending]')?.innerText.startsWith('Rows')`)
	b.enter(".chip[href*='state=ready']")
	b.wait(`location.search.includes('state=ready') && location.search.includes('sort=-rowCount') && document.querySelectorAll('tbody tr').length === 2`)
	b.visit("/ui/feeds/" + f.ID)
	b.enter(".grid th:nth-child(4) a")
	b.wait(`document.querySelector('.grid td bdi')?.textContent === '2' && document.querySelector('.grid [aria-sort=ascending]')?.innerText.startsWith('amount')`)
	b.enter(".add-filter summary")
	b.reach("#f-value")
	b.press(kb.Escape)
	b.wait(`!document.querySelector('.add-filter').open && document.activeElement.matches('.add-filter summary')`)
	b.enter(".menu-box summary")
	b.reach(".menu-box a:last-child")
	b.press(kb.Escape)
	b.wait(`!document.querySelector('.menu-box').open && document.activeElement.matches('.menu-box summary')`)
}
