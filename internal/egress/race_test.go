package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// attempt is what happens at one address.
type attempt struct {
	takes time.Duration
	err   error
}

const never = time.Hour

func TestRace(t *testing.T) {
	refused, unreachable := errors.New("refused"), errors.New("unreachable")
	for _, tt := range []struct {
		name     string
		attempts []attempt
		winner   int
		err      error
		took     time.Duration
	}{
		{"only one", []attempt{{takes: time.Second}}, 0, nil, time.Second},
		{"first at once", []attempt{{}, {}}, 0, nil, 0},
		{"second after a failure", []attempt{{err: refused}, {takes: 10 * time.Millisecond}}, 1, nil, 10 * time.Millisecond},
		{"second beside a slow first", []attempt{{takes: never}, {}}, 1, nil, attemptDelay},
		{"a slow first still wins over a slower second", []attempt{{takes: 300 * time.Millisecond}, {takes: time.Second}}, 0, nil, 300 * time.Millisecond},
		{"third after two that hang", []attempt{{takes: never}, {takes: never}, {}}, 2, nil, 2 * attemptDelay},
		{"all fail: the first failure counts", []attempt{{takes: time.Second, err: refused}, {err: unreachable}}, 0, unreachable, time.Second},
		{"the deadline", []attempt{{takes: never}, {takes: never}}, 0, context.DeadlineExceeded, 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var targets []netip.AddrPort
				for i := range tt.attempts {
					targets = append(targets, netip.AddrPortFrom(loopback, uint16(i+1)))
				}
				start := time.Now()
				conn, err := race(ctx, targets, func(ctx context.Context, target netip.AddrPort) (net.Conn, error) {
					a := tt.attempts[target.Port()-1]
					if !wait(ctx, a.takes) {
						return nil, ctx.Err()
					}
					return &fakeConn{port: target.Port()}, a.err
				})
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if !errors.Is(err, tt.err) {
					t.Fatalf("err = %v, want %v", err, tt.err)
				}
				if err == nil && conn.(*fakeConn).port != uint16(tt.winner+1) {
					t.Errorf("target %d won, want %d", conn.(*fakeConn).port-1, tt.winner)
				}
			})
		})
	}
}

// A connection that arrives too late to be used is closed before race returns.
func TestRaceClosesTheLosers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := &fakeConn{}
		targets := []netip.AddrPort{netip.AddrPortFrom(loopback, 1), netip.AddrPortFrom(loopback, 2)}
		conn, err := race(t.Context(), targets, func(ctx context.Context, target netip.AddrPort) (net.Conn, error) {
			if target.Port() == 2 {
				return &fakeConn{port: 2}, nil
			}
			<-ctx.Done()
			return late, nil
		})
		if err != nil || conn.(*fakeConn).port != 2 {
			t.Fatalf("race = %v, %v", conn, err)
		}
		if !late.closed || conn.(*fakeConn).closed {
			t.Errorf("loser closed: %v, winner closed: %v", late.closed, conn.(*fakeConn).closed)
		}
	})
}

func TestRaceErrorIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := race(ctx, []netip.AddrPort{netip.AddrPortFrom(loopback, 1)}, func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			wait(ctx, never)
			return nil, ctx.Err()
		})
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("race past the deadline = %v, which is no timeout", err)
		}
	})
}

// wait reports whether d passed before the context ended.
func wait(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

type fakeConn struct {
	net.Conn
	port   uint16
	closed bool
}

func (c *fakeConn) Close() error {
	c.closed = true
	return nil
}
