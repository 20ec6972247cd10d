// Package listen sends deliveries to listeners: clients without a public URL that keep a
// connection to the service open.
//
// A listener is a subscription that the dispatcher skips. Its deliveries stay pending in
// the store until the client acknowledges them, so nothing is lost with a connection or a
// process: unacknowledged deliveries are sent again over the next connection. The [Hub] has
// the connections of this process, one for each listener; stream.go serves a connection. The
// store records the last connection of each listener, so that a newer one ends an older one
// of another replica.
package listen

import (
	"context"
	"crypto/rand"
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
	// ConnectListener records a connection in place of an earlier one, which may be another
	// replica's. ListenerConnection returns the last one, empty if there is none.
	ConnectListener(ctx context.Context, id feedmill.ID, connection string, until time.Time) error
	ListenerConnection(ctx context.Context, id feedmill.ID) (string, error)
	// ReleasePermit ends what ConnectListener has recorded.
	ReleasePermit(ctx context.Context, connection string) error
}

// Headers returns a function that builds the headers of a subscription's deliveries, signed
// at a given time. test marks an event that is not published.
type Headers func(context.Context, feedmill.Subscription) (func(due feedmill.DueDelivery, at time.Time, test bool) map[string]string, error)

// Options are the dependencies of a hub.
type Options struct {
	Store   Store
	Headers Headers
	// Sample returns a delivery of an event that is not published.
	Sample func(feedmill.Subscription, feedmill.NewEvent) (feedmill.DueDelivery, error)
	Log    *slog.Logger
}

// Hub has the connections of listeners. It is safe for concurrent use.
type Hub struct {
	Options
	// open counts the connections, so that accepting events takes no lock if there are
	// none.
	open atomic.Int64

	mu     sync.Mutex
	conns  map[feedmill.ID]*conn
	closed bool
}

// New returns a hub.
func New(o Options) *Hub { return &Hub{Options: o, conns: make(map[feedmill.ID]*conn)} }

// ended is the cause of a connection's canceled context.
type ended feedmill.ListenerEnded

func (e ended) Error() string { return "the connection has ended: " + string(e) }

// reason returns why the context of a connection ended.
func reason(ctx context.Context) feedmill.ListenerEnded {
	var e ended
	if errors.As(context.Cause(ctx), &e) {
		return feedmill.ListenerEnded(e)
	}
	return feedmill.ListenerBroken
}

// Stream sends a listener its due deliveries, and a heartbeat immediately and every
// [Heartbeat]. It returns when ctx ends, when send fails, or when the connection is ended,
// for example by a newer connection of the same listener.
func (h *Hub) Stream(ctx context.Context, sub feedmill.Subscription, send func(feedmill.ListenerMessage) error) feedmill.ListenerEnded {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := &conn{listener: sub.ID, id: rand.Text(), end: end, wake: make(chan struct{}, 1), waiting: make(map[feedmill.ID]bool), acknowledged: make(map[feedmill.ID]bool)}
	if !h.register(c) {
		return feedmill.ListenerShutdown
	}
	defer h.unregister(c)
	if err := h.Store.ConnectListener(ctx, sub.ID, c.id, sub.CreatedAt.Add(feedmill.ListenerLife)); err != nil {
		h.logFailure(ctx, sub.ID, err)
		return reason(ctx)
	}
	defer h.disconnect(ctx, c)
	return h.stream(ctx, c, sub, send)
}

// register makes c the connection of its listener. It returns false if the hub is closed.
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

// disconnect removes the record of a connection. What is left of it expires with the listener.
func (h *Hub) disconnect(ctx context.Context, c *conn) {
	const timeout = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if err := h.Store.ReleasePermit(ctx, c.id); err != nil {
		h.logFailure(ctx, c.listener, err)
	}
}

// connOf returns the connection of a listener, or nil if this process has none.
func (h *Hub) connOf(listener feedmill.ID) *conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conns[listener]
}

// Offer wakes the connections of listeners that have due deliveries.
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

// Answered records that a listener acknowledged deliveries.
func (h *Hub) Answered(listener feedmill.ID, deliveries []feedmill.ID) {
	if c := h.connOf(listener); c != nil {
		c.acknowledge(deliveries)
	}
}

// Test sends a listener an event that is not published and not stored. It reports false if
// this process has no connection of the listener, or if too many test events wait.
func (h *Hub) Test(listener feedmill.Subscription, e feedmill.NewEvent) (bool, error) {
	d, err := h.Sample(listener, e)
	if err != nil {
		return false, err
	}
	c := h.connOf(listener.ID)
	return c != nil && c.addTest(d), nil
}

// Removed ends the connection of a deleted listener.
func (h *Hub) Removed(listener feedmill.ID) {
	if c := h.connOf(listener); c != nil {
		c.end(ended(feedmill.ListenerRemoved))
	}
}

// Close ends all connections and accepts no more.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, c := range h.conns {
		c.end(ended(feedmill.ListenerShutdown))
	}
}
