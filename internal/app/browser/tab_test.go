package browser

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// tab is a browser of its own: no cookies, nothing kept.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex
	console []string
	// expected are parts of messages that the browser writes by itself, such as
	// of an answer that is no 2xx.
	expected []string
}

// open makes a tab. No error may stand in its console at the end of the test.
func open(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(server.browser, chromedp.WithNewBrowserContext())
	ctx, end := context.WithTimeout(ctx, 3*patience) // a test looks at many pages, on a machine that may be busy
	b := &tab{t: t, ctx: ctx}
	b.do(chromedp.EmulateViewport(1440, 1000))
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException || m.Type == chromedp.ConsoleWarning {
				b.mu.Lock()
				b.console = append(b.console, m.String())
				b.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		end()
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
	next:
		for _, m := range b.console {
			for _, part := range b.expected {
				if strings.Contains(m, part) {
					continue next
				}
			}
			t.Errorf("the console says: %s", m)
		}
	})
	return b
}

// said is what the console has said so far.
func (b *tab) said() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.console)
}

// signedIn makes a tab that has signed in with a key.
func signedIn(t *testing.T, key string) *tab {
	t.Helper()
	b := open(t)
	b.visit("/ui/sign-in")
	b.do(chromedp.SendKeys("#key", key), chromedp.Submit("#key"), chromedp.WaitReady(".rail"))
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		where, _ := chromedp.Run(b.ctx, chromedp.Location())
		b.t.Fatalf("%v, at %s; the console: %q", err, where, b.said())
	}
}

func run[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		where, _ := chromedp.Run(b.ctx, chromedp.Location())
		b.t.Fatalf("%v, at %s; the console: %q", err, where, b.said())
	}
	return v
}

func (b *tab) visit(path string) {
	b.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = server.url + path
	}
	// A page that a form has just led to may still be on its way, and so may the one
	// that it leads to: each wins once, however long it takes.
	err := chromedp.Do(b.ctx, chromedp.Navigate(path))
	for err != nil && strings.Contains(err.Error(), "net::ERR_ABORTED") && b.ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
		err = chromedp.Do(b.ctx, chromedp.Navigate(path))
	}
	if err != nil {
		b.t.Fatalf("%v, on the way to %s; the console: %q", err, path, b.said())
	}
}

// path is where the tab is.
func (b *tab) path() string {
	b.t.Helper()
	return strings.TrimPrefix(run(b, chromedp.Location()), server.url)
}

// text is what the page shows at a place.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return run(b, chromedp.Evaluate[string](`document.querySelector(`+quote(selector)+`)?.innerText ?? ""`))
}

// wait waits until an expression is true, through whatever pages come.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for b.ctx.Err() == nil {
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`!!(`+expression+`)`)); err == nil && ok {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	where, _ := chromedp.Run(b.ctx, chromedp.Location())
	b.t.Fatalf("this never was so: %s, at %s", expression, where)
}

// waitReloading waits until an expression is true, and reloads the page until it is. No reload
// is due any more when it returns.
func (b *tab) waitReloading(expression string) {
	b.t.Helper()
	b.wait(`((` + expression + `) && (clearTimeout(window.nextReload), true)) || (window.nextReload ??= setTimeout(() => location.reload(), 300), false)`)
}

// sees waits until the page shows a text.
func (b *tab) sees(text string) {
	b.t.Helper()
	b.wait(`document.body && document.body.innerText.includes(` + quote(text) + `)`)
}

func quote(s string) string { return "`" + strings.ReplaceAll(s, "`", "\\`") + "`" }

// axe is the text of axe-core, which finds what keeps people from using a page.
var axe = sync.OnceValue(func() string {
	file, err := os.Open("testdata/axe.min.js.gz")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		panic(err)
	}
	return string(text)
})

// accessible holds a page against axe-core, light and dark, and keeps pictures of
// it where FEEDMILL_SHOTS names a folder.
func (b *tab) accessible(name string) {
	b.t.Helper()
	b.inspect(name)
	b.copies(name)
	b.narrow(name)
}

// inspect runs axe-core, light and dark.
func (b *tab) inspect(name string) {
	b.t.Helper()
	b.wait(`document.readyState === 'complete' && document.documentElement.classList.contains('scripted')`)
	b.do(chromedp.Evaluate[chromedp.Void](axe() + `;undefined`))
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		only := ""
		if scheme == "dark" { // the page is the same but for its colours
			only = ", runOnly: ['color-contrast']"
		}
		found := run(b, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ['violations']`+only+`}).then(r =>
			r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + v.help + ' at ' + n.target.join(' ') + ' ' + (n.any[0]?.message ?? ''))))`, chromedp.EvalAwaitPromise))
		for _, violation := range found {
			b.t.Errorf("%s, %s: %s", name, scheme, violation)
		}
		b.shot(name + "-" + scheme)
	}
}

// copies checks that the tables of a page can be copied as CSV.
func (b *tab) copies(name string) {
	b.t.Helper()
	if bare := run(b, chromedp.Evaluate[int](`[...document.querySelectorAll('main table')].filter((t) => !t.closest('[data-grid], .notice, .flush') &&
		!t.nextElementSibling?.matches('.copy-table') && !t.parentElement.nextElementSibling?.matches('.copy-table')).length`)); bare > 0 {
		b.t.Errorf("%s has %d tables that cannot be copied as CSV", name, bare)
	}
}

// narrow checks that a page fits a phone.
func (b *tab) narrow(name string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(380, 900))
	if over := run(b, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); over > 0 {
		b.t.Errorf("%s is %d px too wide for a phone", name, over)
	}
	b.shot(name + "-380-dark")
	b.scheme("light")
	b.shot(name + "-380")
	b.do(chromedp.EmulateViewport(1440, 1000))
}

func (b *tab) scheme(scheme string) {
	b.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) shot(name string) {
	folder := os.Getenv("FEEDMILL_SHOTS")
	if folder == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), run(b, chromedp.FullScreenshot(100)), 0o644); err != nil {
		b.t.Error(err)
	}
}
