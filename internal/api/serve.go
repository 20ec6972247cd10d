package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/feedmill/feedmill"
)

const (
	// readTimeout is how long a client may take to send a body.
	readTimeout = 30 * time.Second
	// writeTimeout is how long it may take to fetch the answer, the work included.
	writeTimeout = 90 * time.Second
	// workTimeout is how long the work on a request may take, so that a store
	// that has vanished holds no request for ever. A test of a subscription
	// may take the longest of all, [feedmill.MaxTimeout].
	workTimeout = 75 * time.Second
)

// serve runs one request and leaves its trace: a request id, a log line, a
// count and, where traces are on, a span.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, rt route) {
	start := time.Now()
	if !rt.long {
		limitTime(w, r, start)
	}
	c := &call{r: r, requestID: requestID(r)}
	defer c.done()
	defer func() {
		if c.endQuery != nil {
			c.endQuery()
		}
	}()
	w.Header().Set("X-Request-Id", c.requestID)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	ctx, span := s.startSpan(r, rt)
	defer span.End()
	sent := &watchedBody{ReadCloser: r.Body}
	if r.Body != http.NoBody {
		r.Body = sent
	}
	ctx, cancel := c.limitWork(ctx, w, r, rt)
	defer cancel()
	c.context = ctx

	a := s.answer(c, w, rt)
	if a.status == http.StatusUnsupportedMediaType && rt.body > 0 {
		a.set("Accept-Post", cmp.Or(c.accepts, rt.formats, "application/json"))
	}
	if rt.long {
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	}
	unread := sent.endUnread(&a, r)
	if c.who.Subject == "" {
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(strangerTimeout)) // a recorder in a test has none
	}
	a.write(w)
	c.done()

	took := time.Since(start)
	s.seen.request(rt, r.Method, a.status, took)
	if unread && c.who.Subject != "" {
		sent.linger(w)
	}
	if a.stream != nil && r.Method != http.MethodHead {
		a.stream(r.Context(), w)
		took = time.Since(start)
	}
	span.SetAttributes(attribute.Int("http.response.status_code", a.status))
	level := slog.LevelInfo
	if a.status >= 500 && r.Context().Err() == nil { // the client still waits
		level = slog.LevelError
	}
	if !s.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("requestId", c.requestID), slog.String("method", r.Method), slog.String("path", s.paths.logged(r.URL.Path)),
		slog.Int("status", a.status), slog.Int("bytes", len(a.body)), slog.Duration("took", took),
	}
	if c.who.Subject != "" {
		attrs = append(attrs, slog.String("workspace", string(c.who.Workspace)), slog.String("credential", c.who.Subject))
	}
	if a.cause != nil {
		attrs = append(attrs, slog.String("error", a.cause.Error()))
	}
	s.Log.LogAttrs(ctx, level, "request", attrs...)
}

// limitTime bounds how long the client may take over its body and the answer. A
// request without a body gets no read deadline: at its end the connection would
// count as lost, and the work on the request would be cancelled.
func limitTime(w http.ResponseWriter, r *http.Request, start time.Time) {
	deadlines := http.NewResponseController(w) // a recorder in a test has no deadlines
	if r.Body != http.NoBody {
		deadlines.SetReadDeadline(start.Add(readTimeout))
	}
	deadlines.SetWriteDeadline(start.Add(writeTimeout))
}

// answer runs the call and makes an answer of whatever comes of it, a panic included.
func (s *Server) answer(c *call, w http.ResponseWriter, rt route) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			a = rt.problem(problemOf(err, instance(c.r), c.requestID))
		}
	}()
	a, err := s.perform(c, w, rt)
	switch {
	case errors.Is(err, errAborted):
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("%w: the client disconnected: %w", feedmill.ErrUnavailable, err)
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%w: %w", errTooSlow, err)
	}
	if err != nil {
		a = rt.problem(problemOf(err, instance(c.r), c.requestID))
	}
	if c.challenge != "" {
		a.set("WWW-Authenticate", c.challenge)
	}
	return a
}

// instance is the path of a request as a problem document may have it: without the
// secret of a link.
func instance(r *http.Request) string {
	if links := strings.TrimSuffix(linkPath, "{token}"); strings.HasPrefix(r.URL.Path, links) {
		return links + "***"
	}
	return r.URL.Path
}

// errTooSlow says that the time for the work on a request was over before the
// work was.
var errTooSlow = &feedmill.Error{
	Kind: feedmill.ErrUnavailable, Detail: "The request timed out. Retry after the time in the Retry-After header, with an Idempotency-Key so that nothing happens twice.",
}

var propagator = propagation.TraceContext{}

func (s *Server) startSpan(r *http.Request, rt route) (context.Context, trace.Span) {
	if s.Tracer == nil {
		return r.Context(), trace.SpanFromContext(context.Background())
	}
	ctx := propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return s.Tracer.Start(ctx, r.Method+" "+rt.path, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("http.route", rt.path)))
}

// requestID is the client's own where it sent a sensible one, else a new one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= 128 && printable(id) {
		return id
	}
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
