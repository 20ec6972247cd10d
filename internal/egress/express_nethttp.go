package egress

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// useNetHTTP leaves an exchange to net/http.
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
	resp, err := t.rest.of(r.Workspace).RoundTrip(req)
	*timing = clock.timing()
	if err != nil {
		cancel()
		return feedmill.HTTPAnswer{}, err
	}
	resp.Body = &cancellingBody{resp.Body, cancel}
	return answerOf(resp), nil
}

// offersHTTP2 reports whether the endpoint of a connection, which took a handshake without
// a word about protocols and then spoke no HTTP/1.1, takes HTTP/2. Only a handshake is
// made to find out.
func (t *Express) offersHTTP2(ctx context.Context, deadline time.Time, c *conn, u *url.URL) bool {
	const h2 = "h2"
	if c.secure == nil || c.secure.ConnectionState().NegotiatedProtocol != "" {
		return false
	}
	ctx, cancel := until(ctx, deadline)
	defer cancel()
	socket, err := t.client.DialContext(ctx, "tcp", addressOf(u))
	if err != nil {
		return false
	}
	secured, err := t.secure.shakeHands(ctx, socket, c.key.workspace, u.Hostname(), h2)
	if err != nil {
		return false
	}
	defer secured.Close()
	return secured.ConnectionState().NegotiatedProtocol == h2
}

// cancellingBody is a body with whose end the context of its exchange ends.
type cancellingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancellingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// maxTransports is how many workspaces have a transport of net/http at once.
const maxTransports = 64

// transports are those of net/http, one for each workspace that needs one.
type transports struct {
	make func(workspace feedmill.ID) *http.Transport

	mu   sync.Mutex
	used []usedTransport // the last was used last
}

type usedTransport struct {
	workspace feedmill.ID
	*http.Transport
}

// of is the transport of a workspace. The one that was not used for longest
// gives way to it.
func (t *transports) of(workspace feedmill.ID) *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.used) - 1; i >= 0; i-- {
		if found := t.used[i]; found.workspace == workspace {
			copy(t.used[i:], t.used[i+1:])
			t.used[len(t.used)-1] = found
			return found.Transport
		}
	}
	if len(t.used) == maxTransports {
		go t.used[0].CloseIdleConnections()
		t.used = append(t.used[:0], t.used[1:]...)
	}
	made := t.make(workspace)
	t.used = append(t.used, usedTransport{workspace, made})
	return made
}

func (t *transports) closeIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.used {
		u.CloseIdleConnections()
	}
}
