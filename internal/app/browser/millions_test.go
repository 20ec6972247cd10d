package browser

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/feedmill/feedmill/client"
)

// TestMillionsOfRows scrolls and jumps through a table of as many rows as FEEDMILL_LONG asks
// for, and holds the memory of the page against what it was at its beginning.
func TestMillionsOfRows(t *testing.T) {
	rows := longOr(100_000, 10_000_000)
	c, key := workspace(t)
	var data bytes.Buffer
	data.WriteString("n,name,amount\n")
	for i := range rows {
		fmt.Fprintf(&data, "%d,customer %d,%d.%02d\n", i, i%9973, i%1000, i%100)
	}
	f, err := c.CreateDataFeed(t.Context(), client.Upload{Name: "Millions", Data: &data, Format: "csv", FileName: "millions.csv"})
	if err != nil {
		t.Fatal(err)
	}
	b := signedIn(t, key)
	b.visit("/ui/feeds/" + f.ID)
	b.wait(`document.querySelector('.grid td bdi')?.textContent === '0' && document.querySelector('[data-picture=n] .hist')`)
	heap := func() int {
		if _, err := chromedp.Call(b.ctx, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			t.Fatal(err)
		}
		used, err := chromedp.Call(b.ctx, runtime.GetHeapUsage, cdp.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		return int(used.UsedSize)
	}
	// shows waits until the row at the top is the one with its own number in it.
	const shows = `(() => { const r = document.querySelector('.grid tbody tr'); const n = Number(r.cells[0].innerText.replace(/\D/g, '')) - 1;
		return %s && r.cells[1].innerText === String(n); })()`
	scroll := func(share float64) {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const box = document.querySelector('.grid-box'); box.scrollTop = (box.scrollHeight - box.clientHeight) * %g; } undefined`, share)))
		b.wait(fmt.Sprintf(shows, fmt.Sprintf("Math.abs(n - %d) < %d", int(share*float64(rows)), rows/500+100)))
	}
	scroll(.5)
	before, began := heap(), time.Now()
	jumps := longOr(20, 200)
	for i := range jumps {
		scroll(float64(i*7919%jumps) / float64(jumps))
	}
	scroll(1)
	b.wait(fmt.Sprintf(`document.querySelector('.grid').innerText.includes('%d')`, rows-1))
	after := heap()
	t.Logf("%d rows, %d jumps in %v: the heap of the page was %d kB and is %d kB", rows, jumps, time.Since(began).Round(time.Millisecond), before/1000, after/1000)
	if nodes := run(b, chromedp.Evaluate[int](`document.querySelectorAll('.grid tbody tr').length`)); nodes > 60 || after > before+8_000_000 {
		t.Errorf("the page holds %d rows and %d kB, %d kB before", nodes, after/1000, before/1000)
	}
}
