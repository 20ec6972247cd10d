package egress

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
	"unsafe"

	"github.com/feedmill/feedmill"
)

// Express returns a client for many short exchanges. It enforces all rules of
// [Client.Transport]. It speaks HTTP/1.1 itself, with or without TLS, in the caller's
// goroutine: net/http passes each exchange to two goroutines and back, which costs more than
// the exchange. Requests through a proxy, and to endpoints that only support HTTP/2, use
// net/http.
//
// It keeps at most maxIdle idle connections and reads at most maxBody bytes of a response.
// Connections and TLS sessions are never shared between workspaces, or between requests with
// different certificates.
func (c *Client) Express(maxIdle int, maxBody int64) *Express {
	x := &Express{client: c, maxBody: maxBody, secure: newHandshaker(c.rootCAs)}
	maxIdle = min(maxIdle, maxIdleConns)
	x.pool = newConnPool(maxIdle)
	x.fallback = &transports{make: func(workspace feedmill.ID, s *feedmill.ClientTLS) *http.Transport {
		t := c.Transport()
		t.MaxIdleConns = max(maxIdle/maxTransports, 1)
		x.secure.configure(t.TLSClientConfig, workspace, s)
		return t
	}}
	return x
}

// Express sends HTTP requests; see [Client.Express].
type Express struct {
	client   *Client
	maxBody  int64
	secure   *handshaker
	pool     *connPool
	fallback *transports
}

// CloseIdleConnections closes the connections that no exchange uses.
func (t *Express) CloseIdleConnections() {
	t.fallback.closeIdle()
	t.pool.closeIdle()
}

// Exchange sends a request and returns the response, with a body like that of
// [LimitedBody]. It follows no redirects. The exchange, including the body, must end by the
// deadline, if that is not zero. timing is set to the phases up to the first byte of the
// response.
//
// If the endpoint closes a reused connection before the first byte of a response, the
// request is sent again on a new connection.
func (t *Express) Exchange(ctx context.Context, deadline time.Time, r *feedmill.HTTPRequest, timing *feedmill.Timing) (feedmill.HTTPAnswer, error) {
	a, err := t.exchange(ctx, deadline, r, timing)
	if err == nil && a.Body != http.NoBody {
		a.Body = limitBody(a.Body, a.Values("Content-Encoding"), t.maxBody)
	}
	return a, err
}

func (t *Express) exchange(ctx context.Context, deadline time.Time, r *feedmill.HTTPRequest, timing *feedmill.Timing) (feedmill.HTTPAnswer, error) {
	start := time.Now()
	if !t.canSend(r) {
		return t.useNetHTTP(ctx, deadline, r, timing)
	}
	// The pool only has connections to hosts that the policy allows.
	key := connKey{workspace: r.Workspace, scheme: r.URL.Scheme, host: r.URL.Host, tls: tlsID(r.TLS)}
	c, err := t.pool.acquire(ctx, deadline, key)
	if err != nil {
		return feedmill.HTTPAnswer{}, err
	}
	if c != nil {
		a, err := c.exchange(ctx, deadline, r)
		timing.FirstByte = time.Since(start)
		if err == nil || !c.repeatable || ctx.Err() != nil {
			return a, err
		}
		t.pool.opening(key)
	}
	c, err = t.dial(ctx, deadline, key, r, timing)
	t.pool.opened(key)
	if needsHTTP2(err) {
		t.secure.onlyHTTP2.note(r.URL.Host)
		return t.useNetHTTP(ctx, deadline, r, timing)
	}
	if err != nil {
		return feedmill.HTTPAnswer{}, err
	}
	a, err := c.exchange(ctx, deadline, r)
	if err == nil {
		timing.FirstByte = time.Since(start)
	}
	if c.notHTTP1 && t.offersHTTP2(ctx, deadline, c, r) {
		t.secure.onlyHTTP2.note(r.URL.Host)
		return t.useNetHTTP(ctx, deadline, r, timing)
	}
	return a, err
}

// canSend reports whether Express sends a request itself instead of net/http.
func (t *Express) canSend(r *feedmill.HTTPRequest) bool {
	switch {
	case t.client.proxy != nil, r.Method != http.MethodPost && r.Method != http.MethodGet:
		return false
	case r.URL.Scheme != "http" && (r.URL.Scheme != "https" || t.secure.onlyHTTP2.has(r.URL.Host)):
		return false
	}
	return isPlain(r.URL.Host) && arePlain(r.Header)
}

// dial opens a connection for a request.
func (t *Express) dial(ctx context.Context, deadline time.Time, key connKey, r *feedmill.HTTPRequest, timing *feedmill.Timing) (*conn, error) {
	u := r.URL
	if err := t.client.policy.CheckURL(u); err != nil {
		return nil, err
	}
	ctx, cancel := until(ctx, deadline)
	defer cancel()
	clock := clock{start: time.Now()}
	socket, err := t.client.DialContext(httptrace.WithClientTrace(ctx, clock.trace()), "tcp", addressOf(u))
	*timing = clock.timing()
	if err != nil {
		return nil, err
	}
	if u.Scheme == "http" {
		return t.pool.add(key, socket), nil
	}
	began := time.Now()
	secured, err := t.secure.handshake(ctx, socket, r, "http/1.1")
	timing.TLS = time.Since(began)
	if err != nil {
		return nil, err
	}
	return t.pool.addTLS(key, secured), nil
}

// addressOf returns the address to dial for a URL.
func addressOf(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

func until(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline)
}

// arePlain reports whether headers can be sent as they are. net/http sends others, or
// reports what is wrong with them.
func arePlain(header [][2]string) bool {
	for _, field := range header {
		if !isPlain(field[0]) || !isPlain(field[1]) {
			return false
		}
	}
	return true
}

// isPlain reports whether a text has only printable ASCII characters. It checks eight bytes
// at a time, because it runs for every header of every delivery.
func isPlain(s string) bool {
	const ones = 0x0101010101010101
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; len(b) >= 8; b = b[8:] {
		// The highest bit of a byte is set for characters below a space or above a tilde.
		eight := binary.NativeEndian.Uint64(b)
		if ((eight-' '*ones)|(eight+ones)|eight)&(0x80*ones) != 0 {
			return false
		}
	}
	for _, c := range b {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}
