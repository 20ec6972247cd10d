package feed

import (
	"context"
	"errors"
	"testing"
)

// What nobody waits for any more stops, unless it goes to its end; as long as one waits it
// goes on.
func TestExportsStopWithTheLastWhoWaits(t *testing.T) {
	for _, toEnd := range []bool{false, true} {
		var e exports
		begun, ends, finish := make(chan struct{}), make(chan error, 1), make(chan struct{})
		write := func(ctx context.Context) error {
			close(begun)
			var err error
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-finish:
			}
			ends <- err
			return err
		}
		waiters := make([]context.CancelFunc, 2)
		gone := make(chan error)
		for i := range waiters {
			ctx, cancel := context.WithCancel(t.Context())
			waiters[i] = cancel
			go func() { gone <- e.do(ctx, "file", toEnd, write) }()
		}
		<-begun
		for waiting := 0; waiting < len(waiters); {
			e.mu.Lock()
			waiting = e.under["file"].waiting
			e.mu.Unlock()
		}
		waiters[0]()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("who left was told %v", err)
		}
		select {
		case err := <-ends:
			t.Fatalf("it ended with %v although somebody waits", err)
		default:
		}
		waiters[1]()
		<-gone
		if toEnd {
			close(finish)
		}
		if err := <-ends; errors.Is(err, context.Canceled) == toEnd {
			t.Errorf("to its end: %v, and it ended with %v", toEnd, err)
		}
		e.running.Wait()
		if len(e.under) != 0 {
			t.Error("it is still under way")
		}
	}
}
