package client

import (
	"bytes"
	"errors"
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
	// MaxBytes limits how much of the response is kept, if it is not zero. Reading a longer
	// response ends with [ErrLongResponse].
	MaxBytes int
}

// ErrLongResponse says that a response is longer than what is kept of it.
var ErrLongResponse = errors.New("the response is too long")

// RoundTrip returns the handler's response.
func (t InProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	a := &recorded{header: make(http.Header), status: http.StatusOK, sender: t.Sender, most: t.MaxBytes}
	t.Handler.ServeHTTP(a, r)
	var body io.Reader = &a.body
	if a.cut {
		body = io.MultiReader(body, failedReader{})
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(body), ContentLength: a.length(), Request: r,
	}, nil
}

// recorded is a response that is kept.
type recorded struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
	sender *http.ResponseController
	// most is how much is kept, 0 for all, and cut says that there was more.
	most int
	cut  bool
}

// length is the length of the whole response, -1 if it is not known.
func (a *recorded) length() int64 {
	if a.cut {
		return -1
	}
	return int64(a.body.Len())
}

// failedReader reports that a response is not whole.
type failedReader struct{}

func (failedReader) Read([]byte) (int, error) { return 0, ErrLongResponse }

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
	if room := a.most - a.body.Len(); a.most > 0 && len(p) > room {
		a.cut = true
		n, _ := a.body.Write(p[:room]) // a buffer takes everything
		return n, ErrLongResponse
	}
	return a.body.Write(p)
}

// Flush does nothing: the response is kept whole.
func (a *recorded) Flush() {}
