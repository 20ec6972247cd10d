package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newSubscriptionsReplay() *cobra.Command {
	cmd := oneSubscription("replay", "Replay failed or missed events to a subscription")
	since := timeFlag(cmd, "since", "only events since this time (required)")
	until := timeFlag(cmd, "until", "only events before this time")
	words := make([]string, len(feedmill.ReplaySelections))
	for i, s := range feedmill.ReplaySelections {
		words[i] = string(s)
	}
	state := cmd.Flags().String("state", "", "delivered, exhausted, discarded, undelivered (the default), missing or all")
	rate := cmd.Flags().Int("rate", 0, "maximum deliveries per second (default: no limit)")
	dryRun := cmd.Flags().Bool("dry-run", false, "only count")
	completeFlag(cmd, "state", completeOf(words...))
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if since.IsZero() {
			return usagef("specify the start with --since, such as --since 24h")
		}
		r, err := c.ReplaySubscription(ctx, args[0], client.ReplayRange{
			Since: *since, Until: *until, State: feedmill.ReplaySelection(*state), Rate: *rate, DryRun: *dryRun,
		})
		if err != nil {
			return err
		}
		return p.show(func() error { return p.replay(r) })
	})
}

// newSubscriptionsReplayOf makes a command that works on one replay.
func newSubscriptionsReplayOf(name, short string, do func(*client.Client, context.Context, string, string) (client.Replay, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " SUBSCRIPTION REPLAY", Short: short, Args: cobra.ExactArgs(2),
		ValidArgsFunction: completeFirst(completeSubscriptions),
	}
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		r, err := do(c, ctx, args[0], args[1])
		if err != nil {
			return err
		}
		return p.show(func() error { return p.replay(r) })
	})
}

func newSubscriptionsReplayStatus() *cobra.Command {
	return newSubscriptionsReplayOf("replay-status", "Show the progress of a replay", (*client.Client).Replay)
}

func newSubscriptionsReplayCancel() *cobra.Command {
	return newSubscriptionsReplayOf("replay-cancel", "Cancel a replay; deliveries it has created remain", (*client.Client).CancelReplay)
}

func (p *printer) replay(r client.Replay) error {
	total := "?"
	if r.Total != nil {
		total = fmt.Sprint(*r.Total)
	}
	reason := ""
	if r.Reason != "" {
		reason = " because " + r.Reason
	}
	if err := p.printf("%s  %s%s: %d of %s created, %s from %s to %s\n", r.ID, r.State, reason, r.Made, total, r.Selection, moment(r.Since), moment(r.Until)); err != nil || !r.EndedAt.IsZero() {
		return err
	}
	return p.printf("Show its progress: feedmill subscriptions replay-status %s %s\n", r.SubscriptionID, r.ID)
}
