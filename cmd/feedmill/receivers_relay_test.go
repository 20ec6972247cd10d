package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// relay stands between the program and a receiver, passes on what it gets and
// remembers it.
type relay struct {
	*httptest.Server
	seen chan exchange

	mu    sync.Mutex
	to    string
	spoil func(*exchange) // changes the next request on its way
}

func newRelay(t *testing.T) *relay {
	r := &relay{seen: make(chan exchange, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		came := exchange{method: q.Method, uri: q.RequestURI, header: q.Header, body: string(body)}
		r.mu.Lock()
		to, spoil := r.to, r.spoil
		r.spoil = nil
		r.mu.Unlock()
		goes := came.clone()
		if spoil != nil {
			spoil(&goes)
		}
		came.status = goes.send(t, to)
		r.seen <- came
		w.WriteHeader(came.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *relay) sendTo(url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = url
}

func (r *relay) spoilNext(spoil func(*exchange)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spoil = spoil
}

// next waits for the next attempt to deliver an event.
func (r *relay) next(t *testing.T, event string) exchange {
	t.Helper()
	for {
		select {
		case x := <-r.seen:
			if x.event() == event {
				return x
			}
		case <-time.After(patience):
			t.Fatal("no attempt comes")
		}
	}
}

// exchange is a request that was made, and its answer.
type exchange struct {
	method, uri string
	header      http.Header
	body        string
	status      int
}

func (x exchange) clone() exchange {
	x.header = x.header.Clone()
	return x
}

// send makes the request and returns the status, 502 where no answer comes.
func (x exchange) send(t *testing.T, to string) int {
	req, err := http.NewRequestWithContext(t.Context(), x.method, to+x.uri, strings.NewReader(x.body))
	if err != nil {
		t.Error(err)
		return http.StatusBadGateway
	}
	req.Header = x.header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return http.StatusBadGateway
	}
	resp.Body.Close()
	return resp.StatusCode
}

// payload is the text that is signed.
func (x exchange) payload() string {
	if x.method == http.MethodPost {
		return x.body
	}
	_, query, _ := strings.Cut(x.uri, "payload=")
	text, err := url.PathUnescape(query)
	if err != nil {
		return err.Error()
	}
	return text
}

// event is the id in the payload.
func (x exchange) event() string {
	var e struct{ ID string }
	if err := json.Unmarshal([]byte(x.payload()), &e); err != nil {
		return err.Error()
	}
	return e.ID
}
