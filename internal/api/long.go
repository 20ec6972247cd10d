package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// longWorkTimeout is how long the work on a large body may take once all of it
// is there.
const longWorkTimeout = 15 * time.Minute

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
		r.Body = &patientBody{r.Body, http.NewResponseController(w), arrived}
	}
	return ctx, func() {
		c.work.Stop()
		cancel(nil)
	}
}

// begun says that the answer to a long request begins: from here on each part
// of it has its own time.
func (c *call) begun() { c.work.Stop() }

// patientBody gives the client a new deadline for every part of the body. At
// its end there is none: it would count as the end of the connection.
type patientBody struct {
	io.ReadCloser
	deadlines *http.ResponseController
	arrived   func()
}

func (b *patientBody) Read(p []byte) (int, error) {
	b.deadlines.SetReadDeadline(time.Now().Add(readTimeout)) // a recorder in a test has no deadlines
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.deadlines.SetReadDeadline(time.Time{})
		b.arrived()
	}
	return n, err
}
