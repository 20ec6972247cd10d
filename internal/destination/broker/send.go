package broker

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// Send makes one attempt. It returns when ctx ends or the timeout is over, even if the
// client of the broker does not.
func (e *endpoint) Send(ctx context.Context, m feedmill.Message) (r feedmill.Result) {
	if !e.valid {
		return feedmill.Result{Verdict: feedmill.VerdictRejected, Error: "the subscription's URL is not valid", NotSent: true}
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	connected, err := e.publish(ctx, m)
	r = e.result(err, m.Timeout)
	r.Timing = feedmill.Timing{Connect: connected.Sub(start), Total: time.Since(start)}
	return r
}

// publish sends a message over the connection of the endpoint. It returns when that was
// there.
func (e *endpoint) publish(ctx context.Context, m feedmill.Message) (connected time.Time, err error) {
	c, err := e.pool.get(ctx, e.key, e.connect)
	if connected = time.Now(); err != nil {
		return connected, err
	}
	return connected, c.publish(ctx, m)
}

// connect opens the connection of the endpoint over sockets.
func (e *endpoint) connect(ctx context.Context, s *sockets) (Conn, error) {
	settings := e.settings
	settings.Dial = s.dialer(e.Dial, func(err error) bool { return errors.Is(err, e.Forbidden) })
	settings.note = s.note
	c, err := e.Connect(ctx, settings)
	if err == nil {
		return c, nil
	}
	// Clients replace the error of a socket by one of their own.
	if _, responded := errors.AsType[*Failure](err); !responded {
		if dialErr := s.dialError(); dialErr != nil {
			return nil, dialErr
		}
	}
	return nil, err
}

// HeaderName is the name of a header of a message, in lower case.
func HeaderName(canonical string) string { return strings.ToLower(canonical) }
