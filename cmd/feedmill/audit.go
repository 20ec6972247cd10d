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
		Short: "List changes and who made them, newest first",
		Long: `Lists every change made through the API, except published events and refreshes.
It needs a key with the scope admin. While no server runs, it can read the store
directly (see "feedmill keys --help").`,
		Args: cobra.NoArgs,
	}
	var q client.AuditQuery
	cmd.Flags().StringVar(&q.Actor, "actor", "", "only changes made by this key id or subject")
	cmd.Flags().StringVar(&q.Action, "action", "", "only changes of this type, such as subscription.update")
	cmd.Flags().StringVar(&q.Resource, "resource", "", "only changes to the resource with this id")
	cmd.Flags().StringVar(&q.WorkspaceID, "workspace", "", "workspace id (default: the workspace of your key)")
	since := timeFlag(cmd, "since", "only changes since this time")
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
