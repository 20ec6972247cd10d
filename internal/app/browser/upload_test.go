package browser

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/xuri/excelize/v2"
)

// TestUploadToExport makes a feed of a file by keys alone, from the file to what is read again.
func TestUploadToExport(t *testing.T) {
	_, key := workspace(t)
	file := filepath.Join(t.TempDir(), "supplier_invoices.csv")
	if err := os.WriteFile(file, []byte("no;net;due_on;qty\n0047;58,90;05/01/2026;12\n0048;84,50;10/03/2026;12 pcs\n"+strings.Repeat("0049;1,00;10/03/2026;7\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, key)
	b.visit("/ui/feeds/new")
	b.accessible("new")
	b.press("n")
	b.wait(`document.querySelector('.drop')`)
	b.accessible("upload")
	b.choose("#file", file)
	b.sees("Check the columns")
	b.sees("ambiguous date")
	b.accessible("upload-preview")
	// The date is settled, and the preview follows.
	b.enter(".notice .button")
	b.wait(`document.querySelector('#preview').innerText.includes('2026-01-05')`)
	// A value that is no number like the others is rejected, with its row; the file is not sent again.
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('.notice .button')].find((e) => e.innerText.includes('rejected')).id = 'reject'; undefined`))
	b.enter("#reject")
	b.sees("1 row")
	b.wait(`document.querySelector('[aria-label="Type of qty"]').value === 'decimal'`)
	if sent := run(b, chromedp.Evaluate[int](`performance.getEntriesByType('resource').filter((e) => e.name.includes('/preview?') && !e.name.includes('preview=prv_')).length`)); sent != 1 {
		t.Errorf("the file was sent %d times", sent)
	}
	if got := run(b, chromedp.Value("#feed-name")); got != "supplier invoices" {
		t.Errorf("the name is %q", got)
	}
	b.reach("#mode")
	b.press("merge")
	b.expected = []string{"400"}
	b.enter("#make")
	b.wait(`document.querySelector('#upload-error').innerText.includes('key')`)
	b.write("#key", "no")
	b.enter("#make")
	b.wait(`document.querySelector('.grid td bdi')?.textContent === '0047'`)
	b.sees("merge by no")
	csv := run(b, chromedp.Evaluate[string](`fetch(document.querySelector('.menu-box a').href).then(r => r.text())`, chromedp.EvalAwaitPromise))
	if want := "no,net,due_on,qty\n0047,58.90,2026-01-05,12\n0049,1.00,2026-03-10,7\n"; strings.ReplaceAll(csv, "\r", "") != want {
		t.Errorf("the export is %q", csv)
	}
}

// TestUploadWorkbookAndArchive picks a sheet of a workbook, and uploads again from an archive in
// which a file is picked. Each file is sent once, however often it is looked at.
func TestUploadWorkbookAndArchive(t *testing.T) {
	_, key := workspace(t)
	folder := t.TempDir()
	book := excelize.NewFile()
	book.SetSheetRow("Sheet1", "A1", &[]any{"note"})
	book.SetSheetRow("Sheet1", "A2", &[]any{"see the next"})
	if _, err := book.NewSheet("Orders"); err != nil {
		t.Fatal(err)
	}
	book.SetSheetRow("Orders", "A1", &[]any{"id", "city"})
	book.SetSheetRow("Orders", "A2", &[]any{1, "Lyon"})
	if err := book.SaveAs(filepath.Join(folder, "book.xlsx")); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	pack := zip.NewWriter(&archive)
	for name, text := range map[string]string{"orders.csv": "id;city\n2;Graz\n", "read me.csv": "a\n1\n"} {
		w, err := pack.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
	}
	pack.Close()
	if err := os.WriteFile(filepath.Join(folder, "next.zip"), archive.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, key)
	sent := func(want int) {
		t.Helper()
		if got := run(b, chromedp.Evaluate[int](`performance.getEntriesByType('resource').filter((e) => e.name.includes('/data_feeds') && !e.name.includes('preview=prv_')).length`)); got != want {
			t.Errorf("the file was sent %d times", got)
		}
	}
	b.visit("/ui/feeds/new/upload")
	b.do(chromedp.SetUploadFiles("#file", []string{filepath.Join(folder, "book.xlsx")}))
	b.sees("see the next")
	b.do(chromedp.SetValue("#r-sheet", "2"))
	b.wait(`document.querySelector('#preview').innerText.includes('Lyon')`)
	sent(1)
	b.do(chromedp.Click("#make"))
	b.wait(`location.pathname.includes('/df_') && document.querySelector('.grid td bdi')?.textContent === '1'`)

	b.visit(strings.Split(b.path(), "?")[0] + "/upload")
	b.expected = []string{"400"}
	b.do(chromedp.SetUploadFiles("#file", []string{filepath.Join(folder, "next.zip")}))
	b.wait(`document.activeElement.id === 'entry'`)
	b.sees("orders.csv, read me.csv")
	b.accessible("upload-archive")
	b.do(chromedp.SetValue("#entry", "orders.csv"))
	b.wait(`document.querySelector('#r-entry')?.value === 'orders.csv' && document.querySelector('#preview').innerText.includes('Graz')`)
	b.do(chromedp.Click("#r-types"))
	b.wait(`document.querySelector('[aria-label="Type of id"]').value === 'text'`)
	b.do(chromedp.Click("#r-types"))
	b.wait(`document.querySelector('[aria-label="Type of id"]').value === 'integer'`)
	sent(1)
	b.do(chromedp.Click("#make"))
	b.wait(`!location.pathname.includes('upload') && document.querySelector('.grid tbody')?.innerText.includes('Graz')`)
}
