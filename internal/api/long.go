package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// longWorkTimeout is how long the work on a large body may take once all
	// of it is there.
	longWorkTimeout = 15 * time.Minute
	// leastPace is how many bytes of a large body must come in a second, on
	// average, once the time for a small one is over.
	leastPace = 1 << 10
)

// limitWork bounds how long the work on a request may take. Of a long request
// it bounds the time for each part of the body and, once the whole of it is
// there, for the work on it, until [call.begun].
func (c *call) limitWork(ctx context.Context, w http.ResponseWriter, r *http.Request, rt route) (context.Context, context.CancelFunc) {
	if !rt.long {
		return context.WithTimeout(ctx, workTimeout)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c.work = time.AfterFunc(longWorkTimeout, func() { cancel(context.DeadlineExceeded) })
	if r.Body != http.NoBody {
		c.work.Stop()
		arrived := sync.OnceFunc(func() { c.work.Reset(longWorkTimeout) })
		body := &patientBody{ReadCloser: r.Body, deadlines: http.NewResponseController(w), start: time.Now(), arrived: arrived}
		body.extend() // for a body that nobody reads, too
		r.Body = body
	}
	return ctx, func() {
		c.work.Stop()
		cancel(nil)
	}
}

// begun says that the answer to a long request begins: from here on each part
// of it has its own time.
func (c *call) begun() { c.work.Stop() }

// patientBody gives the client a new deadline for every part of the body, as
// long as it keeps the least pace. At the end there is none: it would count as
// the end of the connection.
type patientBody struct {
	io.ReadCloser
	deadlines *http.ResponseController
	start     time.Time
	read      int64
	arrived   func()
}

func (b *patientBody) extend() {
	at := time.Now().Add(readTimeout)
	if paced := b.start.Add(readTimeout + time.Duration(b.read/leastPace)*time.Second); paced.Before(at) {
		at = paced
	}
	b.deadlines.SetReadDeadline(at) // a recorder in a test has no deadlines
}

func (b *patientBody) Read(p []byte) (int, error) {
	b.extend()
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if errors.Is(err, io.EOF) {
		b.deadlines.SetReadDeadline(time.Time{})
		b.arrived()
	}
	return n, err
}
