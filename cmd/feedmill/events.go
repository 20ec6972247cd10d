package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newEvents() *cobra.Command {
	parent := &cobra.Command{Use: "events", Short: "Publish and inspect events"}
	parent.AddCommand(newEventsPublish(), newEventsList(), newEventsShow(), newEventsTypes())
	return parent
}

func newEventsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List events, newest first", Args: cobra.NoArgs}
	q := new(client.EventQuery)
	cmd.Flags().StringVar(&q.Type, "type", "", "only events of these types, such as metric.created,tag.*")
	cmd.Flags().StringVar(&q.ResourceID, "resource", "", "only events about this resource")
	since := timeFlag(cmd, "since", "only events since this time")
	limit := limitFlag(cmd)
	completeFlag(cmd, "type", completeTypes)
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		q.Since = *since
		return list(p, paged(c, *limit).Events(ctx, *q), *limit, []string{"TIME", "TYPE", "RESOURCE", "ID", "DELIVERIES"}, func(e client.Event) []cell {
			return []cell{text(moment(e.Timestamp)), text(e.Type), orDash(e.ResourceID), text(e.ID), routes(e.Deliveries)}
		})
	})
}

// routes sums up where an event went, such as "2 delivered, 1 retrying".
func routes(all []client.EventRoute) cell {
	counts := make(map[feedmill.DeliveryState]int)
	for _, r := range all {
		counts[r.State]++
	}
	var words []string
	c := cell{tone: good}
	for _, s := range feedmill.DeliveryStates {
		if counts[s] == 0 {
			continue
		}
		words = append(words, fmt.Sprint(counts[s], " ", s))
		if t := state(s).tone; t == bad || c.tone == good {
			c.tone = t
		}
	}
	if len(words) == 0 {
		return text("none")
	}
	c.text = strings.Join(words, ", ")
	return c
}

func newEventsShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show an event and its deliveries", Args: oneArg("specify an event id")}
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		e, err := c.Event(ctx, args[0])
		return shown(p, e, err, (*printer).event)
	})
}

func (p *printer) event(e client.Event) error {
	var t table
	t.fields("Event", e.ID, "Type", e.Type, "Resource", e.ResourceID, "Time", moment(e.Timestamp), "Publisher's id", e.PublisherID)
	p.table(t)
	var data bytes.Buffer
	if err := json.Indent(&data, e.Data, "  ", "  "); err != nil {
		return err
	}
	p.printf("\nData\n  %s\n\n", plainLines(data.String()))
	if len(e.Deliveries) == 0 {
		return p.printf("No subscription received it.\n")
	}
	t = table{header: []string{"DELIVERY", "SUBSCRIPTION", "STATE"}}
	for _, r := range e.Deliveries {
		t.add(text(r.ID), text(r.SubscriptionID), state(r.State))
	}
	return p.table(t)
}

func newEventsTypes() *cobra.Command {
	cmd := &cobra.Command{Use: "types", Short: "List event types", Args: cobra.NoArgs}
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		types, err := c.EventTypes(ctx)
		return shown(p, types, err, func(p *printer, types []client.EventType) error {
			t := table{header: []string{"TYPE", "FAMILY", "STATUS", "DESCRIPTION"}}
			for _, e := range types {
				status := cell{text: e.Status, tone: good}
				if e.Status != "available" {
					status.tone = waiting
				}
				t.add(text(e.Name), text(e.Family), status, text(e.Description))
			}
			return p.table(t)
		})
	})
}
