package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

const (
	// connectTime bounds opening a connection, with everything that the protocol exchanges
	// before the first message.
	connectTime = 10 * time.Second
	// idleTime is how long a connection stays open that nobody uses.
	idleTime = time.Minute
	// maxConnections is the maximum number of connections to the brokers of a kind. Above
	// it, the one that has been idle longest is closed.
	maxConnections = 1000
	// hangTime is how long a client may take to return after the context of a call has ended.
	// Its sockets are closed then.
	hangTime = 5 * time.Second
)

// errConnecting reports that a connection was not complete in time.
var errConnecting = errors.New("the connection is not complete")

// pool has a connection for each destination in use. The attempts of a subscription share
// it, and those of another subscription have another: what one broker does costs nobody
// else.
type pool struct {
	idle time.Duration
	max  int

	mu     sync.Mutex
	open   map[string]*shared
	closed bool
	// work are the goroutines that connect, publish and close.
	work sync.WaitGroup
}

func newPool(idle time.Duration, most int) *pool {
	return &pool{idle: idle, max: most, open: make(map[string]*shared)}
}

// shared is a connection. The mutex of its pool protects its fields, except that conn and
// err are constant when ready is closed.
type shared struct {
	pool    *pool
	key     string
	sockets sockets
	ready   chan struct{}
	conn    Conn
	err     error
	// cancel ends the attempt to connect.
	cancel context.CancelFunc
	users  int
	// dropped reports that it is not in the pool any more. It is closed when the last user
	// leaves.
	dropped bool
	// unused is when the last user left, and expiry when it is closed.
	unused time.Time
	expiry *time.Timer
}

// get returns the connection with a key, and opens it if there is none. The caller publishes
// one message over it.
func (p *pool) get(ctx context.Context, key string, connect func(context.Context, *sockets) (Conn, error)) (*shared, error) {
	s, err := p.join(key, connect)
	if err != nil {
		return nil, err
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		s.leave()
		return nil, fmt.Errorf("%w: %w", errConnecting, ctx.Err())
	}
	if s.err != nil {
		s.leave()
		return nil, s.err
	}
	return s, nil
}

// join makes the caller a user of a connection, which may not be open yet.
func (p *pool) join(key string, connect func(context.Context, *sockets) (Conn, error)) (*shared, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.open[key]
	if s != nil && s.isLost() {
		s.drop()
		s = nil
	}
	if s == nil {
		if p.closed {
			return nil, context.Canceled
		}
		if len(p.open) >= p.max && !p.evict() {
			return nil, errBusy
		}
		s = &shared{pool: p, key: key, ready: make(chan struct{}), sockets: sockets{forbidden: make(chan struct{})}}
		p.open[key] = s
		// Others may wait for the connection when the context of this caller ends.
		ctx, cancel := context.WithTimeout(context.Background(), connectTime)
		s.cancel = cancel
		p.work.Go(func() { s.open(ctx, connect) })
	}
	if s.expiry != nil {
		s.expiry.Stop()
	}
	s.users++
	return s, nil
}

// evict drops the connection that has been idle longest. It reports false if all are used.
func (p *pool) evict() bool {
	var oldest *shared
	for _, s := range p.open {
		if s.users == 0 && (oldest == nil || s.unused.Before(oldest.unused)) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	oldest.drop()
	return true
}

// close closes all connections, and returns when they are closed.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for _, s := range p.open {
		s.drop()
	}
	p.mu.Unlock()
	p.work.Wait()
}

// open connects.
func (s *shared) open(ctx context.Context, connect func(context.Context, *sockets) (Conn, error)) {
	defer s.cancel()
	stop := context.AfterFunc(ctx, s.sockets.close)
	conn, err := connect(ctx, &s.sockets)
	if !stop() && err == nil { // the sockets are closed
		conn.Close()
		conn, err = nil, errConnecting
	}
	if err != nil {
		s.sockets.close()
		if ctx.Err() != nil {
			err = errConnecting
		}
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.conn, s.err = conn, err
	close(s.ready)
	if err != nil {
		s.drop()
	} else if s.dropped && s.users == 0 {
		s.shut()
	}
}

// isLost reports whether the connection cannot be used any more. The mutex is held, as in
// the following methods.
func (s *shared) isLost() bool {
	select {
	case <-s.ready:
	default:
		return false
	}
	if s.err != nil {
		return true
	}
	select {
	case <-s.conn.Done():
		return true
	default:
		return false
	}
}

// drop removes the connection from the pool.
func (s *shared) drop() {
	if s.dropped {
		return
	}
	s.dropped = true
	if s.pool.open[s.key] == s {
		delete(s.pool.open, s.key)
	}
	if s.users == 0 {
		s.shut()
	}
}

// shut closes a connection that was dropped and has no users, or ends connecting.
func (s *shared) shut() {
	if s.expiry != nil {
		s.expiry.Stop()
	}
	select {
	case <-s.ready:
	default:
		s.cancel()
		return
	}
	if s.conn == nil {
		return
	}
	s.pool.work.Go(func() {
		hangs := time.AfterFunc(hangTime, s.sockets.close)
		defer hangs.Stop()
		s.conn.Close()
		s.sockets.close()
	})
}

// leave ends the use of a connection. It takes the mutex.
func (s *shared) leave() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	select {
	case <-s.ready:
	default:
		s.drop() // nobody waits for it
	}
	if s.dropped {
		s.shut()
		return
	}
	s.unused = time.Now()
	if s.expiry == nil {
		s.expiry = time.AfterFunc(s.pool.idle, s.expire)
	} else {
		s.expiry.Reset(s.pool.idle)
	}
}

// expire drops the connection if it is idle.
func (s *shared) expire() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.users == 0 && time.Since(s.unused) >= s.pool.idle {
		s.drop()
	}
}

// abandon drops the connection after a failure. It takes the mutex.
func (s *shared) abandon() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.drop()
}

// publish sends a message and leaves the connection. It returns when ctx ends, even if the
// client does not: a client that takes hangTime longer loses its sockets. After a message
// that the broker did not respond to, the next one goes over a new connection. The error is
// that of a socket that the client could not open, if there is one.
func (s *shared) publish(ctx context.Context, m feedmill.Message) error {
	done := make(chan error, 1)
	s.pool.work.Go(func() {
		defer s.leave()
		done <- s.conn.Publish(ctx, m)
	})
	select {
	case err := <-done:
		if _, responded := errors.AsType[*Failure](err); err != nil && !responded {
			s.abandon()
		}
		return err
	case <-s.sockets.forbidden:
	case <-ctx.Done():
	}
	s.abandon()
	s.pool.work.Go(func() {
		hangs := time.AfterFunc(hangTime, s.sockets.close)
		defer hangs.Stop()
		<-done
	})
	if err := s.sockets.dialError(); err != nil {
		return err
	}
	return ctx.Err()
}
