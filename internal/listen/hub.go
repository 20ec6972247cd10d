// Package listen brings deliveries to listeners: to those who have no URL that
// could be called, and hold a connection to the service open instead.
//
// A listener is a subscription that the dispatcher leaves alone. Its deliveries
// are pending in the store until they are answered, so nothing is lost with a
// connection or a process: what was sent and not answered is sent again over
// the next connection. The [Hub] knows the connections of this process, of
// which a listener has one; stream.go is what happens on one of them.
package listen

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedmill/feedmill"
)

// Store is what listening needs of the store.
type Store interface {
	Due(context.Context, feedmill.DueQuery) ([]feedmill.DueDelivery, error)
	ExtendListener(ctx context.Context, id feedmill.ID, until time.Time) error
}

// Headers makes the headers of a subscription's deliveries, with signatures of
// the time given.
type Headers func(context.Context, feedmill.Subscription) (func(feedmill.DueDelivery, time.Time) map[string]string, error)

// Options are the parts that a hub is made of.
type Options struct {
	Store   Store
	Headers Headers
	Log     *slog.Logger
}

// Hub has the connections of listeners. It may be used from any goroutine.
type Hub struct {
	Options
	// open counts the connections, so that who accepts events need not lock
	// where there are none.
	open atomic.Int64

	mu     sync.Mutex
	conns  map[feedmill.ID]*conn
	closed bool
}

// New makes a hub.
func New(o Options) *Hub { return &Hub{Options: o, conns: make(map[feedmill.ID]*conn)} }

// ended is why a connection is ended from outside.
type ended feedmill.ListenerEnded

func (e ended) Error() string { return "the connection is ended: " + string(e) }

// reason is why the context of a connection is over.
func reason(ctx context.Context) feedmill.ListenerEnded {
	var e ended
	if errors.As(context.Cause(ctx), &e) {
		return feedmill.ListenerEnded(e)
	}
	return feedmill.ListenerBroken
}

// Stream sends a listener what is due, and a sign of life at once and every
// [Heartbeat], until the connection breaks, which is when ctx ends or send
// fails, or there is a reason to end it. A newer connection of the same
// listener is one.
func (h *Hub) Stream(ctx context.Context, sub feedmill.Subscription, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := &conn{listener: sub.ID, end: end, wake: make(chan struct{}, 1), waiting: make(map[feedmill.ID]bool), answered: make(map[feedmill.ID]bool)}
	if !h.register(c) {
		return feedmill.ListenerShutdown
	}
	defer h.unregister(c)
	return h.stream(ctx, c, sub, send)
}

// register makes c the connection of its listener. It reports false where the hub
// is closed.
func (h *Hub) register(c *conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	if older := h.conns[c.listener]; older != nil {
		older.end(ended(feedmill.ListenerReplaced))
	}
	h.conns[c.listener] = c
	h.open.Add(1)
	return true
}

func (h *Hub) unregister(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open.Add(-1)
	if h.conns[c.listener] == c {
		delete(h.conns, c.listener)
	}
}

// of is the connection of a listener, nil where there is none in this process.
func (h *Hub) of(listener feedmill.ID) *conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conns[listener]
}

// Offer says that deliveries are due; those of listeners are fetched at once.
func (h *Hub) Offer(due []feedmill.DueDelivery) {
	if h.open.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range due {
		if c := h.conns[due[i].Subscription]; c != nil {
			c.wakeUp()
		}
	}
}

// Answered says that deliveries of a listener were answered.
func (h *Hub) Answered(listener feedmill.ID, deliveries []feedmill.ID) {
	if c := h.of(listener); c != nil {
		c.settle(deliveries)
	}
}

// Removed ends the connection of a listener that is deleted.
func (h *Hub) Removed(listener feedmill.ID) {
	if c := h.of(listener); c != nil {
		c.end(ended(feedmill.ListenerRemoved))
	}
}

// Close ends all connections and takes no more.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, c := range h.conns {
		c.end(ended(feedmill.ListenerShutdown))
	}
}
