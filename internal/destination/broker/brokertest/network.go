package brokertest

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// listen is a server that accepts connections and says nothing.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// CheckSilence checks that an attempt to a server that accepts connections and says nothing
// ends with its timeout, and leaves no connection behind. The kind may dial loopback
// addresses; format is a URL with %s for host and port.
func CheckSilence(t *testing.T, kind opener, format string) {
	t.Helper()
	l := listen(t)
	m := Message("r", nil)
	m.Timeout = 100 * time.Millisecond
	r := Open(t, kind, fmt.Sprintf(format, l.Addr()), "").Send(t.Context(), m)
	if r.Verdict != feedmill.VerdictRetry || r.Responded || !strings.HasPrefix(r.Error, "timeout: ") {
		t.Errorf("%+v", r)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection is open: %v", err)
	}
}

// CheckForbidden checks that a server at an address that the policy forbids is not dialed.
// The kind may not dial loopback addresses; format is a URL with %s for host and port.
func CheckForbidden(t *testing.T, kind opener, format string) {
	t.Helper()
	l := listen(t)
	for _, host := range []string{l.Addr().String(), strings.Replace(l.Addr().String(), "127.0.0.1", "localhost", 1)} {
		r := Open(t, kind, fmt.Sprintf(format, host), "").Send(t.Context(), Message("r", nil))
		if r.Verdict != feedmill.VerdictRejected || !strings.HasPrefix(r.Error, "forbidden: ") {
			t.Errorf("%s: %+v", host, r)
		}
	}
	l.(*net.TCPListener).SetDeadline(time.Now())
	if c, err := l.Accept(); err == nil {
		c.Close()
		t.Error("it was dialed")
	}
}

// Dial opens a socket.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Cable is a proxy in front of every server that a kind dials, which can be cut.
type Cable struct {
	dial Dial

	mu      sync.Mutex
	ends    map[net.Conn]struct{}
	proxies map[string]net.Listener
	isCut   bool
	work    sync.WaitGroup
}

// NewCable makes a cable for what a dialer dials.
func NewCable(t *testing.T, dial Dial) *Cable {
	c := &Cable{dial: dial, ends: make(map[net.Conn]struct{}), proxies: make(map[string]net.Listener)}
	t.Cleanup(func() {
		c.mu.Lock()
		for _, proxy := range c.proxies {
			proxy.Close()
		}
		c.mu.Unlock()
		c.sever(true)
		c.work.Wait()
	})
	return c
}

// Dial opens a socket that leads through the cable.
func (c *Cable) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	proxy := c.proxies[address]
	if proxy == nil {
		var err error
		if proxy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			c.mu.Unlock()
			return nil, err
		}
		c.proxies[address] = proxy
		c.work.Go(func() { c.accept(proxy, address) })
	}
	c.mu.Unlock()
	return c.dial(ctx, network, proxy.Addr().String())
}

func (c *Cable) accept(proxy net.Listener, address string) {
	for {
		near, err := proxy.Accept()
		if err != nil {
			return
		}
		c.work.Go(func() { c.carry(near, address) })
	}
}

// carry copies in both directions until one end is closed.
func (c *Cable) carry(near net.Conn, address string) {
	defer near.Close()
	far, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer far.Close()
	c.mu.Lock()
	cut := c.isCut
	c.ends[near], c.ends[far] = struct{}{}, struct{}{}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.ends, near)
		delete(c.ends, far)
	}()
	if cut {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		io.Copy(near, far)
		near.Close()
	})
	io.Copy(far, near)
	far.Close()
	back.Wait()
}

// Cut breaks all connections, and new ones for a moment.
func (c *Cable) Cut(*testing.T) {
	c.sever(true)
	time.Sleep(50 * time.Millisecond)
	c.sever(false)
}

func (c *Cable) sever(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = cut
	for end := range c.ends {
		end.Close()
	}
}
