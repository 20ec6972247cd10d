package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// fake is a broker whose connections do what its functions do.
type fake struct {
	connect func(context.Context, Settings) error
	publish func(context.Context, *fakeConn) error

	mu             sync.Mutex
	opened, closed int
	last           *fakeConn
}

type fakeConn struct {
	*fake
	socket net.Conn
	done   chan struct{}
}

func (*fake) Name() feedmill.DestinationKind { return "fake" }

func (*fake) Form() Form {
	return Form{Plain: "fake", Secure: "fake+tls", PlainPort: "1", SecurePort: "2", Example: "fake://host/x", MaxHosts: 3, Credentials: []string{"key", "other"}}
}

func (*fake) CheckAddress(Address) string { return "" }

func (*fake) CheckCredentials(map[string]string) string { return "" }

func (f *fake) Connect(ctx context.Context, s Settings) (Conn, error) {
	socket, err := s.Dial(ctx, "tcp", s.Address.Hosts[0])
	if err != nil {
		return nil, errors.New("no server") // as clients do
	}
	f.mu.Lock()
	f.opened++
	f.last = &fakeConn{f, socket, make(chan struct{})}
	c := f.last
	f.mu.Unlock()
	if f.connect != nil {
		if err := f.connect(ctx, s); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *fakeConn) Publish(ctx context.Context, _ feedmill.Message) error {
	if c.publish == nil {
		return nil
	}
	return c.publish(ctx, c)
}

func (c *fakeConn) Done() <-chan struct{} { return c.done }

func (c *fakeConn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
}

var errForbidden = errors.New("forbidden")

// open opens the endpoint of a URL on sockets whose other end says nothing.
func (f *fake) open(t *testing.T, k *Kind, url, config string) feedmill.Endpoint {
	t.Helper()
	e, err := k.Open(feedmill.Subscription{ID: "sub_1", Destination: feedmill.Destination{URL: url}}, []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newFakeKind(f *fake) *Kind {
	return New(f, Options{Forbidden: errForbidden, Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		switch {
		case strings.HasPrefix(address, "private"):
			return nil, fmt.Errorf("dial %s: %w", address, errForbidden)
		case strings.HasPrefix(address, "down"):
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		}
		here, _ := net.Pipe()
		return here, nil
	}})
}

var message = feedmill.Message{Timeout: 15 * time.Second}

// Attempts share a connection, which is closed when it is idle. Other credentials have
// another one.
func TestConnectionIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{publish: func(context.Context, *fakeConn) error { time.Sleep(time.Second); return nil }}
		k := newFakeKind(f)
		defer k.Close()
		e := f.open(t, k, "fake://host/x", "")
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if r := e.Send(t.Context(), message); !r.Delivered() {
					t.Errorf("%+v", r)
				}
			})
		}
		all.Wait()
		time.Sleep(idleTime - time.Second)
		f.open(t, k, "fake://host/x", "").Send(t.Context(), message) // opened anew, as at every read of the subscription
		if f.opened != 1 || f.closed != 0 {
			t.Errorf("%d connections were opened and %d closed, want 1 and 0", f.opened, f.closed)
		}
		f.open(t, k, "fake://host/x", `{"key":"k"}`).Send(t.Context(), message)
		if f.opened != 2 {
			t.Errorf("%d connections were opened, want 2", f.opened)
		}
		time.Sleep(idleTime + time.Second)
		synctest.Wait()
		if f.closed != 2 {
			t.Errorf("%d connections were closed, want 2", f.closed)
		}
		e.Send(t.Context(), message)
		if f.opened != 3 {
			t.Errorf("%d connections were opened, want 3", f.opened)
		}
	})
}

