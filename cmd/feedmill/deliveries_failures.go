package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// undeliveredStates are those in which a delivery ended without success.
var undeliveredStates = []string{string(feedmill.DeliveryExhausted), string(feedmill.DeliveryDiscarded)}

func newDeliveriesFailures() *cobra.Command {
	cmd := &cobra.Command{Use: "failures", Short: "Count undelivered deliveries by endpoint and error", Args: cobra.NoArgs}
	by := cmd.Flags().StringSlice("by", []string{"endpoint", "error"}, "what to group by: endpoint, error or both")
	q := undeliveredFlags(cmd)
	since := timeFlag(cmd, "since", "only deliveries since this time")
	completeFlag(cmd, "by", completeOf("endpoint", "error"))
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		q.Since = *since
		found, err := c.GroupUndelivered(ctx, *q, *by...)
		if err != nil {
			return err
		}
		header := []string{"STATE", "COUNT", "LAST", "ENDPOINT", "NOW", "ERROR"}
		if err := list(p, withoutErrors(found.Groups), 0, header, groupCells); err != nil {
			return err
		}
		if !found.CountedSince.IsZero() {
			fmt.Fprintf(p.notes, "Only the newest %d deliveries are counted, since %s.\n", feedmill.MaxGroupedDeliveries, moment(found.CountedSince))
		}
		if n := found.Total - int64(len(found.Groups)); n > 0 {
			fmt.Fprintf(p.notes, "%d more groups are not shown. Use --state or --since.\n", n)
		}
		return nil
	})
}

// undeliveredFlags are the flags that select undelivered deliveries.
func undeliveredFlags(cmd *cobra.Command) *client.UndeliveredQuery {
	var q client.UndeliveredQuery
	cmd.Flags().StringVar((*string)(&q.State), "state", "", "only deliveries in this state: "+strings.Join(undeliveredStates, " or "))
	cmd.Flags().StringVar(&q.SubscriptionID, "subscription", "", "only deliveries of this subscription")
	cmd.Flags().StringVar(&q.Error, "error", "", "only deliveries with this error")
	completeFlag(cmd, "state", completeOf(undeliveredStates...))
	completeFlag(cmd, "subscription", completeSubscriptions)
	return &q
}

func withoutErrors[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func groupCells(g client.UndeliveredGroup) []cell {
	endpoint, now := g.SubscriptionID, "-"
	switch s := g.Subscription; {
	case s != nil:
		endpoint, now = s.ID+" "+s.URL, string(s.State)
		if s.State == feedmill.SubscriptionActive && s.Breaker == feedmill.BreakerOpen {
			now = "does not respond"
		}
	case endpoint != "":
		now = "deleted"
	}
	return []cell{state(g.State), text(strconv.Itoa(g.Count)), text(moment(g.LastAt)), orDash(endpoint), text(now), orDash(g.Error)}
}

func newDeliveriesRetry() *cobra.Command {
	cmd := &cobra.Command{Use: "retry ID... | retry --subscription ID", Short: "Retry deliveries now"}
	group := undeliveredFlags(cmd)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case group.SubscriptionID != "" && len(args) > 0:
			return errors.New("specify delivery ids or --subscription, and not both")
		case group.SubscriptionID == "" && (group.State != "" || group.Error != ""):
			return errors.New("--state and --error require --subscription")
		case group.SubscriptionID == "" && len(args) == 0:
			return fmt.Errorf("specify a delivery id: %s %s", cmd.Parent().CommandPath(), cmd.Use)
		}
		return nil
	}
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if len(args) == 1 {
			d, err := c.RetryDelivery(ctx, args[0])
			return shown(p, d, err, func(p *printer, d client.Delivery) error {
				return p.printf("%s  retrying now, with up to %d more attempts\n", d.ID, d.MaxAttempts-d.AttemptCount)
			})
		}
		all, err := retryAll(ctx, c, *group, args)
		if err != nil {
			return err
		}
		if p.json {
			raw, err := json.Marshal(all)
			if err != nil {
				return err
			}
			return p.machine(json.RawMessage(raw))
		}
		p.printf("%d deliveries retried, %d refused\n", all.Retried, len(all.Refused))
		for _, r := range all.Refused {
			p.printf("%s  %s\n", r.DeliveryID, r.Detail)
		}
		return p.failed
	})
}

// retryAll retries deliveries by their ids, or those of a group, in as many requests as that takes.
func retryAll(ctx context.Context, c *client.Client, group client.UndeliveredQuery, ids []string) (client.RetriedDeliveries, error) {
	all := client.RetriedDeliveries{Refused: []client.RefusedRetry{}}
	retry := func(s client.UndeliveredSelection) (next string, err error) {
		some, err := c.RetryUndelivered(ctx, s)
		if err != nil && all.Retried > 0 {
			err = fmt.Errorf("after %d deliveries were retried: %w", all.Retried, err)
		}
		all.Retried, all.Refused = all.Retried+some.Retried, append(all.Refused, some.Refused...)
		return some.Next, err
	}
	for part := range slices.Chunk(ids, feedmill.MaxRetriedDeliveries) {
		if _, err := retry(client.UndeliveredSelection{DeliveryIDs: part}); err != nil {
			return all, err
		}
	}
	if len(ids) > 0 {
		return all, nil
	}
	s := client.UndeliveredSelection{SubscriptionID: group.SubscriptionID, State: group.State, Error: group.Error}
	for {
		next, err := retry(s)
		if err != nil || next == "" {
			return all, err
		}
		s.Before = next
	}
}
