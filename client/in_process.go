package client

import (
	"bytes"
	"io"
	"net/http"
	"time"
)

// InProcess is a transport to a server in the same process. It calls the handler without a
// network and keeps the whole response in memory.
type InProcess struct {
	Handler http.Handler
	// Sender is the connection that the bodies of requests come from, if they are still
	// being received: the handler's read deadlines apply to it.
	Sender *http.ResponseController
}

// RoundTrip returns the handler's response.
func (t InProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	a := &recorded{header: make(http.Header), status: http.StatusOK, sender: t.Sender}
	t.Handler.ServeHTTP(a, r)
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(&a.body), ContentLength: int64(a.body.Len()), Request: r,
	}, nil
}

// recorded is a response that is kept.
type recorded struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
	sender *http.ResponseController
}

// SetReadDeadline bounds how long the sender may take to send the body.
func (a *recorded) SetReadDeadline(at time.Time) error {
	if a.sender == nil {
		return http.ErrNotSupported
	}
	return a.sender.SetReadDeadline(at)
}

func (a *recorded) Header() http.Header { return a.header }

func (a *recorded) WriteHeader(status int) {
	if !a.wrote {
		a.status, a.wrote = status, true
	}
}

func (a *recorded) Write(p []byte) (int, error) {
	a.wrote = true
	return a.body.Write(p)
}

// Flush does nothing: the response is kept whole.
func (a *recorded) Flush() {}
