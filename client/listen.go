package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// Listening is what [Client.Listen] does with what it hears. Handle is needed.
type Listening struct {
	// Opened is called once, with the secret that signs what will come.
	Opened func(Listener)
	// Handle acts on a delivery and returns with the status and the duration,
	// or with an error. It is called once for each attempt, however often
	// that comes, and from several goroutines. It gives up when ctx ends.
	Handle func(ctx context.Context, d ListenerDelivery) ListenerAnswer
	// Lost is called when the connection has broken, with why and with how
	// long it takes until it is made again; Resumed when it is there again.
	Lost    func(err error, again time.Duration)
	Resumed func()
}

// ErrListenerEnded says that a listener is no more, although nobody here has
// ended it: what happened since is not heard of.
var ErrListenerEnded = errors.New("the listener has ended")

// longestBreak bounds the wait before a connection is made again.
const longestBreak = 10 * time.Second

// farewell is how long the last answers and the removal of a listener may take.
const farewell = 5 * time.Second

// Listen listens to events until ctx ends, which is no error, and removes the
// listener then. A connection that breaks is made again, for as long as it
// takes: nothing that happens meanwhile is lost while the listener lives, and
// nothing is handled twice.
func (c *Client) Listen(ctx context.Context, l NewListener, do Listening) error {
	made, err := c.CreateListener(ctx, l)
	if err != nil {
		return err
	}
	if do.Opened != nil {
		do.Opened(made)
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	h := newHandling(c, made.ID, do.Handle)
	var refused error
	var answering sync.WaitGroup
	answering.Go(func() {
		defer stop()
		refused = h.answerAll(working)
	})
	err = c.stayConnected(working, made.ID, do, h)
	stop()
	h.wait()
	answering.Wait()

	// Where the server is away now, the listener ends by itself.
	last, end := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer end()
	h.answerOnce(last)
	c.DeleteListener(last, made.ID)
	if err == nil {
		err = refused
	}
	return err
}

// stayConnected hands on what comes over one connection after the other.
func (c *Client) stayConnected(ctx context.Context, id string, do Listening, h *handling) error {
	wait, lost := firstWait, false
	for {
		err := c.connect(ctx, id, h, func() {
			if wait = firstWait; lost && do.Resumed != nil {
				do.Resumed()
			}
			lost = false
		})
		if ctx.Err() != nil {
			return nil
		}
		err = gone(err)
		pause, again := reconnect(err)
		if !again {
			return err
		}
		pause = max(pause, wait-rand.N(wait/2))
		if lost = true; do.Lost != nil {
			do.Lost(err, pause)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		wait = min(2*wait, longestBreak)
	}
}

// errShutdown is a connection that the server has ended to stop or restart.
var errShutdown = errors.New("the server is shutting down")

// connect hands on what comes over one connection, and returns why it ended.
func (c *Client) connect(ctx context.Context, id string, h *handling, connected func()) error {
	first := true
	for line, err := range c.ListenerStream(ctx, id) {
		if err != nil {
			return err
		}
		if first {
			connected()
			first = false
		}
		switch line.Kind {
		case "delivery":
			h.handOn(ctx, line.ListenerDelivery)
		case "end":
			return ending(line.Reason)
		}
	}
	return ctx.Err()
}

func ending(reason string) error {
	switch feedmill.ListenerEnded(reason) {
	case feedmill.ListenerReplaced:
		return fmt.Errorf("%w: another connection replaced it", ErrListenerEnded)
	case feedmill.ListenerRemoved:
		return fmt.Errorf("%w: it was removed", ErrListenerEnded)
	case feedmill.ListenerExpired:
		return fmt.Errorf("%w: it expired", ErrListenerEnded)
	case feedmill.ListenerShutdown:
		return errShutdown
	}
	return fmt.Errorf("the server closed the connection: %s", reason)
}

// reconnect reports whether a new connection may fare better than one that
// ended with err, and what the server said of when.
func reconnect(err error) (after time.Duration, again bool) {
	if errors.Is(err, ErrListenerEnded) {
		return 0, false
	}
	if p, ok := errors.AsType[*Problem](err); ok && !p.Temporary() {
		return 0, false
	}
	after, _ = comeBack(err, true)
	return min(after, longestBreak), true
}

// gone makes of a problem that there is no such listener what it means here.
func gone(err error) error {
	if p, ok := errors.AsType[*Problem](err); ok && p.Status == http.StatusNotFound {
		return fmt.Errorf("%w: it expired or was removed", ErrListenerEnded)
	}
	return err
}
