package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newTrigger() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trigger TYPE --to ID",
		Short: "Send a sample event to one listener or subscription",
		Long: `Sends an event with sample data to one listener or subscription. Nothing is published,
so no other subscription receives it. The sample is made from the schema of the type;
--data replaces it. The event has the header x-service-test: true.

feedmill listen prints the ID of its listener, and the response of the local URL.`,
		Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeEventNames(cmd, args, text)
		},
	}
	var to, data string
	cmd.Flags().StringVar(&to, "to", "", "ID of a listener or a subscription")
	cmd.Flags().StringVar(&data, "data", "", "JSON data of the event, or @file, instead of the sample")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if to == "" {
			return usagef("specify a listener or a subscription with --to; feedmill listen prints the ID of its listener")
		}
		e := client.TestEvent{Type: args[0]}
		text, err := textOrFile("--data", data)
		if err != nil {
			return err
		}
		switch e.Data = json.RawMessage(text); {
		case text != "" && !json.Valid(e.Data):
			return usagef("--data is not valid JSON")
		case text == "":
			if e.Data, err = sampleOf(ctx, c, e.Type); err != nil {
				return err
			}
		}
		ping, err := c.TestSubscription(ctx, to, e)
		if !errors.Is(err, feedmill.ErrNotFound) {
			return p.tested(ping, err)
		}
		if err := c.TestListener(ctx, to, e); err != nil {
			return err
		}
		return p.show(func() error {
			return p.printf("Sent %s to %s. feedmill listen shows the response.\n", plain(e.Type), plain(to))
		})
	})
}

// sampleOf makes the data of an event from the schema of its type.
func sampleOf(ctx context.Context, c *client.Client, name string) (json.RawMessage, error) {
	types, err := c.EventTypes(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range types {
		if t.Name != name {
			continue
		}
		data, err := t.Sample()
		if err != nil {
			err = fmt.Errorf("%w; specify --data", err)
		}
		return data, err
	}
	return json.RawMessage("{}"), nil // the server refuses what it does not know
}
