package main

import (
	"io"
	"net"
	"sync"
	"testing"
)

// cable is a connection between two programs that a test can plug in elsewhere,
// pull, cut, and silence.
type cable struct {
	listener net.Listener
	wg       sync.WaitGroup
	silence  sync.RWMutex // held by a test, bytes stay where they are, and nobody is told

	mu    sync.Mutex
	to    string // empty where it is pulled
	conns map[net.Conn]bool
	dead  chan struct{} // what is carried ends here when it is closed, and nobody is told
}

// newCable makes a cable that leads to an address.
func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{listener: l, to: to, conns: make(map[net.Conn]bool), dead: make(chan struct{})}
	c.wg.Go(c.accept)
	t.Cleanup(func() {
		l.Close()
		c.cut()
		c.wg.Wait()
	})
	return c
}

func (c *cable) url() string { return "http://" + c.listener.Addr().String() }

// plug makes new connections lead to an address, or to nothing.
func (c *cable) plug(to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
}

// cut breaks the connections that there are.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		conn.Close()
	}
}

// hold keeps every byte where it is until the cable is released: connections
// stay open, and new ones are made, as through a firewall that drops packets.
func (c *cable) hold() { c.silence.Lock() }

func (c *cable) release() { c.silence.Unlock() }

// forget leaves the connections that there are open and never carries a byte of them
// again, as a proxy does that has lost its memory of them. New ones are carried.
func (c *cable) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.dead)
	c.dead = make(chan struct{})
}

func (c *cable) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.wg.Go(func() { c.carry(near) })
	}
}

// carry copies in both directions until one side is closed.
func (c *cable) carry(near net.Conn) {
	defer near.Close()
	c.mu.Lock()
	to, dead := c.to, c.dead
	c.mu.Unlock()
	if to == "" {
		return
	}
	far, err := net.Dial("tcp", to)
	if err != nil {
		return // the server is down
	}
	defer far.Close()
	c.mu.Lock()
	c.conns[near], c.conns[far] = true, true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.conns, near)
		delete(c.conns, far)
	}()
	var back sync.WaitGroup
	back.Go(func() {
		io.Copy(audible{near, c, dead}, far)
		near.Close()
	})
	io.Copy(audible{far, c, dead}, near)
	far.Close()
	back.Wait()
}

// audible is the end of a cable that is written to while the cable is not silent.
type audible struct {
	io.Writer
	cable *cable
	dead  <-chan struct{}
}

func (a audible) Write(p []byte) (int, error) {
	a.cable.silence.RLock()
	defer a.cable.silence.RUnlock()
	select {
	case <-a.dead:
		return len(p), nil
	default:
	}
	return a.Writer.Write(p)
}
