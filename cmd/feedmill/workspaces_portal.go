package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newWorkspacesPortal() *cobra.Command {
	cmd := oneWorkspace("portal", "Create, list or revoke portal links of a workspace")
	f := cmd.Flags()
	pages := f.StringSlice("pages", []string{"subscriptions"}, "pages to show: subscriptions, events, feeds")
	access := f.String("access", "read", "read, or write to let the customer manage subscriptions")
	expires := f.String("expires", "1h", "how long the link and its session are valid, up to 24h")
	back := f.String("return-url", "", "where the portal leads back to, in an origin of portalOrigins")
	listed := f.Bool("list", false, "list the portal links of the workspace")
	revoke := f.String("revoke", "", "id of a portal link to revoke; ends its session")
	completeFlag(cmd, "pages", completeOf("subscriptions", "events", "feeds"))
	completeFlag(cmd, "access", completeOf("read", "write"))
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		w, err := findWorkspace(ctx, c, args[0])
		switch {
		case err != nil:
			return err
		case *revoke != "":
			if err := c.DeletePortalLink(ctx, w.ID, *revoke); err != nil {
				return err
			}
			return p.say("revoked %s\n", *revoke)
		case *listed:
			header := []string{"ID", "STATE", "PAGES", "ACCESS", "CREATED", "OPENED", "EXPIRES"}
			return list(p, paged(c, 0).PortalLinks(ctx, w.ID), 0, header, func(l client.PortalLink) []cell {
				return texts(l.ID, string(l.State), pageNames(l.Pages), string(l.Access), moment(l.CreatedAt), momentOrNone(l.OpenedAt), moment(l.ExpiresAt))
			})
		}
		age, err := feedmill.ParseDuration(*expires)
		if err != nil {
			return usagef("--expires: %v", err)
		}
		link := client.NewPortalLink{Access: feedmill.PortalAccess(*access), ExpiresIn: client.Duration(age), ReturnURL: *back}
		for _, page := range *pages {
			link.Pages = append(link.Pages, feedmill.PortalPage(page))
		}
		made, err := c.CreatePortalLink(ctx, w.ID, link)
		return shown(p, made, err, func(p *printer, l client.PortalLink) error {
			var t table
			t.fields("Link", l.ID, "Pages", pageNames(l.Pages), "Access", string(l.Access), "URL", l.URL, "Expires", moment(l.ExpiresAt))
			return p.table(t)
		})
	})
}

func pageNames(pages []feedmill.PortalPage) string {
	var names []string
	for _, page := range pages {
		names = append(names, string(page))
	}
	return strings.Join(names, ", ")
}
