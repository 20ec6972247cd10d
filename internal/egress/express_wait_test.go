package egress

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// crowd is a pool and exchanges that want a connection of it.
type crowd struct {
	*testing.T
	pool *connPool
	key  connKey
	ends []net.Conn
	got  chan *conn // nil is leave to make one
}

// want lets exchanges ask for a connection, and counts who got one or may make
// one by now.
func (c *crowd) want(n int) (given, mayOpen int) {
	for range n {
		go func() {
			got, err := c.pool.acquire(c.Context(), time.Time{}, c.key)
			if err == nil {
				c.got <- got
			}
		}()
	}
	return c.count()
}

func (c *crowd) count() (given, mayOpen int) {
	synctest.Wait()
	for {
		select {
		case got := <-c.got:
			if got != nil {
				given++
			} else {
				mayOpen++
			}
		default:
			return given, mayOpen
		}
	}
}

// open makes connections for those who may.
func (c *crowd) open(n int) (made []*conn) {
	for range n {
		here, there := net.Pipe()
		c.ends = append(c.ends, there)
		made = append(made, c.pool.add(c.key, here))
		c.pool.opened(c.key)
	}
	return made
}

func inCrowd(t *testing.T, test func(*crowd)) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{T: t, pool: newConnPool(1000), key: connKey{host: "a"}, got: make(chan *conn, 1000)}
		test(c)
		c.pool.closeIdle()
		for _, end := range c.ends {
			end.Close()
		}
	})
}

func (c *crowd) check(what string, given, mayOpen, wantGiven, wantOpen int) {
	c.Helper()
	if given != wantGiven || mayOpen != wantOpen {
		c.Errorf("%s: %d are given a connection and %d may make one, want %d and %d", what, given, mayOpen, wantGiven, wantOpen)
	}
}

func TestFewConnectionsAreMadeAtOnce(t *testing.T) {
	inCrowd(t, func(c *crowd) {
		check := func(what string, wantGiven, wantOpen int) {
			c.Helper()
			given, mayOpen := c.count()
			c.check(what, given, mayOpen, wantGiven, wantOpen)
		}
		given, mayOpen := c.want(manyConns + 28)
		c.check("at first", given, mayOpen, 0, maxOpening)
		var made []*conn
		for len(made) < manyConns {
			made = append(made, c.open(maxOpening)...)
			if len(made) < manyConns {
				check("as they are made", 0, maxOpening)
			}
		}
		check("with plenty", 0, 0)
		for _, used := range made[:10] {
			c.pool.keep(used)
		}
		check("when some come free", 10, 0)
		time.Sleep(idleWait - 1)
		check("within a moment", 0, 0)
		time.Sleep(time.Nanosecond)
		check("when none comes free for long", 0, maxOpening)
		for range maxOpening {
			c.pool.opened(c.key) // they could not be made
		}
		check("after those", 0, maxOpening)
		for range maxOpening {
			c.pool.opened(c.key)
		}
		check("at last", 0, 2)
		c.pool.opened(c.key)
		c.pool.opened(c.key)
		for _, used := range made {
			c.pool.keep(used)
		}
		c.pool.closeIdle()
		if len(c.pool.hosts) != 0 || c.pool.count != 0 {
			c.Errorf("%d hosts and %d connections are left", len(c.pool.hosts), c.pool.count)
		}
	})
}

// Who gives up leaves the place, and what it was given, to others.
func TestWhoGivesUpLeavesItsPlace(t *testing.T) {
	inCrowd(t, func(c *crowd) {
		c.want(maxOpening)
		ctx, cancel := context.WithCancel(context.Background())
		errs := make(chan error, 2)
		go func() {
			_, err := c.pool.acquire(ctx, time.Time{}, c.key)
			errs <- err
		}()
		synctest.Wait()
		go func() {
			_, err := c.pool.acquire(context.Background(), time.Now().Add(time.Second), c.key)
			errs <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			c.Errorf("it ended with %v", err)
		}
		if err := <-errs; !errors.Is(err, os.ErrDeadlineExceeded) {
			c.Errorf("past its deadline it ended with %v", err)
		}
		given := &waiter{turn: make(chan *conn, 1)}
		given.turn <- nil // at the moment when it gives up
		c.pool.cancelWait(c.key, c.pool.at(c.key), given)
		if n := c.pool.at(c.key).opening; n != maxOpening-1 {
			c.Errorf("%d connections are being made", n)
		}
		for range maxOpening - 1 {
			c.pool.opened(c.key)
		}
		if len(c.pool.hosts) != 0 {
			c.Error("the host is not forgotten")
		}
	})
}
