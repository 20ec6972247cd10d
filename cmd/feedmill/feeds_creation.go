package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsCreationURL() *cobra.Command {
	cmd := &cobra.Command{
		Use: "creation-url SERVICE", Short: "Make a link with which a person connects a service that only they can, and makes a feed of it",
		Args: oneArg("say which service; feedmill services list has those that are personal"), ValidArgsFunction: completeFirst(completeServices),
	}
	redirect := cmd.Flags().String("redirect-uri", "", "where the person's browser goes with the id of the feed, of an origin that the operator allows; by default nowhere")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		link, err := c.CreationURL(ctx, args[0], *redirect)
		return shown(p, link, err, func(p *printer, l client.CreationLink) error {
			var t table
			t.fields("Service", l.ServiceName, "URL", l.URL, "Expires", moment(l.ExpiresAt))
			return p.table(t)
		})
	})
}
