package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill/client"
)

// numberedSource serves data in pages that is other data with every fetch, with
// the rows that [numbered] has.
func numberedSource(t *testing.T) *httptest.Server {
	t.Helper()
	const onPage = 500
	var fetches atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var of, from int
		if at := r.URL.Query().Get("at"); at == "" {
			of = int(fetches.Add(1))
		} else if _, err := fmt.Sscanf(at, "%d-%d", &of, &from); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var rows []string
		rest := 1000*(of%20+1) - from
		for i := range min(onPage, rest) {
			rows = append(rows, fmt.Sprintf(`{"upload":%d,"row":%d}`, of, from+i))
		}
		next := "null"
		if rest > onPage {
			next = fmt.Sprintf(`"%d-%d"`, of, from+onPage)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"data":[%s],"next":%s}`, strings.Join(rows, ","), next)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestRefreshesOutliveKills has a feed fetched over and over and kills the
// program in the middle. The version that there is stays whole, every version
// has its event and every event its version, and what was not finished is deleted a day later.
func TestRefreshesOutliveKills(t *testing.T) {
	t.Parallel()
	source := numberedSource(t)
	folder := t.TempDir()
	data := filepath.Join(folder, "data")
	begin := func() *process {
		p, err := launch(folder, onLoopback, "--data="+data)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := begin()
	const key = sharedFirstKey
	spec := fmt.Appendf(nil, `{"request":{"url":%q},"response":{"path":"$.data[*]"},"pagination":{"kind":"cursor","path":"$.next","param":"at"}}`, source.URL)
	feed, err := p.client(key).CreateRestFeed(t.Context(), client.RestFeed{Spec: spec, Wait: time.Minute})
	if err != nil || feed.Version != 1 {
		t.Fatalf("%+v, %v", feed, err)
	}
	for range longOr(4, 200) {
		killRefreshing(t, p, feed.ID)
		p = begin()
		checkNumbered(t, p.client(key), feed.ID)
	}
	defer func() { p.kill() }()
	c := p.client(key)
	deadline := time.Now().Add(patience)
	for feed, err = c.DataFeed(t.Context(), feed.ID); err == nil && feed.State == "refreshing"; feed, err = c.DataFeed(t.Context(), feed.ID) {
		if time.Now().After(deadline) {
			t.Fatalf("the feed is still %s: %+v", feed.State, feed.LastRefresh)
		}
		time.Sleep(2 * time.Millisecond)
	}
	if err != nil || feed.State != "ready" {
		t.Fatalf("%+v, %v", feed, err)
	}
	told := make(map[int64]int)
	for e, err := range c.Events(t.Context(), client.EventQuery{Type: "datafeed.source.refreshed"}) {
		if err != nil {
			t.Fatal(err)
		}
		var news struct{ Version int64 }
		if err := json.Unmarshal(e.Data, &news); err != nil {
			t.Fatal(err)
		}
		told[news.Version]++
	}
	for version := range feed.Version {
		if told[version+1] != 1 {
			t.Errorf("version %d was told of %d times", version+1, told[version+1])
		}
	}
	if len(told) != int(feed.Version) {
		t.Errorf("%d versions were told of, and there are %d", len(told), feed.Version)
	}
	p = sweptAfterADay(t, onLoopback, data, p, begin, func() int { return int(feed.Version) })
	t.Logf("%d versions", feed.Version)
}

// killRefreshing kills a program at some moment while a feed is refreshed over
// and over.
func killRefreshing(t *testing.T, p *process, feed string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		c := p.client(sharedFirstKey)
		c.Tries = 1
		for ctx.Err() == nil {
			if _, err := c.RefreshDataFeed(ctx, feed); err != nil {
				return
			}
		}
	})
	time.Sleep(time.Duration(rand.IntN(int(600 * time.Millisecond))))
	p.kill()
	cancel()
	asking.Wait()
}
