package egress

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"time"
	"unsafe"

	"github.com/feedmill/feedmill"
)

// Express makes a transport for many short exchanges. It keeps all rules of
// [Client.Transport], and leaves to one what is not plain HTTP on a direct
// connection. That it does itself, in HTTP/1.1 and in the goroutine of the
// caller, where net/http hands each exchange to two goroutines of the
// connection's and back, which costs more than the exchange.
//
// It keeps maxIdle connections open at most, or fewer, and reads maxBody bytes
// of an answer at most.
func (c *Client) Express(maxIdle int, maxBody int64) *Express {
	rest := c.Transport()
	rest.MaxIdleConns = min(rest.MaxIdleConns, maxIdle)
	return &Express{client: c, maxBody: maxBody, rest: rest, pool: &connPool{idle: make(map[string][]*conn), max: rest.MaxIdleConns}}
}

// Express makes exchanges; see [Client.Express].
type Express struct {
	client  *Client
	maxBody int64
	rest    *http.Transport
	pool    *connPool
}

// CloseIdleConnections closes the connections that no exchange uses.
func (t *Express) CloseIdleConnections() {
	t.rest.CloseIdleConnections()
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
	if r.URL.Scheme != "http" || t.client.proxy != nil || (r.Method != http.MethodPost && r.Method != http.MethodGet) || !arePlain(r.Header) {
		return t.useNetHTTP(ctx, deadline, r, timing)
	}
	// A connection to the host is there only where the policy allows it.
	if c := t.pool.takeIdle(r.URL.Host); c != nil {
		a, err := c.exchange(ctx, deadline, r)
		timing.FirstByte = time.Since(start)
		if err == nil || !c.untouched || ctx.Err() != nil {
			return a, err
		}
	}
	c, err := t.dial(ctx, deadline, r.URL, timing)
	if err != nil {
		return feedmill.HTTPAnswer{}, err
	}
	a, err := c.exchange(ctx, deadline, r)
	if err == nil {
		timing.FirstByte = time.Since(start)
	}
	return a, err
}

// dial makes a connection to the host of a URL.
func (t *Express) dial(ctx context.Context, deadline time.Time, u *url.URL, timing *feedmill.Timing) (*conn, error) {
	if err := t.client.policy.CheckURL(u); err != nil {
		return nil, err
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "80")
	}
	ctx, cancel := until(ctx, deadline)
	defer cancel()
	clock := clock{start: time.Now()}
	c, err := t.client.DialContext(httptrace.WithClientTrace(ctx, clock.trace()), "tcp", address)
	*timing = clock.timing()
	if err != nil {
		return nil, err
	}
	return t.pool.open(u.Host, c), nil
}

func until(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline)
}

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
	resp, err := t.rest.RoundTrip(req)
	*timing = clock.timing()
	if err != nil {
		cancel()
		return feedmill.HTTPAnswer{}, err
	}
	resp.Body = &cancellingBody{resp.Body, cancel}
	return answerOf(resp), nil
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

// maxInformational is how many 1xx answers may come before the real one.
const maxInformational = 5

// longAgo as a deadline breaks off what is under way.
var longAgo = time.Unix(1, 0)

// exchange sends a request and reads the answer, or its header. The connection
// goes back to the pool when all of the answer's body has come.
func (c *conn) exchange(ctx context.Context, deadline time.Time, r *feedmill.HTTPRequest) (a feedmill.HTTPAnswer, err error) {
	c.untouched = true
	defer func() {
		if err != nil {
			c.giveUp()
			if ctx.Err() != nil {
				err = ctx.Err()
			}
		}
	}()
	if err := c.begin(ctx, deadline); err != nil {
		return a, err
	}
	if err := c.send(r); err != nil {
		return a, err
	}
	c.left = maxHeaderBytes
	if _, err := c.answer.Peek(1); err != nil {
		c.untouched = c.reused && !isTimeout(err)
		return a, err
	}
	c.untouched = false
	here, _ := c.answer.Peek(c.answer.Buffered())
	if a, size := parseAnswer(here); size > 0 {
		c.answer.Discard(size)
		c.done(true)
		return a, nil
	}
	for range maxInformational + 1 {
		resp, err := http.ReadResponse(c.answer, nil)
		if err != nil {
			return a, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.left = maxBodyBytes
			resp.Body = c.body(resp)
			return answerOf(resp), nil
		}
	}
	return a, errors.New("more than five answers of the kind that says to wait")
}

// begin gives an exchange its time. The watch over a context stays for further
// exchanges with the same, since to set it up costs as much as to send.
func (c *conn) begin(ctx context.Context, deadline time.Time) error {
	if over := ctx.Done(); c.watched != over {
		if !c.unwatch() {
			return net.ErrClosed // the deadline may be spoilt at any moment
		}
		c.watched, c.stop = over, context.AfterFunc(ctx, func() { c.SetDeadline(longAgo) })
	}
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	return ctx.Err() // if it ends from now on, that undoes the deadline
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// oneWrite is how large a body may be to be sent in one piece with its header.
const oneWrite = 32 << 10

// send writes the request.
func (c *conn) send(r *feedmill.HTTPRequest) error {
	b, body := append(c.out[:0], r.Method...), r.Body
	b = append(b, ' ')
	b = append(b, r.URL.RequestURI()...)
	b = appendField(b, " HTTP/1.1\r\nHost", r.URL.Host)
	encoding := false
	for _, field := range r.Header {
		b = appendField(b, field[0], field[1])
		encoding = encoding || field[0] == "Accept-Encoding"
	}
	if !encoding {
		b = appendField(b, "Accept-Encoding", "gzip")
	}
	if r.Method == http.MethodPost {
		b = appendField(b, "Content-Length", strconv.Itoa(len(body)))
	}
	b = append(b, "\r\n"...)
	if len(body) <= oneWrite {
		b, body = append(b, body...), nil
	}
	c.out = b
	if _, err := c.Conn.Write(b); err != nil || len(body) == 0 {
		return err
	}
	_, err := c.Conn.Write(body)
	return err
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}
