package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Until answers requests until ctx ends, then lets those under way finish, for so long.
func Until(ctx context.Context, server *http.Server, l net.Listener, drainTime time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if server.Shutdown(drain) != nil {
		server.Close()
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
