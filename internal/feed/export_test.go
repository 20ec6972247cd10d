package feed

import (
	"context"
	"errors"
	"testing"

	"github.com/feedmill/feedmill/internal/share"
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

// Of what goes to its end only one of a workspace goes on without anybody.
func TestOneExportOfAWorkspaceGoesOnAlone(t *testing.T) {
	var e exports
	finish := make(chan struct{})
	ends := map[string]chan error{"a": make(chan error, 1), "b": make(chan error, 1), "of another": make(chan error, 1)}
	for _, name := range []string{"a", "of another", "b"} {
		holder := "w"
		if name == "of another" {
			holder = "x"
		}
		ctx, leave := context.WithCancel(share.For(t.Context(), holder))
		begun, gone := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(gone)
			e.do(ctx, name, true, func(ctx context.Context) error {
				close(begun)
				select {
				case <-ctx.Done():
				case <-finish:
				}
				ends[name] <- ctx.Err()
				return ctx.Err()
			})
		}()
		<-begun
		leave()
		<-gone
	}
	if err := <-ends["b"]; !errors.Is(err, context.Canceled) {
		t.Errorf("the second of a workspace ended with %v", err)
	}
	close(finish)
	for _, name := range []string{"a", "of another"} {
		if err := <-ends[name]; err != nil {
			t.Errorf("%s ended with %v", name, err)
		}
	}
	e.running.Wait()
	if len(e.under)+len(e.alone) != 0 {
		t.Error("something is still under way")
	}
}
