package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsCreationURL() *cobra.Command {
	cmd := &cobra.Command{
		Use: "creation-url SERVICE", Short: "Create a link that lets a user connect a personal service",
		Args: oneArg("specify a service; \"feedmill services list\" shows the personal ones"), ValidArgsFunction: completeFirst(completeServices),
	}
	redirect := cmd.Flags().String("redirect-uri", "", "URL to redirect the user to, with the feed id; its origin must be allowed by the operator")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		link, err := c.CreationURL(ctx, args[0], *redirect)
		return shown(p, link, err, func(p *printer, l client.CreationLink) error {
			var t table
			t.fields("Service", l.ServiceName, "URL", l.URL, "Expires", moment(l.ExpiresAt))
			return p.table(t)
		})
	})
}
