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
// It keeps maxIdle connections open at most, or fewer.
func (c *Client) Express(maxIdle int) *Express {
	rest := c.Transport()
	rest.MaxIdleConns = min(rest.MaxIdleConns, maxIdle)
	return &Express{client: c, rest: rest, pool: &connPool{idle: make(map[string][]*conn), max: rest.MaxIdleConns}}
}

// Express makes exchanges; see [Client.Express].
type Express struct {
	client *Client
	rest   *http.Transport
	pool   *connPool
}

// CloseIdleConnections closes the connections that no exchange uses.
func (t *Express) CloseIdleConnections() {
	t.rest.CloseIdleConnections()
	t.pool.closeIdle()
}

// Exchange sends a request, with a body where it is a POST, and answers what
// the endpoint answers; the caller closes the body of that. It follows no
// redirect. All of it, the body included, must be done by the deadline, where
// that is not zero. Names of headers are written in their canonical form. timing
// is told how the time was spent up to the first byte of the answer.
//
// A request on a connection that was kept open is sent once more, on a new one,
// where the endpoint closed it before a byte of the answer came.
func (t *Express) Exchange(ctx context.Context, deadline time.Time, method string, u *url.URL, header [][2]string, body []byte, timing *feedmill.Timing) (*http.Response, error) {
	start := time.Now()
	if u.Scheme != "http" || t.client.proxy != nil || (method != http.MethodPost && method != http.MethodGet) || !arePlain(header) {
		return t.leave(ctx, deadline, method, u, header, body, timing)
	}
	// A connection to the host is there only where the policy allows it.
	if c := t.pool.take(u.Host); c != nil {
		resp, err := c.exchange(ctx, deadline, method, u, header, body)
		timing.FirstByte = time.Since(start)
		if err == nil || !c.untouched || ctx.Err() != nil {
			return resp, err
		}
	}
	c, err := t.dial(ctx, deadline, u, timing)
	if err != nil {
		return nil, err
	}
	resp, err := c.exchange(ctx, deadline, method, u, header, body)
	if err == nil {
		timing.FirstByte = time.Since(start)
	}
	return resp, err
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

// leave leaves an exchange to net/http.
func (t *Express) leave(ctx context.Context, deadline time.Time, method string, u *url.URL, header [][2]string, body []byte, timing *feedmill.Timing) (*http.Response, error) {
	ctx, cancel := until(ctx, deadline)
	clock := clock{start: time.Now()}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, clock.trace()), method, u.String(), bytes.NewReader(body))
	if err != nil {
		cancel()
		return nil, err
	}
	for _, field := range header {
		r.Header.Set(field[0], field[1])
	}
	resp, err := t.rest.RoundTrip(r)
	*timing = clock.timing()
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &cancellingBody{resp.Body, cancel}
	return resp, nil
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

// exchange sends a request and reads the header of the answer. The connection
// goes back to the pool with the end of the answer's body.
func (c *conn) exchange(ctx context.Context, deadline time.Time, method string, u *url.URL, header [][2]string, body []byte) (resp *http.Response, err error) {
	c.untouched = true
	c.SetDeadline(deadline)
	c.stop = context.AfterFunc(ctx, func() { c.SetDeadline(longAgo) })
	defer func() {
		if err != nil {
			c.giveUp()
			if ctx.Err() != nil {
				err = ctx.Err()
			}
		}
	}()
	if err := c.send(method, u, header, body); err != nil {
		return nil, err
	}
	c.left = maxHeaderBytes
	if _, err := c.answer.Peek(1); err != nil {
		c.untouched = c.reused && !isTimeout(err)
		return nil, err
	}
	c.untouched = false
	for range maxInformational + 1 {
		if resp, err = http.ReadResponse(c.answer, nil); err != nil {
			return nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.left = maxBodyBytes
			resp.Body = c.body(resp)
			return resp, nil
		}
	}
	return nil, errors.New("more than five answers of the kind that says to wait")
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// oneWrite is how large a body may be to be sent in one piece with its header.
const oneWrite = 32 << 10

// send writes the request.
func (c *conn) send(method string, u *url.URL, header [][2]string, body []byte) error {
	b := append(c.out[:0], method...)
	b = append(b, ' ')
	b = append(b, u.RequestURI()...)
	b = appendField(b, " HTTP/1.1\r\nHost", u.Host)
	encoding := false
	for _, field := range header {
		b = appendField(b, field[0], field[1])
		encoding = encoding || field[0] == "Accept-Encoding"
	}
	if !encoding {
		b = appendField(b, "Accept-Encoding", "gzip")
	}
	if method == http.MethodPost {
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
