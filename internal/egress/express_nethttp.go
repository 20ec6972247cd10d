package egress

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// useNetHTTP sends a request with net/http.
func (t *Express) useNetHTTP(ctx context.Context, deadline time.Time, r *feedmill.HTTPRequest, timing *feedmill.Timing) (feedmill.HTTPAnswer, error) {
	ctx, cancel := until(ctx, deadline)
	clock := clock{start: time.Now()}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, clock.trace()), r.Method, r.URL.String(), bytes.NewReader(r.Body))
	if err != nil {
		cancel()
		return feedmill.HTTPAnswer{}, err
	}
	for _, field := range r.Header {
		req.Header.Set(field[0], field[1])
	}
	resp, err := t.fallback.of(r.Workspace, r.TLS).RoundTrip(req)
	*timing = clock.timing()
	if err != nil {
		cancel()
		return feedmill.HTTPAnswer{}, err
	}
	resp.Body = &cancellingBody{resp.Body, cancel}
	return answerOf(resp), nil
}

// offersHTTP2 reports whether an endpoint supports HTTP/2, after it negotiated no protocol
// and did not respond in HTTP/1.1. It makes a handshake and sends no request.
func (t *Express) offersHTTP2(ctx context.Context, deadline time.Time, c *conn, r *feedmill.HTTPRequest) bool {
	const h2 = "h2"
	if c.secure == nil || c.secure.ConnectionState().NegotiatedProtocol != "" {
		return false
	}
	ctx, cancel := until(ctx, deadline)
	defer cancel()
	socket, err := t.client.DialContext(ctx, "tcp", addressOf(r.URL))
	if err != nil {
		return false
	}
	secured, err := t.secure.handshake(ctx, socket, r, h2)
	if err != nil {
		return false
	}
	defer secured.Close()
	return secured.ConnectionState().NegotiatedProtocol == h2
}

// cancellingBody cancels the context of its exchange when it is closed.
type cancellingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancellingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// maxTransports is the maximum number of transports of net/http.
const maxTransports = 64

// transports has the transports of net/http, one for each workspace and each set of
// certificates that needs one.
type transports struct {
	make func(workspace feedmill.ID, s *feedmill.ClientTLS) *http.Transport

	mu   sync.Mutex
	used []usedTransport // the most recently used last
}

type usedTransport struct {
	workspace feedmill.ID
	tls       string
	*http.Transport
}

// of returns the transport of a workspace and its certificates. It drops the least recently
// used one if there are too many.
func (t *transports) of(workspace feedmill.ID, s *feedmill.ClientTLS) *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.used) - 1; i >= 0; i-- {
		if found := t.used[i]; found.workspace == workspace && found.tls == tlsID(s) {
			copy(t.used[i:], t.used[i+1:])
			t.used[len(t.used)-1] = found
			return found.Transport
		}
	}
	if len(t.used) == maxTransports {
		go t.used[0].CloseIdleConnections()
		t.used = append(t.used[:0], t.used[1:]...)
	}
	made := t.make(workspace, s)
	t.used = append(t.used, usedTransport{workspace, tlsID(s), made})
	return made
}

func (t *transports) closeIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.used {
		u.CloseIdleConnections()
	}
}
