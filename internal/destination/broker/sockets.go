package broker

import (
	"context"
	"net"
	"sync"
)

// sockets are those that a connection has opened. Closing them ends whatever a client waits
// for.
type sockets struct {
	mu     sync.Mutex
	open   map[*socket]struct{}
	closed bool
	// err is the error of the last socket that could not be opened, nil after one that could.
	err error
}

// socket removes itself from the others when it is closed.
type socket struct {
	net.Conn
	of *sockets
}

func (s *socket) Close() error {
	s.of.mu.Lock()
	delete(s.of.open, s)
	s.of.mu.Unlock()
	return s.Conn.Close()
}

// dialer returns a dialer whose sockets are among these.
func (s *sockets) dialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.err = err; err != nil {
			return nil, err
		}
		if s.closed {
			conn.Close()
			return nil, net.ErrClosed
		}
		opened := &socket{conn, s}
		if s.open == nil {
			s.open = make(map[*socket]struct{})
		}
		s.open[opened] = struct{}{}
		return opened, nil
	}
}

func (s *sockets) dialError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// close closes all sockets. No other can be opened afterwards.
func (s *sockets) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for opened := range s.open {
		opened.Conn.Close()
	}
	s.open = nil
}
