package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFirstRun goes from nothing to a feed and a webhook that was verified, by keys alone.
func TestFirstRun(t *testing.T) {
	_, key := workspace(t)
	b := signedIn(t, key)
	b.visit("/ui/start")
	b.accessible("start")
	b.press("n")
	b.sees("8 rows")
	b.enter("#listen")
	b.sees("Listening.")
	b.enter("#change button")
	b.sees("signature verified, returned 204")
	b.wait(`document.querySelector('#got').innerText.includes('"inserted": 1') && document.querySelector('#version').innerText === '2'`)
	b.accessible("start-done")
	b.enter("#sample a")
	b.wait(`document.querySelector('.tabs')`)
	b.enter(".tabs [href$='/versions']")
	b.enter("[href*='/compare']")
	b.sees("2 rows differ")
	b.wait(`document.querySelector('td.changed')?.innerText.replace(/\s+/g, ' ') === 'open paid' && document.body.innerText.includes('+ inserted')`)
	b.accessible("compare")
	b.do(chromedp.Click(".tabs [href$='/versions']"), chromedp.Click("[href$='?version=1']"))
	b.sees("The current one is 2")
	b.wait(`document.querySelector('.grid td bdi') && document.querySelector('.menu-box a').href.endsWith('format=csv&version=1') && document.querySelector('[data-picture] .pic')`)
	b.accessible("feed-version")
}

func TestKeysAuditAndWorkspaces(t *testing.T) {
	_, key := workspace(t)
	b := signedIn(t, key)
	b.visit("/ui/keys")
	b.expected = []string{"422"}
	b.do(chromedp.Click("section .primary"))
	b.wait(`document.querySelector('.field.wrong .message')`)
	b.do(chromedp.SetValue("#name", "Nightly export"), chromedp.Click("section .primary"))
	b.wait(`document.querySelector('#made-key')?.innerText.startsWith('fm_')`)
	if made := b.text("#made-key"); made == key || len(made) < 24 {
		t.Errorf("the key is %q", made)
	}
	b.accessible("keys-made")
	b.do(chromedp.Click(".made-key .primary"))
	b.wait(`!document.querySelector('#made-key')`)
	b.accessible("keys")
	b.do(chromedp.Click("tbody tr summary"), chromedp.Click("tbody tr .sure"))
	b.sees("Revoked")
	b.visit("/ui/audit")
	b.sees("key.revoke")
	b.accessible("audit")
	b.visit("/ui/audit?action=key.create")
	b.wait(`[...document.querySelectorAll('tbody tr')].map(r => r.cells[2].innerText).join().replaceAll('key.create', '').replaceAll(',', '') === ''`)
	b.visit("/ui/feeds")
	b.do(chromedp.KeyEvent("?"))
	b.sees("search this page")
	b.accessible("keyboard")
	b.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.wait(`document.querySelector('dialog.palette[open] li')`)
	b.accessible("palette")
	b.do(chromedp.KeyEvent("audit\r"))
	b.wait(`location.pathname === '/ui/audit'`)

	// The operator sees how it does, and goes from one workspace to another.
	operator := signedIn(t, server.key)
	operator.do(chromedp.KeyEvent("go"))
	operator.sees("Replicas and slots")
	operator.wait(`document.querySelector("meter")?.value > 0`)
	operator.accessible("operate")
	operator.visit("/ui/operate/replicas")
	operator.sees("Delivery slots")
	operator.accessible("operate-replicas")
	operator.do(chromedp.Click("a.workspace"))
	operator.sees("TestKeysAuditAndWorkspaces")
	operator.accessible("workspaces")
	operator.do(chromedp.SetValue("#name", "Nordlicht Retail"), chromedp.Click("section .primary"))
	operator.wait(`document.querySelector('.workspace')?.innerText.includes('Nordlicht Retail')`)
	operator.sees("Create your first feed")
	if got := operator.path(); !strings.HasPrefix(got, "/ui/feeds") {
		t.Errorf("after the change of workspaces the page is %s", got)
	}
}
