package egress

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/feedmill/feedmill"
)

const (
	answerBuffer = 4 << 10
	maxBodyBytes = math.MaxInt64 // the caller limits it
	// oneWrite is the maximum size of a body that is sent in one write with its header.
	oneWrite       = 32 << 10
	keptSendBuffer = 2 * oneWrite
	// maxInformational is the maximum number of 1xx responses before the final one.
	maxInformational = 5
)

// conn is an HTTP/1.1 connection. One exchange uses it at a time.
type conn struct {
	net.Conn
	pool   *connPool
	key    connKey
	secure *tlsConn // nil without TLS
	// buffer and piece have the part of a response that was read last, if any. take reads
	// it from the socket and sets takeErr.
	buffer  *[answerBuffer]byte
	piece   []byte
	take    func(fd uintptr) bool
	takeErr error
	one     [1]byte
	// answer reads responses that net/http parses; nil until the first one. unread is
	// returned by Read before further bytes of the connection.
	answer *bufio.Reader
	unread []byte
	left   int64 // the number of bytes that can still be read
	reused bool
	idleAt time.Time
	// repeatable reports that the current exchange can be repeated on another connection:
	// no byte of a response has arrived.
	repeatable bool
	// cut reports that only a part of the request was sent. notHTTP1 reports that the
	// endpoint closed the connection or sent something other than HTTP/1.1.
	cut, notHTTP1 bool
	// last is the Done channel of the last exchange's context. watched is the same while
	// the context is watched; stop ends the watch.
	last, watched <-chan struct{}
	stop          func() bool
	// lasting reports that the watch continues after the exchange.
	lasting bool
	// socket and peek check for unread input.
	socket  syscall.RawConn
	peek    func(fd uintptr)
	noInput bool
	first   byte // of the input
}

func newConn(pool *connPool, key connKey, c, socket net.Conn) *conn {
	opened := &conn{Conn: c, pool: pool, key: key}
	opened.take = opened.takePiece
	if s, ok := socket.(syscall.Conn); ok {
		opened.socket, _ = s.SyscallConn() // it cannot fail for an open connection
	}
	opened.peek = func(fd uintptr) {
		// This runs before every exchange and never blocks, so it uses a raw system call
		// without memory for an address.
		_, _, err := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&opened.first)), 1, unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
		opened.noInput = err == unix.EAGAIN
	}
	return opened
}

// hasNoInput reports whether the endpoint has sent nothing since the last response: no byte
// and no end. Unexpected input, such as a late response to an aborted request or a 408 for
// an idle connection, would be taken for the response to the next request.
func (c *conn) hasNoInput() bool {
	return c.socket == nil || c.socket.Control(c.peek) == nil && c.noInput
}

