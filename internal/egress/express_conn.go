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
	maxBodyBytes = math.MaxInt64 // the caller bounds it
	// oneWrite is how large a body may be to be sent in one piece with its header.
	oneWrite       = 32 << 10
	keptSendBuffer = 2 * oneWrite
	// maxInformational is how many 1xx answers may come before the real one.
	maxInformational = 5
)

// conn is a connection that speaks HTTP/1.1. One exchange uses it at a time.
type conn struct {
	net.Conn
	pool   *connPool
	key    connKey
	secure *tlsConn // nil without TLS
	// buffer has the piece of an answer that has come, where there is one. take reads
	// it, and takeErr is what came of that.
	buffer  *[answerBuffer]byte
	piece   []byte
	take    func(fd uintptr) bool
	takeErr error
	one     [1]byte
	// answer is for what is left to net/http, nil where nothing was yet. unread comes
	// before what is still to be read.
	answer *bufio.Reader
	unread []byte
	left   int64 // how much may be read
	reused bool
	idleAt time.Time
	// untouched says that the exchange under way may be repeated elsewhere:
	// nothing of an answer has come.
	untouched bool
	// cut says that the endpoint took no more than a part of a request, and
	// foreign that what it said, or that it said nothing, is no HTTP/1.1.
	cut, foreign bool
	// last is what tells of the end of the last exchange's context. watched is the
	// same while there is a watch over it, which stop ends.
	last, watched <-chan struct{}
	stop          func() bool
	// lasting says that the watch outlives the exchange.
	lasting bool
	// socket and look find out whether something has come that nobody reads.
	socket syscall.RawConn
	look   func(fd uintptr)
	silent bool
	first  byte // of what has come
}

func newConn(pool *connPool, key connKey, c, socket net.Conn) *conn {
	opened := &conn{Conn: c, pool: pool, key: key}
	opened.take = opened.takePiece
	if s, ok := socket.(syscall.Conn); ok {
		opened.socket, _ = s.SyscallConn() // of an open connection it cannot fail
	}
	opened.look = func(fd uintptr) {
		// It never waits, and is done before every exchange: so without the memory
		// for an address, and without telling the scheduler.
		_, _, err := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&opened.first)), 1, unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
		opened.silent = err == unix.EAGAIN
	}
	return opened
}

// isSilent reports whether nothing has come from the endpoint since the last
// answer: no byte, and no end. What comes while nobody has asked, such as a late
// answer to a request that was given up, or a 408 to a connection that was idle
// for long, would pass for the answer to the next request.
func (c *conn) isSilent() bool {
	return c.socket == nil || c.socket.Control(c.look) == nil && c.silent
}

// Read reads what the answer may still have.
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
	notSent := c.send(r)
	if notSent != nil && (c.reused || isTimeout(notSent)) {
		return a, notSent
	}
	// An endpoint may answer and close before it has read all of a request.
	c.cut, c.left = notSent != nil, maxHeaderBytes
	if err := c.await(); err != nil {
		c.foreign = !isTimeout(err)
		c.untouched = c.reused && c.foreign
		return a, err
	}
	c.untouched = false
	if c.piece[0] != 'H' { // a line of it may never end
		c.foreign = true
		return a, errNoHTTP
	}
	if a, size := parseAnswer(c.piece); size > 0 {
		c.piece = c.piece[size:]
		c.done(true)
		return a, nil
	}
	return c.readAnswer()
}

// readAnswer leaves an answer to net/http, of which the first piece has come.
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
	return a, errTooPatient
}

// What may be wrong with an answer, in words for the subscriber.
var (
	errNoHTTP         = feedmill.UnreadableAnswer("it is no HTTP")
	errHeaderTooLarge = feedmill.UnreadableAnswer("its header is too large")
	errTooPatient     = feedmill.UnreadableAnswer("it says to wait more than five times")
)

// unreadable is the error of an answer that net/http cannot read: that of the
// connection, or else that it is no HTTP.
func unreadable(err error) error {
	var broken net.Error
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errHeaderTooLarge) || errors.As(err, &broken) {
		return err
	}
	return errNoHTTP
}

// longAgo as a deadline breaks off what is under way.
var longAgo = time.Unix(1, 0)

// begin gives an exchange its time. The watch over a context that comes a second
// time stays for further exchanges with the same, since to set it up costs as much
// as to send.
func (c *conn) begin(ctx context.Context, deadline time.Time) error {
	if over := ctx.Done(); c.watched != over {
		if !c.unwatch() {
			return net.ErrClosed // the deadline may be spoilt at any moment
		}
		c.watched, c.stop = over, context.AfterFunc(ctx, func() { c.SetDeadline(longAgo) })
		c.last, c.lasting = over, c.last == over
	}
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	return ctx.Err() // if it ends from now on, that undoes the deadline
}

// unwatch ends the watch over a context. It reports false where that has ended:
// then it may still be about to change the connection's deadline.
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

// requests are buffers for requests. A connection has none while it waits for the
// answer.
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

// giveUp ends the connection, and with it an exchange. Of TLS no farewell is
// said, for which the endpoint might not be listening.
func (c *conn) giveUp() {
	c.dropPiece()
	c.pool.ended(c)
	c.unwatch()
	if c.secure != nil {
		c.secure.records.Close()
		return
	}
	c.Conn.Close()
}

// retire ends a connection that no exchange uses.
func (c *conn) retire() {
	c.pool.ended(c)
	c.unwatch()
	c.Conn.Close()
}

// done ends the exchange and keeps the connection, where it can take another:
// the endpoint must agree, and all that it has sent must be read.
func (c *conn) done(agreed bool) {
	more := len(c.piece) > 0 || len(c.unread) > 0 || c.answer != nil && c.answer.Buffered() > 0
	c.dropPiece()
	if !agreed || c.cut || more || c.secure != nil && !c.secure.isDrained() || !c.lasting && !c.unwatch() {
		c.giveUp()
		return
	}
	c.pool.keep(c)
}

// body is the body of an answer, with the end of which the exchange ends.
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
	again bool // the connection may be kept
	ended error
}

var errBodyClosed = errors.New("the body of the answer is closed")

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
		b.conn.giveUp()
	}
	return n, err
}

// Close ends the exchange. What was not read of the body ends the connection too.
func (b *answerBody) Close() error {
	if b.ended == nil {
		b.ended = errBodyClosed
		b.conn.giveUp()
	}
	return nil
}
