package egress

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// attemptDelay is the time after which the next address is tried concurrently (RFC 8305,
// section 5).
const attemptDelay = 250 * time.Millisecond

// race connects to the first target that accepts. It tries them in order and starts the next
// attempt when one fails or takes longer than attemptDelay, so a broken address or address
// family does not delay the others. When race returns, all attempts have ended, and all
// connections except the returned one are closed.
func race(ctx context.Context, targets []netip.AddrPort, dial func(context.Context, netip.AddrPort) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	var attempts sync.WaitGroup
	defer attempts.Wait()
	defer cancel()
	next := 0
	start := func() {
		if next == len(targets) {
			return
		}
		target := targets[next]
		next++
		attempts.Go(func() {
			conn, err := dial(ctx, target)
			select {
			case results <- result{conn, err}:
			case <-ctx.Done():
				if err == nil {
					conn.Close()
				}
			}
		})
	}

	tick := time.NewTicker(attemptDelay)
	defer tick.Stop()
	start()
	var firstErr error
	for failed := 0; failed < len(targets); {
		select {
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			if firstErr == nil {
				firstErr = r.err
			}
			failed++
			tick.Reset(attemptDelay)
		case <-tick.C:
		case <-ctx.Done():
			return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(targets[0]), Err: ctx.Err()}
		}
		start()
	}
	return nil, firstErr
}
