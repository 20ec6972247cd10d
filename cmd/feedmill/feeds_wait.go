package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newFeedsWait() *cobra.Command {
	cmd := oneFeed("wait", "Wait until a feed has finished refreshing")
	cmd.Long = `Waits until no refresh of the feed is queued or running, and prints the feed. The exit code
is 0 if the feed is ready. It is 1 if the last refresh failed, or if the feed is paused.
The command does not start a refresh.`
	timeout := client.Duration(10 * time.Minute)
	cmd.Flags().Var((*durationValue)(&timeout), "timeout", "how long to wait")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(timeout), fmt.Errorf("the feed is still refreshing after %s; increase --timeout", timeout))
		defer cancel()
		f, err := p.waitForFeed(ctx, c, args[0])
		if cause := context.Cause(ctx); err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return cause
		}
		if err := shown(p, f, err, (*printer).feed); err != nil {
			return err
		}
		return notReady(f)
	})
}

// waitForFeed follows the refreshes of a feed until none is left.
func (p *printer) waitForFeed(ctx context.Context, c *client.Client, id string) (client.DataFeed, error) {
	for {
		f, err := c.DataFeed(ctx, id)
		if err != nil || f.LastRefresh == nil || f.LastRefresh.Ended() {
			return f, err
		}
		if _, err := p.watch(ctx, c, id, f.LastRefresh.ID); err != nil {
			return f, err
		}
	}
}

// notReady is why a feed does not have the newest data of its source.
func notReady(f client.DataFeed) error {
	switch f.State {
	case feedmill.FeedFailed, feedmill.FeedAuthRequired:
		if f.LastError != nil {
			return errors.New("the refresh failed: " + f.LastError.Detail)
		}
		return errors.New("the refresh failed")
	case feedmill.FeedPaused:
		return fmt.Errorf("the feed is paused; resume it with %q", "feedmill feeds resume "+f.ID)
	}
	return nil
}
