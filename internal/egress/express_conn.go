package egress

import (
	"bufio"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The limits of idle connections are those of [Client.Transport].
const (
	maxIdleOfHost  = 256
	idleTime       = 90 * time.Second
	answerBuffer   = 4 << 10
	maxBodyBytes   = math.MaxInt64 // the caller bounds it
	sweepEvery     = idleTime / 3
	keptSendBuffer = 2 * oneWrite
)

// conn is a connection that speaks HTTP/1.1. One exchange uses it at a time.
type conn struct {
	net.Conn
	pool   *connPool
	host   string // as URLs have it
	answer *bufio.Reader
	out    []byte
	left   int64 // how much may be read
	reused bool
	idleAt time.Time
	// untouched says that the exchange under way may be repeated elsewhere:
	// nothing of an answer has come.
	untouched bool
	// watched is what tells of the end of the last exchange's context, and
	// stop ends the watch over that.
	watched <-chan struct{}
	stop    func() bool
}

// Read reads what the answer may still have.
func (c *conn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("the header of the answer is too large")
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
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

// giveUp ends the connection, and with it an exchange.
func (c *conn) giveUp() {
	c.unwatch()
	c.Conn.Close()
}

// done ends the exchange and keeps the connection, where it can take another:
// the endpoint must agree.
func (c *conn) done(agreed bool) {
	if !agreed || c.answer.Buffered() > 0 {
		c.giveUp()
		return
	}
	if cap(c.out) > keptSendBuffer {
		c.out = nil
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

// connPool keeps connections that no exchange uses.
type connPool struct {
	mu    sync.Mutex
	idle  map[string][]*conn // by host; the last was used last
	count int
	max   int
	sweep *time.Timer // runs while there are any
}

func (p *connPool) open(host string, c net.Conn) *conn {
	opened := &conn{Conn: c, pool: p, host: host}
	opened.answer = bufio.NewReaderSize(opened, answerBuffer)
	return opened
}

// takeIdle returns an idle connection, nil where there is none.
func (p *connPool) takeIdle(host string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		idle := p.idle[host]
		if len(idle) == 0 {
			return nil
		}
		c := idle[len(idle)-1]
		idle[len(idle)-1] = nil
		p.set(host, idle[:len(idle)-1])
		p.count--
		select {
		case <-c.watched: // its last exchange had a context that has ended
			c.giveUp()
		default:
			return c
		}
	}
}

func (p *connPool) keep(c *conn) {
	c.reused, c.idleAt = true, time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := p.idle[c.host]
	if len(idle) >= maxIdleOfHost || p.count >= p.max {
		c.giveUp()
		return
	}
	p.idle[c.host] = append(idle, c)
	p.count++
	if p.sweep == nil {
		p.sweep = time.AfterFunc(sweepEvery, p.closeOld)
	}
}

func (p *connPool) set(host string, idle []*conn) {
	if len(idle) == 0 {
		delete(p.idle, host)
	} else {
		p.idle[host] = idle
	}
}

// closeOld closes the connections that have been idle for too long.
func (p *connPool) closeOld() {
	p.closeBefore(time.Now().Add(-idleTime))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sweep = nil; p.count > 0 {
		p.sweep = time.AfterFunc(sweepEvery, p.closeOld)
	}
}

func (p *connPool) closeIdle() { p.closeBefore(time.Now().Add(time.Hour)) }

func (p *connPool) closeBefore(t time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for host, idle := range p.idle {
		rest := slices.DeleteFunc(idle, func(c *conn) bool {
			old := c.idleAt.Before(t)
			if old {
				c.giveUp()
				p.count--
			}
			return old
		})
		p.set(host, rest)
	}
	if p.count == 0 && p.sweep != nil {
		p.sweep.Stop()
		p.sweep = nil
	}
}
