package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who changed what, newest first",
		Long: `Lists every change that somebody made, but for events that were published and
refreshes that were run. It needs a key with the scope admin, or, while no server
runs, the stores themselves (see "feedmill keys --help").`,
		Args: cobra.NoArgs,
	}
	var q client.AuditQuery
	cmd.Flags().StringVar(&q.Actor, "actor", "", "only what this key, by its id, or this subject has changed")
	cmd.Flags().StringVar(&q.Action, "action", "", "only changes of this kind, such as subscription.update")
	cmd.Flags().StringVar(&q.Resource, "resource", "", "only changes of what has this id")
	cmd.Flags().StringVar(&q.WorkspaceID, "workspace", "", "id of the workspace; your own by default")
	since := timeFlag(cmd, "since", "only changes that are not older")
	limit := limitFlag(cmd)
	onServerOrStore(cmd, func(ctx context.Context, c *client.Client, _ []string, p *printer) error {
		q.Since = *since
		header := []string{"TIME", "WHO", "NAME", "ACTION", "RESOURCE", "FIELDS", "FROM"}
		return list(p, paged(c, *limit).Audit(ctx, q), *limit, header, func(e client.AuditEntry) []cell {
			who := text(cmp.Or(e.Actor.Key, e.Actor.Subject))
			return append([]cell{text(moment(e.At)), who}, text(e.Actor.Name), text(e.Action), text(e.Resource),
				orDash(strings.Join(e.Fields, ",")), orDash(e.Address))
		})
	})
	return cmd
}