// Read reads the response, up to c.left bytes.
func (c *conn) Read(p []byte) (int, error) {
	if len(c.unread) > 0 {
		n := copy(p, c.unread)
		if c.unread = c.unread[n:]; len(c.unread) == 0 {
			c.unread = nil
		}
		return n, nil
	}
	if c.left <= 0 {
		return 0, errHeaderTooLarge
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// exchange sends a request and reads the response, or its header. The connection returns to
// the pool when the body has been read.
func (c *conn) exchange(ctx context.Context, deadline time.Time, r *feedmill.HTTPRequest) (a feedmill.HTTPAnswer, err error) {
	c.repeatable = true
	defer func() {
		if err != nil {
			c.abort()
			if ctx.Err() != nil {
				err = ctx.Err()
			}
		}
	}()
	if err := c.begin(ctx, deadline); err != nil {
		return a, err
	}
	notSent := c.send(r)
	if notSent != nil && (c.reused || isTimeout(notSent)) {
		return a, notSent
	}
	// An endpoint can respond and close before it has read the whole request.
	c.cut, c.left = notSent != nil, maxHeaderBytes
	if err := c.await(); err != nil {
		c.notHTTP1 = !isTimeout(err)
		c.repeatable = c.reused && c.notHTTP1
		return a, err
	}
	c.repeatable = false
	if c.piece[0] != 'H' { // its first line may never end
		c.notHTTP1 = true
		return a, errNotHTTP
	}
	if a, size := parseAnswer(c.piece); size > 0 {
		c.piece = c.piece[size:]
		c.done(true)
		return a, nil
	}
	return c.readAnswer()
}

// readAnswer has net/http parse a response whose first piece has been read.
func (c *conn) readAnswer() (a feedmill.HTTPAnswer, err error) {
	first := c.piece
	for range maxInformational + 1 {
		cut, err := c.readHead(first)
		if err != nil {
			return a, err
		}
		if c.answer == nil {
			c.answer = bufio.NewReaderSize(c, answerBuffer)
		}
		c.answer.Reset(c)
		resp, err := http.ReadResponse(c.answer, nil)
		if err != nil {
			return a, unreadable(err)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.left = maxBodyBytes
			resp.Body = c.body(resp)
			a = answerOf(resp)
			a.HeaderCut = cut
			return a, nil
		}
		ahead, _ := c.answer.Peek(c.answer.Buffered())
		first, c.unread = slices.Concat(ahead, c.unread), nil
	}
	return a, errTooManyInformational
}

// These errors describe invalid responses to subscribers.
var (
	errNotHTTP              = feedmill.UnreadableAnswer("it is not a valid HTTP response")
	errHeaderTooLarge       = feedmill.UnreadableAnswer("its header is too large")
	errTooManyInformational = feedmill.UnreadableAnswer("it has more than five informational (1xx) responses")
)

// unreadable returns the error for a response that net/http cannot parse: the connection's
// error, or errNotHTTP.
func unreadable(err error) error {
	var broken net.Error
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errHeaderTooLarge) || errors.As(err, &broken) {
		return err
	}
	return errNotHTTP
}

// longAgo is a deadline that cancels all pending I/O.
var longAgo = time.Unix(1, 0)

// begin sets the deadline of an exchange and watches its context. If two exchanges in a row
// have the same context, the watch is kept for further ones, because setting it up costs as
// much as sending a request.
func (c *conn) begin(ctx context.Context, deadline time.Time) error {
	if over := ctx.Done(); c.watched != over {
		if !c.unwatch() {
			return net.ErrClosed // the old watch may still change the deadline
		}
		c.watched, c.stop = over, context.AfterFunc(ctx, func() { c.SetDeadline(longAgo) })
		c.last, c.lasting = over, c.last == over
	}
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	return ctx.Err() // if it ends later, the watch sets the deadline to longAgo
}

// unwatch stops watching a context. It returns false if the context has ended: then the
// watch may still be about to change the connection's deadline.
func (c *conn) unwatch() bool {
	if c.watched == nil {
		return true
	}
	c.watched = nil
	return c.stop()
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// requests is a pool of buffers for requests. A connection has none while it waits for the
// response.
var requests = sync.Pool{New: func() any { return new([]byte) }}

// send writes the request.
func (c *conn) send(r *feedmill.HTTPRequest) error {
	out := requests.Get().(*[]byte)
	defer requests.Put(out)
	b, body := append((*out)[:0], r.Method...), r.Body
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
	if cap(b) <= keptSendBuffer {
		*out = b
	}
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

// abort closes the connection and ends its exchange. It sends no TLS close notification,
// because the endpoint may not be reading.
func (c *conn) abort() {
	c.dropPiece()
	c.pool.ended(c)
	c.unwatch()
	if c.secure != nil {
		c.secure.records.Close()
		return
	}
	c.Conn.Close()
}

// retire closes an idle connection.
func (c *conn) retire() {
	c.pool.ended(c)
	c.unwatch()
	c.Conn.Close()
}

// done ends the exchange. It keeps the connection if the endpoint agrees and everything it
// has sent was read.
func (c *conn) done(agreed bool) {
	more := len(c.piece) > 0 || len(c.unread) > 0 || c.answer != nil && c.answer.Buffered() > 0
	c.dropPiece()
	if !agreed || c.cut || more || c.secure != nil && !c.secure.isDrained() || !c.lasting && !c.unwatch() {
		c.abort()
		return
	}
	c.pool.keep(c)
}

// body returns the body of a response. The exchange ends with the body.
func (c *conn) body(resp *http.Response) io.ReadCloser {
	again := !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols
	if resp.Body == http.NoBody {
		c.done(again)
		return resp.Body
	}
	return &answerBody{src: resp.Body, conn: c, again: again}
}

type answerBody struct {
	src   io.ReadCloser
	conn  *conn
	again bool // the connection can be kept
	ended error
}

var errBodyClosed = errors.New("the response body is closed")

func (b *answerBody) Read(p []byte) (int, error) {
	if b.ended != nil {
		return 0, b.ended
	}
	n, err := b.src.Read(p)
	if err == nil {
		return n, nil
	}
	b.ended = err
	if errors.Is(err, io.EOF) {
		b.conn.done(b.again)
	} else {
		b.conn.abort()
	}
	return n, err
}

// Close ends the exchange. If the body was not read to its end, it closes the connection.
func (b *answerBody) Close() error {
	if b.ended == nil {
		b.ended = errBodyClosed
		b.conn.abort()
	}
	return nil
}
