package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newSubscriptionsReplay() *cobra.Command {
	cmd := oneSubscription("replay", "Deliver again what ended in a state, by default what failed, or what was missed")
	since := timeFlag(cmd, "since", "only events that are not older; it is needed")
	until := timeFlag(cmd, "until", "only events that are older, by default all")
	words := make([]string, len(feedmill.ReplaySelections))
	for i, s := range feedmill.ReplaySelections {
		words[i] = string(s)
	}
	state := cmd.Flags().String("state", "", "delivered, exhausted, discarded, undelivered (the default), missing or all")
	rate := cmd.Flags().Int("rate", 0, "how many deliveries are made a second, by default as many as can be")
	dryRun := cmd.Flags().Bool("dry-run", false, "only count")
	completeFlag(cmd, "state", completeOf(words...))
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if since.IsZero() {
			return usagef("say from when on with --since, such as --since 24h")
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
	return newSubscriptionsReplayOf("replay-status", "See how far a replay is", (*client.Client).Replay)
}

func newSubscriptionsReplayCancel() *cobra.Command {
	return newSubscriptionsReplayOf("replay-cancel", "End a replay; what it has made stays", (*client.Client).CancelReplay)
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
	if err := p.printf("%s  %s%s: %d of %s made, %s from %s to %s\n", r.ID, r.State, reason, r.Made, total, r.Selection, moment(r.Since), moment(r.Until)); err != nil || !r.EndedAt.IsZero() {
		return err
	}
	return p.printf("See how it goes with: feedmill subscriptions replay-status %s %s\n", r.SubscriptionID, r.ID)
}
