package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// discard is a sink that reads nothing.
type discard struct{}

func (discard) Page(_ context.Context, p feedmill.FetchedPage) ([]int64, error) {
	if p.Body.Size() < 100 {
		return nil, nil
	}
	return []int64{1}, nil
}

// pagesOverTCP has pages fetched from a real server.
func pagesOverTCP(t testing.TB, pages, size int) (*Fetcher, Job) {
	filler := strings.Repeat("x", size)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscan(r.URL.Query().Get("c"), &n)
		w.Header().Set("Content-Type", "application/json")
		if n >= pages {
			_, _ = fmt.Fprint(w, `{"next":null}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"id":%d,"pad":"%s","next":%d}`, n, filler, n+1)
	}))
	t.Cleanup(server.Close)
	spool, err := os.CreateTemp(t.TempDir(), "spool")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = spool.Close() })
	d, err := spec.Parse(fmt.Appendf(nil, `{"request":{"url":%q},"pagination":{"kind":"cursor","path":"$.next","param":"c","maxPages":100000}}`, server.URL), 0)
	if err != nil {
		t.Fatal(err)
	}
	return NewFetcher(Options{Transport: server.Client().Transport}), Job{Spec: d.Spec, Source: "ds_1", Now: time.Now(), Spool: spool}
}

func TestOverTCP(t *testing.T) {
	f, job := pagesOverTCP(t, 20, 100_000)
	requests := 0
	job.Trace = func(r feedmill.TracedRequest) {
		requests++
		if r.Page != requests {
			t.Errorf("request %d is of page %d", requests, r.Page)
		}
	}
	result, err := f.Fetch(t.Context(), job, discard{})
	if err != nil || result.Pages != 21 || result.Requests != 21 || requests != 21 || result.Bytes < 2_000_000 {
		t.Errorf("%+v %v", result, err)
	}
}

func BenchmarkFetch(b *testing.B) {
	const pages, size = 100, 100_000
	f, job := pagesOverTCP(b, pages, size)
	b.SetBytes(pages * size)
	for b.Loop() {
		if _, err := f.Fetch(b.Context(), job, discard{}); err != nil {
			b.Fatal(err)
		}
	}
}
