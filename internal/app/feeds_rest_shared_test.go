package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// journal is an API whose entries only grow in number. An entry is asked for
// from its number on.
type journal struct {
	*httptest.Server
	mu      sync.Mutex
	entries int
}

func newJournal(t *testing.T) *journal {
	t.Helper()
	j := &journal{entries: 2}
	j.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		j.mu.Lock()
		defer j.mu.Unlock()
		from, _ := strconv.Atoi(r.URL.Query().Get("from"))
		var found []string
		for n := max(from, 1); n <= j.entries; n++ {
			found = append(found, fmt.Sprintf(`{"n":%d}`, n))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"a":[%[1]s],"b":[%[1]s]}`, strings.Join(found, ","))
	}))
	t.Cleanup(j.Close)
	return j
}

func (j *journal) grow() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries++
}

const sinceTheLast = `"incremental":{"cursorPath":"$.n","param":{"in":"query","name":"from"},"start":"1"}`

// numbers are the values of the column n, in order.
func (s *service) numbers(t *testing.T, id string) string {
	t.Helper()
	return strings.NewReplacer(`{"n":`, "", "}\n", " ").Replace(s.read(t, id, "&sort=n"))
}

func TestFeedsOfOneSourceMissNothing(t *testing.T) {
	t.Parallel()
	s, j := start(t, webhooks), newJournal(t)
	a := s.fetched(t, "", `{"request":{"url":"`+j.URL+`"},"response":{"path":"$.a[*]"},"key":["n"],`+sinceTheLast+`}`)
	j.grow()
	a, _ = s.refreshed(t, a.ID)
	// One that comes later gets what was there before it.
	b := s.fetched(t, "&sourceOf="+a.ID, `{"response":{"path":"$.b[*]"},"key":["n"]}`)
	if got := s.numbers(t, b.ID); got != "1 2 3 " || b.Mode != "merge" {
		t.Errorf("%s, %s", got, b.Mode)
	}
	// And one that was paused what came meanwhile.
	s.send(t, request{method: "POST", path: "/data_feeds/" + b.ID + "/pause"})
	j.grow()
	s.refreshed(t, a.ID)
	j.grow()
	s.refreshed(t, a.ID)
	s.send(t, request{method: "POST", path: "/data_feeds/" + b.ID + "/resume"})
	b, _ = s.refreshed(t, b.ID)
	if a, b := s.numbers(t, a.ID), s.numbers(t, b.ID); a != "1 2 3 4 5 " || b != a {
		t.Errorf("%s and %s", a, b)
	}
}

func TestPausedFeedIsNotTakenForUnchanged(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `{"a":[{"n":1}],"b":[{"n":1}]}`)
	shop.etag = `"one"`
	a := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"response":{"path":"$.a[*]"}}`)
	b := s.fetched(t, "&sourceOf="+a.ID, `{"response":{"path":"$.b[*]"}}`)
	s.send(t, request{method: "POST", path: "/data_feeds/" + b.ID + "/pause"})
	shop.set(200, `{"a":[{"n":2}],"b":[{"n":2}]}`)
	shop.mu.Lock()
	shop.etag = `"two"`
	shop.mu.Unlock()
	s.refreshed(t, a.ID)
	s.send(t, request{method: "POST", path: "/data_feeds/" + b.ID + "/resume"})
	if b, _ = s.refreshed(t, b.ID); s.numbers(t, b.ID) != "2 " {
		t.Errorf("%+v: %s", b, s.numbers(t, b.ID))
	}
}

func TestPagesEndWhenNoFeedFindsARecord(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		a, b := "", ""
		if page <= 2 {
			a = fmt.Sprintf(`{"n":%d}`, page)
		}
		if page <= 4 {
			b = fmt.Sprintf(`{"n":%d}`, page)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"page":%d,"a":[%s],"b":[%s]}`, page, a, b)
	}))
	t.Cleanup(api.Close)
	a := s.fetched(t, "", `{"request":{"url":"`+api.URL+`"},"response":{"path":"$.a[*]"},"pagination":{"kind":"page","param":"page","start":1}}`)
	b := s.fetched(t, "&sourceOf="+a.ID, `{"response":{"path":"$.b[*]"}}`)
	if a, b := s.numbers(t, a.ID), s.numbers(t, b.ID); a != "1 2 " || b != "1 2 3 4 " {
		t.Errorf("%s and %s", a, b)
	}
}

// settled waits until a feed is not refreshing any more.
func (s *service) settled(t *testing.T, id string) (f restFeed) {
	t.Helper()
	eventually(t, func() bool {
		s.send(t, request{method: "GET", path: "/data_feeds/" + id}).data(t, &f)
		return f.State != "refreshing"
	})
	return f
}

func TestChangedFetchTakesThePlaceOfTheOld(t *testing.T) {
	t.Parallel()
	s, j := start(t, webhooks), newJournal(t)
	f := s.fetched(t, "", `{"request":{"url":"`+j.URL+`"},"response":{"path":"$.a[*]"},`+sinceTheLast+`}`)
	if f.Mode != "append" || s.numbers(t, f.ID) != "1 2 " {
		t.Fatalf("%+v", f)
	}
	for _, c := range []struct{ patch, mode, numbers string }{
		{`{"retry":{"maxAttempts":2}}`, "append", "1 2 "},
		{`{"response":{"path":"$.b[*]"}}`, "append", "1 2 "},
		{`{"incremental":{"cursorPath":"$.n","param":{"name":"from"},"start":"2"}}`, "append", "2 "},
		{`{"incremental":null}`, "replace", "1 2 "},
	} {
		if got := s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID, body: c.patch}); got.status != 200 {
			t.Fatalf("%s: %d %s", c.patch, got.status, got.body)
		}
		if f = s.settled(t, f.ID); f.Mode != c.mode || s.numbers(t, f.ID) != c.numbers {
			t.Errorf("%s: %s with %s", c.patch, f.Mode, s.numbers(t, f.ID))
		}
	}
}

// TestChangeOfAPausedFeed holds that no refresh is left open by a change.
func TestChangeOfAPausedFeed(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"n":1}]`)
	shop.hold = make(chan struct{})
	defer close(shop.hold)
	var f restFeed
	s.send(t, request{method: "POST", path: "/data_feeds?type=rest", body: `{"request":{"url":"` + shop.URL + `"}}`}).data(t, &f)
	eventually(t, func() bool { return shop.requests() == 1 })
	s.send(t, request{method: "POST", path: "/data_feeds/" + f.ID + "/pause"})
	s.send(t, request{method: "PATCH", path: "/data_feeds/" + f.ID, body: `{"response":{"types":"text"}}`}).data(t, &f)
	if f.State != "paused" || f.LastRefresh.State != "failed" {
		t.Errorf("%+v", f)
	}
}
