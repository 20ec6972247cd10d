package blob

import (
	"context"
	"net"
	"time"
)

// dialer returns a function that opens connections that fail if nothing is sent or received for
// a time. Without that, a request to a server that has frozen would never end, and neither would
// the readers that wait for its download.
func dialer(stall time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &stallingConn{conn, stall}, nil
	}
}

// stallingConn is a connection whose deadline moves with its bytes. A write also moves the
// deadline of the read that waits for the response meanwhile.
type stallingConn struct {
	net.Conn
	stall time.Duration
}

func (c *stallingConn) Read(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *stallingConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
