package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestUploadToExport makes a feed of a file, from the file to what is read again.
func TestUploadToExport(t *testing.T) {
	_, key := workspace(t)
	file := filepath.Join(t.TempDir(), "supplier_invoices.csv")
	if err := os.WriteFile(file, []byte("no;net;due_on\n0047;58,90;05/01/2026\n0048;84,50;10/03/2026\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, key)
	b.visit("/ui/feeds/new")
	b.accessible("new")
	b.do(chromedp.KeyEvent("n"))
	b.wait(`document.querySelector('.drop')`)
	b.accessible("upload")
	b.do(chromedp.SetUploadFiles("#file", []string{file}))
	b.sees("Check the columns")
	b.sees("ambiguous date")
	b.accessible("upload-preview")
	// The date is settled, and the preview follows.
	b.do(chromedp.Click(".notice .button"))
	b.wait(`document.querySelector('#preview').innerText.includes('2026-01-05')`)
	if got := run(b, chromedp.Value("#feed-name")); got != "supplier invoices" {
		t.Errorf("the name is %q", got)
	}
	b.do(chromedp.SetValue("#mode", "merge"))
	b.expected = []string{"400"}
	b.do(chromedp.Click("#make"))
	b.wait(`document.querySelector('#upload-error').innerText.includes('key')`)
	b.do(chromedp.SetValue("#key", "no"), chromedp.Click("#make"))
	b.wait(`document.querySelector('.grid td bdi')?.textContent === '0047'`)
	b.sees("merge by no")
	csv := run(b, chromedp.Evaluate[string](`fetch(document.querySelector('.menu-box a').href).then(r => r.text())`, chromedp.EvalAwaitPromise))
	if want := "no,net,due_on\n0047,58.90,2026-01-05\n0048,84.50,2026-03-10\n"; strings.ReplaceAll(csv, "\r", "") != want {
		t.Errorf("the export is %q", csv)
	}
}
