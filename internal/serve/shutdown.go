package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Notice is how long a server that stops still takes requests, so that load balancers
// that check it every second learn of the stop before connections are refused.
const Notice = time.Second

// Until serves requests until ctx ends. Then it calls stopping, continues to serve for notice,
// closes the port, and lets requests in flight finish. All of that takes drainTime at most.
func Until(ctx context.Context, server *http.Server, l net.Listener, stopping func(), notice, drainTime time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stopping()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	select {
	case err := <-failed:
		return err
	case <-time.After(notice):
	}
	if server.Shutdown(drain) != nil {
		server.Close()
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
