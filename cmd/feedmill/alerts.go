package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newAlerts() *cobra.Command {
	parent := &cobra.Command{Use: "alerts", Short: "Manage alerts to Slack and e-mail"}
	parent.AddCommand(newAlertsAdd(), newAlertsList(), newAlertsRemove())
	return parent
}

func newAlertsAdd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add --slack URL | --email ADDRESS",
		Short: "Create an alert",
		Long: `Reports failed refreshes, stale feeds and failing subscriptions to a Slack channel or an
e-mail address. An alert by e-mail starts when the recipient confirms it with the link in
a message. The link is valid for 3 days.`,
		Args: cobra.NoArgs,
	}
	var a client.NewAlert
	flags := cmd.Flags()
	flags.StringVar(&a.Slack, "slack", "", "URL of a Slack incoming webhook, or @file")
	flags.StringVar(&a.Email, "email", "", "e-mail address")
	flags.StringSliceVar(&a.Feeds, "feed", nil, "only events of these feeds (default: all feeds)")
	flags.StringSliceVar(&a.Events, "events", nil, "event types (default: all that alerts report)")
	flags.StringVar(&a.Name, "name", "", "display name")
	completeFlag(cmd, "events", completeOf(client.AlertEvents...))
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) (err error) {
		if (a.Slack == "") == (a.Email == "") {
			return usagef("specify either --slack or --email")
		}
		if a.Slack, err = textOrFile("--slack", a.Slack); err != nil {
			return err
		}
		for _, id := range a.Feeds {
			if !feedmill.IsID(feedmill.PrefixDataFeed, id) {
				return usagef("--feed: %q is not the ID of a data feed", id)
			}
		}
		made, err := c.CreateAlert(ctx, a)
		return shown(p, made, err, (*printer).alert)
	})
}

func (p *printer) alert(a client.Alert) error {
	var t table
	t.fields("Alert", a.ID, "Name", a.Name, "Channel", a.Channel, "To", a.To, "Events", strings.Join(a.Events, ", "), "Feeds", alertFeeds(a))
	t.field("State", alertState(a))
	if err := p.table(t); err != nil || a.PausedReason != feedmill.PausedUnconfirmed {
		return err
	}
	return p.printf("\nThe recipient must confirm the alert until %s.\n", moment(a.ConfirmBy))
}

func alertFeeds(a client.Alert) string {
	if len(a.Feeds) == 0 {
		return "all"
	}
	return strings.Join(a.Feeds, ", ")
}

func alertState(a client.Alert) cell {
	shown := state(a.State)
	if a.PausedReason != "" && a.PausedReason != feedmill.PausedAsked {
		shown.text += " (" + a.PausedReason + ")"
	}
	return shown
}

func newAlertsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List alerts, newest first", Args: cobra.NoArgs}
	return onServer(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		all, err := c.Alerts(ctx)
		if all == nil {
			all = []client.Alert{}
		}
		return shown(p, all, err, func(p *printer, all []client.Alert) error {
			t := table{header: []string{"ID", "NAME", "STATE", "CHANNEL", "TO", "EVENTS", "FEEDS", "WAITING"}}
			for _, a := range all {
				t.add(text(a.ID), orDash(a.Name), alertState(a), text(a.Channel), text(a.To), text(strings.Join(a.Events, ",")), text(alertFeeds(a)), text(fmt.Sprint(a.Waiting)))
			}
			return p.table(t)
		})
	})
}

func newAlertsRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove ID", Short: "Delete an alert", Args: oneArg("specify an alert id")}
	return onServer(cmd, confirmed(cmd, "This deletes alert %s and discards its open deliveries.", func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if err := c.DeleteAlert(ctx, args[0]); err != nil {
			return err
		}
		return p.say("deleted %s\n", args[0])
	}))
}
