package lake

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// limitTime ends the context of a query that works for too long. What it gives
// to the writer it returns counts as taken: while that takes it, time stands still.
func (p *Pool) limitTime(ctx context.Context, out io.Writer) (context.Context, io.Writer, context.CancelFunc) {
	limit := p.config.QueryTime
	if limit <= 0 || share.Background(ctx) {
		return ctx, out, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := &timedWriter{out: out, left: limit, since: time.Now()}
	w.over = time.AfterFunc(limit, func() { cancel(tooSlow(limit)) })
	return ctx, w, func() {
		w.over.Stop()
		cancel(nil)
	}
}

// tooSlow is the refusal of a query that took longer than one may.
func tooSlow(limit time.Duration) error {
	return &feedmill.Error{
		Kind: feedmill.ErrUnprocessable, Type: "query-too-slow",
		Detail: fmt.Sprintf("This query was stopped because it took longer than %s (queryTimeout). "+
			"Filter more rows, select fewer fields, or remove sorting; patterns of matches are often the slowest part.", feedmill.FormatDuration(limit)),
	}
}

// timedWriter stops the clock while somebody takes what is written.
type timedWriter struct {
	out   io.Writer
	over  *time.Timer
	left  time.Duration
	since time.Time
}

func (w *timedWriter) Write(p []byte) (int, error) {
	if w.over.Stop() {
		w.left -= time.Since(w.since)
		defer func() {
			w.since = time.Now()
			w.over.Reset(max(w.left, 1))
		}()
	}
	return w.out.Write(p)
}
