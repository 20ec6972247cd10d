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

// Express makes a transport for many short exchanges. It keeps all rules of
// [Client.Transport], and leaves to such ones what goes through a proxy and what
// is spoken with endpoints that know HTTP/2 alone. The rest it does itself, in
// HTTP/1.1 with or without TLS and in the goroutine of the caller, where net/http
// hands each exchange to two goroutines of the connection's and back, which costs
// more than the exchange.
//
// It keeps maxIdle connections open at most, or fewer, and reads maxBody bytes
// of an answer at most. Connections, and the sessions of TLS, serve the
// workspace for which they were made and no other.
func (c *Client) Express(maxIdle int, maxBody int64) *Express {
	x := &Express{client: c, maxBody: maxBody, secure: newHandshaker(c.rootCAs)}
	maxIdle = min(maxIdle, maxIdleConns)
	x.pool = newConnPool(maxIdle)
	x.rest = &transports{make: func(workspace feedmill.ID) *http.Transport {
		t := c.Transport()
		t.MaxIdleConns = max(maxIdle/maxTransports, 1)
		t.TLSClientConfig.ClientSessionCache = x.secure.sessionsOf(workspace)
		return t
	}}
	return x
}

// Express makes exchanges; see [Client.Express].
type Express struct {
	client  *Client
	maxBody int64
	secure  *handshaker
	pool    *connPool
	rest    *transports
}

// CloseIdleConnections closes the connections that no exchange uses.
func (t *Express) CloseIdleConnections() {
	t.rest.closeIdle()
	t.pool.closeIdle()
}

// Exchange sends a request and returns what the endpoint answers, its body as
// [LimitedBody] reads it. It follows no redirect. All of it, the body included,
// must be done by the deadline, where that is not zero. timing is told how the
// time was spent up to the first byte of the answer.
//
// A request on a connection that was kept open is sent once more, on a new one,
// where the endpoint closed it before a byte of the answer came.
func (t *Express) Exchange(ctx context.Context, deadline time.Time, r *feedmill.HTTPRequest, timing *feedmill.Timing) (feedmill.HTTPAnswer, error) {
	a, err := t.exchange(ctx, deadline, r, timing)
	if err == nil && a.Body != http.NoBody {
		a.Body = limitBody(a.Body, a.Values("Content-Encoding"), t.maxBody)
	}
	return a, err
}

func (t *Express) exchange(ctx context.Context, deadline time.Time, r *feedmill.HTTPRequest, timing *feedmill.Timing) (feedmill.HTTPAnswer, error) {
	start := time.Now()
	if !t.speaks(r) {
		return t.useNetHTTP(ctx, deadline, r, timing)
	}
	// A connection to the host is there only where the policy allows it.
	key := connKey{workspace: r.Workspace, scheme: r.URL.Scheme, host: r.URL.Host}
	c, err := t.pool.acquire(ctx, deadline, key)
	if err != nil {
		return feedmill.HTTPAnswer{}, err
	}
	if c != nil {
		a, err := c.exchange(ctx, deadline, r)
		timing.FirstByte = time.Since(start)
		if err == nil || !c.untouched || ctx.Err() != nil {
			return a, err
		}
		t.pool.opening(key)
	}
	c, err = t.dial(ctx, deadline, key, r.URL, timing)
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
	if c.foreign && t.offersHTTP2(ctx, deadline, c, r.URL) {
		t.secure.onlyHTTP2.note(r.URL.Host)
		return t.useNetHTTP(ctx, deadline, r, timing)
	}
	return a, err
}

// speaks reports whether the exchange is one that Express makes itself.
func (t *Express) speaks(r *feedmill.HTTPRequest) bool {
	switch {
	case t.client.proxy != nil, r.Method != http.MethodPost && r.Method != http.MethodGet:
		return false
	case r.URL.Scheme != "http" && (r.URL.Scheme != "https" || t.secure.onlyHTTP2.has(r.URL.Host)):
		return false
	}
	return isPlain(r.URL.Host) && arePlain(r.Header)
}

// dial makes a connection to the host of a URL.
func (t *Express) dial(ctx context.Context, deadline time.Time, key connKey, u *url.URL, timing *feedmill.Timing) (*conn, error) {
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
	secured, err := t.secure.shakeHands(ctx, socket, key.workspace, u.Hostname(), "http/1.1")
	timing.TLS = time.Since(began)
	if err != nil {
		return nil, err
	}
	return t.pool.addTLS(key, secured), nil
}

// addressOf is what is dialled for a URL.
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

// arePlain reports whether headers can be sent as they are. Others are left to
// net/http, which says what is wrong with them.
func arePlain(header [][2]string) bool {
	for _, field := range header {
		if !isPlain(field[0]) || !isPlain(field[1]) {
			return false
		}
	}
	return true
}

// isPlain reports whether a text is of printable ASCII alone. It looks at eight
// bytes at a time, since it is asked for every header of every delivery.
func isPlain(s string) bool {
	const ones = 0x0101010101010101
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; len(b) >= 8; b = b[8:] {
		// The highest bit of a byte is set by what is below a space, and by
		// what is beyond a tilde.
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
