package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// outside is a proxy that stands for all other hosts: the shop that has the
// data of a feed, and the receivers of events. With it the URLs in a store name
// no port, and are good wherever the store is opened.
type outside struct {
	*httptest.Server

	mu      sync.Mutex
	broken  map[string]bool // receivers that fail, by path
	came    []exchange      // at the receivers
	fetches []string        // what the shop was asked, with the credential
	orders  []string        // that the shop has, by time
}

func newOutside(t *testing.T, broken ...string) *outside {
	t.Helper()
	o := &outside{broken: make(map[string]bool), orders: []string{
		`{"id":1,"total":12.50,"at":"2026-11-01T10:00:00Z"}`, `{"id":2,"total":7.00,"at":"2026-11-01T12:00:00Z"}`,
	}}
	for _, path := range broken {
		o.broken[path] = true
	}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		switch r.Host {
		case "shop.test":
			o.fetches = append(o.fetches, r.Header.Get("Authorization")+" since "+r.URL.Query().Get("since"))
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, "[%s]", strings.Join(o.orders, ","))
		case "hooks.test":
			x := exchange{method: r.Method, uri: r.URL.RequestURI(), header: r.Header, body: string(body), status: http.StatusNoContent}
			if o.broken[r.URL.Path] {
				x.status = http.StatusInternalServerError
			}
			o.came = append(o.came, x)
			w.WriteHeader(x.status)
		default:
			t.Errorf("%s %s: nobody has this host", r.Method, r.URL)
		}
	}))
	t.Cleanup(o.Close)
	return o
}

// env makes all that a server asks of other hosts come here.
func (o *outside) env() []string {
	return []string{"FEEDMILL_EGRESS_PROXY=" + o.URL, "FEEDMILL_EGRESS_ALLOW=*.test", "FEEDMILL_LOG_LEVEL=error", "FEEDMILL_EVENT_RETENTION=36500d"}
}

// at are the requests that came to a receiver.
func (o *outside) at(path string) []exchange {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(o.came), func(x exchange) bool { return x.uri != path && !strings.HasPrefix(x.uri, path+"?") })
}

// await waits until so many requests have come to a receiver.
func (o *outside) await(t *testing.T, path string, n int) []exchange {
	t.Helper()
	eventually(t, fmt.Sprintf("%d requests come to %s", n, path), func() bool { return len(o.at(path)) >= n })
	return o.at(path)
}

// fetched is what the shop was asked so far, with the credential.
func (o *outside) fetched() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.fetches)
}

// order adds an order to the shop.
func (o *outside) order(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.orders = append(o.orders, text)
}
