package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/feedmill/feedmill/client"
)

// largeFetch is how much the test of memory has a feed fetch, and how much memory
// the server may take for it.
func largeFetch() (fetched int, most int64) {
	return longOr(4_000_000, 1_000_000_000), longOr[int64](250<<20, 350<<20)
}

// pageOfLarge is about how long a page of [largeSource] is.
const pageOfLarge = 1 << 20

// largeRows writes the rows of a page, which are different in every one, and
// returns how many there are.
func largeRows(page int) (text []byte, rows int) {
	for len(text) < pageOfLarge {
		if rows > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, `{"page":%d,"row":%d,"amount":%d.%02d,"placedAt":"2026-11-15T12:%02d:%02dZ","note":"the note of row %d on page %d"}`,
			page, rows, rows*7919%10_000, page%100, page%60, rows%60, rows, page)
		rows++
	}
	return text, rows
}

// largeSource serves that many pages, one by one below /paged and as one answer
// at /whole.
func largeSource(t *testing.T, pages int) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, last := 0, pages-1
		if r.URL.Path == "/paged" {
			first, _ = strconv.Atoi(r.FormValue("page"))
			last = min(first, pages-1)
		}
		w.Header().Set("Content-Type", "application/json")
		var text bytes.Buffer
		text.WriteString(`{"data":[`)
		for page := first; page <= last; page++ {
			if page > first {
				text.WriteByte(',')
			}
			rows, _ := largeRows(page)
			text.Write(rows)
			if _, err := text.WriteTo(w); err != nil {
				return
			}
		}
		text.WriteString(`]}`)
		text.WriteTo(w)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestMemoryOfLargeFetches bounds the memory that fetches take, in pages and as
// one answer; in the long form they fetch far more than that.
func TestMemoryOfLargeFetches(t *testing.T) {
	t.Parallel()
	fetched, most := largeFetch()
	pages := fetched / pageOfLarge
	source := largeSource(t, pages)
	rows := int64(0)
	for page := range pages {
		_, n := largeRows(page)
		rows += int64(n)
	}
	for _, test := range []struct{ name, path, pagination string }{
		{"pages", "/paged", `{"kind":"page","param":"page","start":0}`},
		{"one answer", "/whole", `{"kind":"none"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := serve(t, t.TempDir(), onLoopback...)
			c := p.client(sharedFirstKey)
			feed, err := c.CreateRestFeed(t.Context(), client.RestFeed{
				Spec: fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":"$.data[*]"},"pagination":%s}`, source.URL+test.path, test.pagination),
			})
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the feed has fetched everything", func() bool {
				if feed, err = c.DataFeed(t.Context(), feed.ID); err != nil {
					t.Fatal(err)
				}
				return feed.LastRefresh.Ended()
			})
			if feed.State != "ready" || feed.RowCount != rows {
				t.Fatalf("the feed is %s with %d rows of %d: %+v", feed.State, feed.RowCount, rows, feed.LastError)
			}
			p.boundMemory(t, most)
			t.Logf("%d rows in %d MB: %v", rows, feed.LastRefresh.BytesIn/1e6, p.memory(t))
		})
	}
}
