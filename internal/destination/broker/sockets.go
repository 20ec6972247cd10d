package broker

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// maxSockets is the maximum number of sockets of a connection. A cluster announces the
// addresses of its brokers, and any server can claim to be a cluster.
const maxSockets = 256

// sockets are those that a connection has opened. Closing them ends whatever a client waits
// for.
type sockets struct {
	mu     sync.Mutex
	open   map[*socket]struct{}
	closed bool
	// err is the error of the last socket that could not be opened, and address where it
	// leads. It is nil after one to the same address that could.
	err     error
	address string
	// forbidden is closed when the egress policy forbids an address that the client dials.
	forbidden chan struct{}
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
func (s *sockets) dialer(dial func(ctx context.Context, network, address string) (net.Conn, error), forbids func(error) bool) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			s.note(address, err)
			if forbids(err) {
				s.forbid()
			}
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			conn.Close()
			return nil, net.ErrClosed
		}
		if len(s.open) >= maxSockets {
			conn.Close()
			s.err, s.address = &Failure{Class: ClassRefused, Detail: fmt.Sprintf("the cluster needs more than %d connections", maxSockets)}, address
			return nil, s.err
		}
		opened := &socket{conn, s}
		if s.open == nil {
			s.open = make(map[*socket]struct{})
		}
		s.open[opened] = struct{}{}
		return opened, nil
	}
}

// note records whether a socket could be opened.
func (s *sockets) note(address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.address == address {
		s.err, s.address = err, address
	}
}

// forbid ends the use of the connection: the client would dial the address again and again.
func (s *sockets) forbid() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.forbidden:
	default:
		close(s.forbidden)
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
