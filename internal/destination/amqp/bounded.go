package amqp

import (
	"errors"
	"net"
	"sync/atomic"
)

const (
	// firstCredit is what a broker may send before the first message.
	firstCredit = 1 << 20
	// maxCredit is the maximum that it may send without receiving anything. It can return
	// every message that is in flight.
	maxCredit = 128 << 20
)

var errTooMuch = errors.New("the broker sent too much")

// bounded is a socket on which a broker cannot send much more than it receives. The client
// would keep all of a message that the broker claims to return.
type bounded struct {
	net.Conn
	credit atomic.Int64
}

func newBounded(c net.Conn) *bounded {
	b := &bounded{Conn: c}
	b.credit.Store(firstCredit)
	return b
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.credit.Add(-int64(n)) < 0 {
		return 0, errTooMuch
	}
	return n, err
}

func (b *bounded) Write(p []byte) (int, error) {
	n, err := b.Conn.Write(p)
	if credit := b.credit.Add(2 * int64(n)); credit > maxCredit {
		b.credit.CompareAndSwap(credit, maxCredit)
	}
	return n, err
}
