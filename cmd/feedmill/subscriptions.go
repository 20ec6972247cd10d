package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newSubscriptions() *cobra.Command {
	parent := &cobra.Command{Use: "subscriptions", Aliases: []string{"subs"}, Short: "Manage webhook subscriptions"}
	parent.AddCommand(
		newSubscriptionsCreate(), newSubscriptionsList(), newSubscriptionsShow(), newSubscriptionsUpdate(),
		newSubscriptionsDelete(), newSubscriptionsPreview(), newSubscriptionsTest(), newSubscriptionsRotate(), newSubscriptionsRetry(), newSubscriptionsReplay(),
		newSubscriptionsReplayStatus(), newSubscriptionsReplayCancel(),
	)
	return parent
}

// oneSubscription makes a command that works on the subscription it is given.
func oneSubscription(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name + " ID", Short: short, Args: oneArg("specify a subscription id"),
		ValidArgsFunction: completeFirst(completeSubscriptions),
	}
}

func newSubscriptionsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List subscriptions, newest first", Args: cobra.NoArgs}
	limit := limitFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		header := []string{"ID", "NAME", "STATE", "EVENTS", "RESOURCE", "METHOD", "URL"}
		return list(p, paged(c, *limit).Subscriptions(ctx), *limit, header, func(s client.Subscription) []cell {
			return []cell{
				text(s.ID), orDash(s.Name), state(s.State), text(strings.Join(s.Events, ",")), orDash(s.Filters.ResourceID),
				orDash(s.HTTPOperation), text(s.URL),
			}
		})
	})
}

func newSubscriptionsShow() *cobra.Command {
	return onServer(oneSubscription("show", "Show a subscription"), func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		s, err := c.Subscription(ctx, args[0])
		return shown(p, s, err, (*printer).subscription)
	})
}

func (p *printer) subscription(s client.Subscription) error {
	var t table
	t.fields("Subscription", s.ID, "Name", s.Name, "URL", s.URL, "Events", strings.Join(s.Events, ", "), "Resource", s.Filters.ResourceID,
		"Filter", s.Filter, "Transform", s.Transform, "Preset", s.Preset)
	if s.State != "" {
		state := state(s.State)
		if s.DisabledReason != "" {
			state.text += " (" + disabledBecause(s.DisabledReason) + ")"
		}
		if s.PausedReason != "" && s.PausedReason != feedmill.PausedAsked {
			state.text += " (" + s.PausedReason + ")"
		}
		t.field("State", state)
		t.fields("Method", s.HTTPOperation, "Timeout", s.Delivery.Timeout.String(), "Rate limit", rateText(s.Delivery.RateLimit),
			"Concurrency", fmt.Sprint(s.Delivery.Concurrency), "Ordered", map[bool]string{true: "yes", false: "no"}[s.Delivery.Ordered],
			"Batch", batchText(s.Delivery.Batch), "Retries", waitsText(s.Delivery.RetrySchedule), "Auto-disable", s.Delivery.DisableAfter.String(),
			"Headers", strings.Join(slices.Sorted(maps.Keys(s.Delivery.Headers)), ", "),
			"Credentials", strings.Join(slices.Sorted(maps.Keys(s.Delivery.Credentials)), ", "),
			"Certificates", certificatesText(s.Delivery.TLS), "Tokens from", tokensText(s.Delivery.OAuth2), "Created", moment(s.CreatedAt), "Changed", moment(s.UpdatedAt))
	}
	if h := s.Health; h != nil {
		t.fields("Backlog", backlogText(*h))
		if h.SuccessShare != nil {
			t.fields("Success rate", fmt.Sprintf("%.0f %% of attempts in 24 h", 100**h.SuccessShare))
		}
		t.fields("Breaker", string(h.Breaker))
	}
	return p.table(t)
}

func backlogText(h client.SubscriptionHealth) string {
	if h.Backlog == 0 {
		return "none"
	}
	more := ""
	if h.BacklogAtLeast {
		more = "at least "
	}
	return fmt.Sprintf("%s%d, the oldest of %s", more, h.Backlog, moment(h.OldestPendingAt))
}

func waitsText(waits []client.Duration) string {
	words := make([]string, len(waits))
	for i, wait := range waits {
		words[i] = wait.String()
	}
	return strings.Join(words, ",")
}

func disabledBecause(reason string) string {
	switch reason {
	case feedmill.DisabledByUser:
		return "by a user"
	case feedmill.DisabledGone:
		return "the endpoint returned 410 Gone"
	case feedmill.DisabledFailing:
		return "the endpoint failed for too long"
	}
	return reason
}

func newSubscriptionsDelete() *cobra.Command {
	cmd := oneSubscription("delete", "Delete a subscription and discard its open deliveries")
	return onServer(cmd, confirmed(cmd, "This deletes subscription %s and discards its open deliveries.", func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if err := c.DeleteSubscription(ctx, args[0]); err != nil {
			return err
		}
		return p.say("deleted %s\n", args[0])
	}))
}

func (p *printer) ping(ping client.Ping) error {
	t := table{header: timingHeader}
	t.add(timingRow(ping.Exchange)...)
	p.table(t)
	return p.body(ping.Exchange)
}

func newSubscriptionsRotate() *cobra.Command {
	cmd := oneSubscription("rotate", "Rotate the signing secret and print it once")
	overlap := client.Duration(feedmill.DefaultRotationOverlap)
	cmd.Flags().Var((*durationValue)(&overlap), "overlap", "how long the old secret stays valid, up to 7d; 0s ends it immediately")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		s, err := c.RotateSecret(ctx, args[0], time.Duration(overlap))
		return shown(p, s, err, func(p *printer, s client.Subscription) error {
			until := "The old secret is no longer valid."
			if !s.OverlapUntil.IsZero() {
				until = "The old secret is valid until " + moment(s.OverlapUntil) + "."
			}
			return p.printf("%s\n\n  %s\n\nCopy the secret now; it is not shown again. %s\n", s.ID, s.SigningSecret, until)
		})
	})
}

func newSubscriptionsRetry() *cobra.Command {
	cmd := oneSubscription("retry", "Retry all waiting deliveries now, such as after an outage")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		n, err := c.RetrySubscription(ctx, args[0])
		if err != nil {
			return err
		}
		return p.show(func() error { return p.printf("%d deliveries are due now\n", n) })
	})
}