// An attempt returns when its context ends, even if the client does not, and the client is
// ended by closing its sockets. All goroutines end: the bubble would report others.
func TestClientHangs(t *testing.T) {
	read := func(_ context.Context, c *fakeConn) error {
		_, err := c.socket.Read(make([]byte, 1))
		return err
	}
	for name, f := range map[string]*fake{
		"connecting": {connect: func(context.Context, Settings) error { return nil }},
		"publishing": {publish: read},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if f.connect != nil {
					f.connect = func(ctx context.Context, _ Settings) error { return read(ctx, f.last) }
				}
				k := newFakeKind(f)
				e := f.open(t, k, "fake://host/x", "")
				start := time.Now()
				m := message
				m.Timeout = 3 * time.Second
				r := e.Send(t.Context(), m)
				if took := time.Since(start); r.Verdict != feedmill.VerdictRetry || r.Responded || !strings.HasPrefix(r.Error, "timeout: ") || took != m.Timeout {
					t.Errorf("%s: %+v", took, r)
				}
				k.Close()
				if took := time.Since(start); took > m.Timeout+hangTime {
					t.Errorf("the client hung for %s", took)
				}
			})
		})
	}
}

// A connection is replaced when it is lost, and when a message got no response.
func TestConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		k := newFakeKind(f)
		defer k.Close()
		e := f.open(t, k, "fake://host/x", "")
		for i, c := range []struct {
			before  func()
			publish func(context.Context, *fakeConn) error
			result  string
			opened  int
		}{
			{nil, nil, "", 1},
			{func() { close(f.last.done) }, nil, "", 2},
			{nil, func(context.Context, *fakeConn) error { return &Failure{Class: ClassRefused, Detail: "full"} }, "refused: full", 2},
			{nil, nil, "", 2},
			{nil, func(context.Context, *fakeConn) error { return net.ErrClosed }, "closed: the connection closed before the broker acknowledged the message", 2},
			{nil, nil, "", 3},
			{nil, func(ctx context.Context, _ *fakeConn) error { <-ctx.Done(); return ctx.Err() }, "timeout: no acknowledgement within 15s", 3},
			{nil, nil, "", 4},
		} {
			if c.before != nil {
				c.before()
			}
			f.publish = c.publish
			if r := e.Send(t.Context(), message); r.Error != c.result || f.opened != c.opened {
				t.Errorf("%d: %q with %d connections, want %q with %d", i, r.Error, f.opened, c.result, c.opened)
			}
			synctest.Wait()
		}
		if f.closed != 3 {
			t.Errorf("%d connections were closed, want 3", f.closed)
		}
	})
}

// The number of connections is bounded. The one that has been idle longest makes room.
func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := make(chan struct{})
		f := &fake{}
		k := newFakeKind(f)
		k.pool.max = 2
		defer k.Close()
		for _, host := range []string{"a", "b", "c"} {
			if r := f.open(t, k, "fake://"+host+"/x", "").Send(t.Context(), message); !r.Delivered() {
				t.Errorf("%s: %+v", host, r)
			}
			time.Sleep(time.Second)
		}
		f.publish = func(context.Context, *fakeConn) error { <-wait; return nil }
		var all sync.WaitGroup
		for _, host := range []string{"b", "c"} {
			all.Go(func() { f.open(t, k, "fake://"+host+"/x", "").Send(t.Context(), message) })
		}
		synctest.Wait()
		if f.opened != 3 || f.closed != 1 {
			t.Errorf("%d connections were opened and %d closed, want 3 and 1", f.opened, f.closed)
		}
		r := f.open(t, k, "fake://d/x", "").Send(t.Context(), message)
		if r.Verdict != feedmill.VerdictRetry || !strings.HasPrefix(r.Error, "busy: ") {
			t.Errorf("%+v", r)
		}
		close(wait)
		all.Wait()
	})
}

// Errors of the network have a class, and name no address.
func TestFailures(t *testing.T) {
	f := &fake{}
	k := newFakeKind(f)
	defer k.Close()
	for url, want := range map[string]string{
		"fake://private/x": "forbidden: the operator's egress policy forbids the address of this URL",
		"fake://down/x":    "unreachable: the connection was refused or failed",
		"fake://:x/x":      "the subscription's URL is not valid",
	} {
		if r := f.open(t, k, url, "").Send(t.Context(), message); r.Error != want {
			t.Errorf("%s: %+v", url, r)
		}
	}
	if got := Quote("a\r\nb\x00\xff" + strings.Repeat("ü", 300)); got != "a  b ?"+strings.Repeat("ü", 194)+"…" {
		t.Errorf("quoted as %q", got)
	}
}
