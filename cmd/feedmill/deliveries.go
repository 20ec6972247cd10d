package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newDeliveries() *cobra.Command {
	parent := &cobra.Command{Use: "deliveries", Short: "Inspect and retry deliveries"}
	parent.AddCommand(newDeliveriesList(), newDeliveriesFailures(), newDeliveriesShow(), newDeliveriesRetry())
	return parent
}

func newDeliveriesList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list --subscription ID | list --undelivered",
		Short: "List deliveries, newest first",
	}
	subscription := cmd.Flags().String("subscription", "", "deliveries of this subscription")
	undelivered := cmd.Flags().Bool("undelivered", false, "exhausted and discarded deliveries of all subscriptions")
	state := cmd.Flags().String("state", "", "only deliveries in this state: "+strings.Join(deliveryStates(), ", "))
	kind := cmd.Flags().String("type", "", "only deliveries of events of this type")
	since := timeFlag(cmd, "since", "only deliveries since this time")
	limit := limitFlag(cmd)
	completeFlag(cmd, "subscription", completeSubscriptions)
	completeFlag(cmd, "state", completeOf(deliveryStates()...))
	completeFlag(cmd, "type", completeTypes)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *undelivered {
			for _, other := range []string{"subscription", "state", "type", "since"} {
				if cmd.Flags().Changed(other) {
					return fmt.Errorf("--undelivered lists all failed deliveries and cannot be combined with --%s", other)
				}
			}
		} else if *subscription == "" {
			return errors.New("specify --subscription ID or --undelivered")
		}
		return cobra.NoArgs(cmd, args)
	}
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		if *undelivered {
			header := []string{"TIME", "STATE", "ATTEMPTS", "TYPE", "RESOURCE", "ID", "SUBSCRIPTION", "REASON"}
			return list(p, paged(c, *limit).Undelivered(ctx), *limit, header, func(d client.Delivery) []cell {
				return append(deliveryCells(d), text(d.SubscriptionID), orDash(d.Reason))
			})
		}
		q := client.DeliveryQuery{State: feedmill.DeliveryState(*state), Type: *kind, Since: *since}
		header := []string{"TIME", "STATE", "ATTEMPTS", "TYPE", "RESOURCE", "ID", "NEXT ATTEMPT"}
		return list(p, paged(c, *limit).Deliveries(ctx, *subscription, q), *limit, header, func(d client.Delivery) []cell {
			return append(deliveryCells(d), orDash(momentOrNone(d.NextAttemptAt)))
		})
	})
}

func deliveryStates() []string {
	var words []string
	for _, s := range feedmill.DeliveryStates {
		words = append(words, string(s))
	}
	return words
}

func deliveryCells(d client.Delivery) []cell {
	return []cell{text(moment(d.CreatedAt)), state(d.State), text(attemptsOf(d)), text(d.Type), orDash(d.ResourceID), text(d.ID)}
}

func attemptsOf(d client.Delivery) string { return fmt.Sprintf("%d/%d", d.AttemptCount, d.MaxAttempts) }

func newDeliveriesShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show a delivery with every attempt", Args: oneArg("specify a delivery id")}
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		d, err := c.Delivery(ctx, args[0])
		return shown(p, d, err, (*printer).delivery)
	})
}

func (p *printer) delivery(d client.Delivery) error {
	var t table
	t.field("Delivery", text(d.ID))
	t.field("State", state(d.State))
	t.fields("Reason", d.Reason, "Attempts", attemptsOf(d), "Event", d.EventID, "Type", d.Type, "Resource", d.ResourceID,
		"Subscription", d.SubscriptionID, "Created", moment(d.CreatedAt), "Next attempt", momentOrNone(d.NextAttemptAt), "Ended", momentOrNone(d.EndedAt))
	if err := p.table(t); len(d.Attempts) == 0 {
		return err
	}
	p.printf("\n")
	t = table{header: append([]string{"ATTEMPT"}, timingHeader...)}
	for _, a := range d.Attempts {
		t.add(append(texts(strconv.Itoa(a.Number)), timingRow(a.Exchange)...)...)
	}
	p.table(t)
	return p.body(d.Attempts[len(d.Attempts)-1].Exchange)
}

var timingHeader = []string{"TIME", "STATUS", "DNS", "CONNECT", "TLS", "FIRST BYTE", "TOTAL", "ERROR"}

// timingRow is an exchange with what its time went into.
func timingRow(x client.Exchange) []cell {
	status := cell{text: strconv.Itoa(x.Status), tone: bad}
	switch {
	case x.Status == 0:
		if status.text = "-"; x.Error == "" { // a broker acknowledged it
			status.tone = good
		}
	case x.Error == "" && x.Status >= 200 && x.Status <= 299:
		status.tone = good
	}
	row := []cell{text(moment(x.At)), status}
	for _, m := range []client.Milliseconds{x.Timing.DNS, x.Timing.Connect, x.Timing.TLS, x.Timing.FirstByte, x.Timing.Total} {
		row = append(row, milliseconds(m))
	}
	return append(row, orDash(x.Error))
}

// milliseconds is how long something took; a dash, where it did not happen.
func milliseconds(m client.Milliseconds) cell {
	if m == 0 {
		return text("-")
	}
	return text(fmt.Sprintf("%.1fms", float64(m)))
}

// body prints the answer to an exchange that failed, where there was one.
func (p *printer) body(x client.Exchange) error {
	if x.Body == "" {
		return p.failed
	}
	end := ""
	if x.BodyTruncated {
		end = "\n  …"
	}
	lines := strings.ReplaceAll(plainLines(strings.TrimRight(x.Body, "\r\n")), "\n", "\n  ")
	return p.printf("\nResponse\n  %s%s\n", lines, end)
}
