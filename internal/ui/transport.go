package ui

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"github.com/feedmill/feedmill/client"
)

// sessionCookie is the API's cookie.
const sessionCookie = "feedmill_session"

// transport carries the requests of one visit to the API, inside the process,
// with the visitor's session.
type transport struct {
	api   http.Handler
	outer *http.Request

	mu sync.Mutex
	// cookies are those that the API has set, for the visitor's browser.
	cookies []string
	// requestID is that of the newest answer.
	requestID string
}

// client makes the client of a visit. A request is not tried again: the person
// who waits can.
func (t *transport) client() *client.Client {
	c := client.New("http://feedmill.invalid", "")
	c.HTTP = &http.Client{Transport: t, CheckRedirect: c.HTTP.CheckRedirect}
	c.Tries = 1
	c.UserAgent = "feedmill-ui"
	return c
}

// RoundTrip has the API answer a request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.Header.Del("Cookie")
	if cookie, err := t.outer.Cookie(sessionCookie); err == nil {
		r.AddCookie(&http.Cookie{Name: sessionCookie, Value: cookie.Value})
	}
	r.RequestURI, r.RemoteAddr, r.TLS = r.URL.RequestURI(), t.outer.RemoteAddr, t.outer.TLS
	if proto := t.outer.Header.Get("X-Forwarded-Proto"); proto != "" {
		r.Header.Set("X-Forwarded-Proto", proto)
	}
	a := &answer{header: make(http.Header), status: http.StatusOK}
	t.api.ServeHTTP(a, r)
	t.mu.Lock()
	t.cookies = append(t.cookies, a.header.Values("Set-Cookie")...)
	t.requestID = a.header.Get("X-Request-Id")
	t.mu.Unlock()
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(&a.body), ContentLength: int64(a.body.Len()), Request: r,
	}, nil
}

// answer keeps what the API answers.
type answer struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if !a.wrote {
		a.status, a.wrote = status, true
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.wrote = true
	return a.body.Write(p)
}

// Flush has nothing to do: the whole answer is kept.
func (a *answer) Flush() {}
