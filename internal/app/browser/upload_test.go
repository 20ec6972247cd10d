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
	if err := os.WriteFile(file, []byte("no;net;due_on;qty\n0047;58,90;05/01/2026;12\n0048;84,50;10/03/2026;12 pcs\n"+strings.Repeat("0049;1,00;10/03/2026;7\n", 20)), 0o600); err != nil {
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
	// A value that is no number like the others is rejected, with its row; the file is not sent again.
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('.notice .button')].find((e) => e.innerText.includes('rejected')).click(); undefined`))
	b.sees("1 row")
	b.wait(`document.querySelector('[aria-label="Type of qty"]').value === 'decimal'`)
	if sent := run(b, chromedp.Evaluate[int](`performance.getEntriesByType('resource').filter((e) => e.name.includes('/preview?') && !e.name.includes('preview=prv_')).length`)); sent != 1 {
		t.Errorf("the file was sent %d times", sent)
	}
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
	if want := "no,net,due_on,qty\n0047,58.90,2026-01-05,12\n0049,1.00,2026-03-10,7\n"; strings.ReplaceAll(csv, "\r", "") != want {
		t.Errorf("the export is %q", csv)
	}
}
