package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// maxNodes is how many elements a page of the documentation may have.
const maxNodes = 5000

// TestDocs reads the documentation without signing in.
func TestDocs(t *testing.T) {
	t.Parallel()
	b := open(t)
	for name, path := range map[string]string{"docs-guide": "/docs/how-to/verify-webhooks", "docs-api": "/docs/api/subscriptions"} {
		b.visit(path)
		b.inspect(name)
		b.narrow(name)
	}
	// Tabs of a guide: one panel is shown, also by a link to a heading in another one.
	shown := func(id string) string {
		return `[...document.querySelectorAll('.choice > .panel')].filter((e) => e.offsetParent).map((e) => e.id).join() === '` + id + `'`
	}
	b.visit("/docs/how-to/verify-webhooks")
	b.wait(shown("go"))
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.choice input[value=python]').click()`))
	b.wait(shown("python"))
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.text a[href="#from-parsed-json"]').click()`))
	b.wait(shown("nodejs"))
	b.visit("/docs/api/feeds")
	if n := run(b, chromedp.Evaluate[int](`document.querySelectorAll('*').length`)); n > maxNodes {
		t.Errorf("the page has %d elements", n)
	}

	// The choice of a language stays on the next page.
	b.press("")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.samples input[value=go]').click()`))
	b.visit("/docs/api/keys")
	b.wait(`document.querySelectorAll('.samples .in-go').length === [...document.querySelectorAll('.samples .in-go')].filter((e) => e.offsetParent).length`)
	b.wait(`![...document.querySelectorAll('.samples .in-curl')].some((e) => e.offsetParent)`)

	// The slash opens the search, and Enter the first result.
	b.press("/")
	b.wait(`document.activeElement.id === 'q'`)
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("rotate a signing"))
	b.wait(`document.querySelector('#results a.on')?.textContent.startsWith('Rotate a signing secret')`)
	b.inspect("docs-search")
	b.do(chromedp.Focus("#q"), chromedp.KeyEvent("\r"))
	b.wait(`location.pathname === '/docs/how-to/rotate-a-signing-secret'`)
}

// TestDocsFollowTheTheme checks that the theme of the console is that of the documentation.
func TestDocsFollowTheTheme(t *testing.T) {
	t.Parallel()
	b := signedIn(t, server.key)
	b.do(chromedp.Click(".segments button[value=dark]"))
	b.wait(`document.documentElement.dataset.theme === 'dark'`)
	b.visit("/docs/")
	b.wait(`document.documentElement.dataset.theme === 'dark'`)
}
