package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A window that is fetched again is known by its rows, also where a record makes
// several of them and the source counts records.
func TestExplodedWindowIsNotKeptTwice(t *testing.T) {
	t.Parallel()
	s := start(t, webhooks)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("offset") != "0" {
			fmt.Fprint(w, `{"orders":[]}`)
			return
		}
		fmt.Fprint(w, `{"orders":[{"id":1,"lines":[{"n":1},{"n":2},{"n":3}]},{"id":2,"lines":[{"n":1},{"n":2}]}]}`)
	}))
	t.Cleanup(api.Close)
	f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`"},"response":{"path":"$.orders[*]","explode":"$.lines[*]"},"pagination":{"kind":"offset","param":"offset"},
		"incremental":{"step":"1d","start":"{{today-2d}}","format":"date","param":{"name":"from"}}}`)
	before, days := f.RowCount, f.RowCount/5
	if before != 5*days || days < 3 {
		t.Fatalf("%+v %+v", f, f.LastError)
	}
	f, r := s.refreshed(t, f.ID)
	// Where midnight passes meanwhile there is another day.
	if want := before + 5*(r.Requests/2-1); f.RowCount != want {
		t.Errorf("%d rows, want %d: %+v", f.RowCount, want, r)
	}
}

// A parent that comes later is fetched for from the start, and the others are not.
func TestWindowsOfLaterParents(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":"a"}]`)
	var mu sync.Mutex
	var asked []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path+" "+r.URL.Query().Get("from"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `[{"n":1},{"n":2}]`)
	}))
	t.Cleanup(api.Close)
	first := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	f := s.fetched(t, "", `{"request":{"url":"`+api.URL+`/{{x.id}}"},"each":{"in":{"request":{"url":"`+shop.URL+`"}},"as":"x","include":["id"]},
		"incremental":{"step":"1d","start":"`+first+`","format":"date","param":{"name":"from"}}}`)
	mu.Lock()
	asked = nil
	mu.Unlock()
	shop.set(200, `[{"id":"a"},{"id":"b"}]`)
	for range 2 {
		s.refreshed(t, f.ID)
	}
	mu.Lock()
	defer mu.Unlock()
	of := map[string]int64{}
	for line := range strings.Lines(s.read(t, f.ID, "")) {
		of[line[strings.Index(line, `"x.id"`):]]++
	}
	if a, b := of["\"x.id\":\"a\"}\n"], of["\"x.id\":\"b\"}\n"]; a != b || a < 2*4 {
		t.Errorf("%v\n%s", of, strings.Join(asked, "\n"))
	}
	if n := strings.Count(strings.Join(asked, ","), "/b "+first); n != 1 || strings.Contains(strings.Join(asked, ","), "/a "+first) {
		t.Errorf("asked\n%s", strings.Join(asked, "\n"))
	}
}

// Data that was fetched whole and is of no use is not kept for the next refresh, which
// asks the source again.
func TestUselessWindowsAreFetchedAgain(t *testing.T) {
	t.Parallel()
	s, shop := start(t, webhooks), newShop(t, `[{"id":null}]`)
	f := s.fetched(t, "", `{"request":{"url":"`+shop.URL+`"},"incremental":{"step":"1d","start":"{{today-2d}}","format":"date","param":{"name":"from"}},"key":["id"],"mode":"merge"}`)
	if f.State != "failed" {
		t.Fatalf("%+v", f)
	}
	shop.set(200, `[{"id":1}]`)
	if f, _ = s.refreshed(t, f.ID); f.State != "ready" || f.RowCount != 1 {
		t.Errorf("%+v %+v", f, f.LastError)
	}
}
