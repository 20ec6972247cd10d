package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
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
	// sources are what the hosts of scenarios respond, and questions what they were asked.
	sources   map[string]map[string]string
	questions map[string][]string
}

func newOutside(t *testing.T, broken ...string) *outside {
	t.Helper()
	o := &outside{broken: make(map[string]bool), sources: make(map[string]map[string]string), questions: make(map[string][]string), orders: []string{
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
			source, ok := o.sources[r.Host]
			if !ok {
				t.Errorf("%s %s: nobody has this host", r.Method, r.URL)
			}
			o.questions[r.Host] = append(o.questions[r.Host], strings.Join(slices.DeleteFunc([]string{
				r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), string(body),
			}, func(s string) bool { return s == "" }), " "))
			respond(t, w, r, string(body), source)
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

// serve makes a host respond: by the request, which is its URI alone for GET, and
// else its method, URI and body. A response that begins with HTTP is sent as it is.
func (o *outside) serve(host string, source map[string]string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sources[host] = source
}

// asked are the requests that came to a host since the last call, sorted.
func (o *outside) asked(host string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	asked := o.questions[host]
	delete(o.questions, host)
	slices.Sort(asked)
	return asked
}

func respond(t *testing.T, w http.ResponseWriter, r *http.Request, body string, source map[string]string) {
	request := r.URL.RequestURI()
	if r.Method != http.MethodGet {
		request = strings.TrimSpace(r.Method + " " + request + " " + body)
	}
	var text string
	ok := false
	for known, response := range source {
		if normal(known) == normal(request) {
			text, ok = response, true
		}
	}
	switch {
	case !ok:
		http.Error(w, "{}", http.StatusNotFound)
		return
	case strings.HasPrefix(text, "HTTP/"):
		response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), r)
		if err != nil {
			t.Error(err)
			return
		}
		defer response.Body.Close()
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.StatusCode)
		io.Copy(w, response.Body)
		return
	case strings.HasPrefix(text, "<"):
		w.Header().Set("Content-Type", "application/xml")
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		w.Header().Set("Content-Type", "application/json")
	default:
		w.Header().Set("Content-Type", "text/csv")
	}
	io.WriteString(w, text)
}

// normal is a request in the one form of all that mean the same: releases may send
// it in any of them.
func normal(request string) string {
	method, rest, sent := strings.Cut(request, " ")
	if !sent {
		method, rest = "", request
	}
	uri, body, _ := strings.Cut(rest, " ")
	if u, err := url.Parse(uri); err == nil {
		uri = u.Path + "?" + u.Query().Encode()
	}
	var document any
	if json.Unmarshal([]byte(body), &document) == nil {
		text, _ := json.Marshal(document)
		body = string(text)
	} else if values, err := url.ParseQuery(body); err == nil {
		body = values.Encode()
	}
	return method + " " + uri + " " + body
}
