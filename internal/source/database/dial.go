package database

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
)

// dialer makes connections.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// quiet is a dialer whose errors say what happened and not where: what a name
// resolves to, and by whom, is not for those who only know the name.
func quiet(dial dialer, forbidden error) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, dialError(reasonOf(err, forbidden))
		}
		return conn, nil
	}
}

// dialError is why there is no connection. It has nothing below it that could be
// shown.
type dialError string

func (e dialError) Error() string { return string(e) }

func reasonOf(err, forbidden error) string {
	if forbidden != nil && errors.Is(err, forbidden) {
		return "the egress policy forbids the address (the operator can allow it with egressAllow)"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "the host name cannot be resolved"
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return "the host did not respond in time"
	}
	return "the host cannot be reached"
}
