package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsVersions() *cobra.Command {
	cmd := oneFeed("versions", "List, pin, unpin or restore versions of a feed")
	limit := limitFlag(cmd)
	pin := cmd.Flags().Int64("pin", 0, "number of a version to pin")
	unpin := cmd.Flags().Int64("unpin", 0, "number of a version to unpin")
	restore := cmd.Flags().Int64("restore", 0, "number of a version to restore")
	cmd.MarkFlagsMutuallyExclusive("pin", "unpin", "restore")
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		switch {
		case *pin != 0:
			v, err := c.PinVersion(ctx, args[0], *pin, true)
			return shown(p, v, err, (*printer).version)
		case *unpin != 0:
			v, err := c.PinVersion(ctx, args[0], *unpin, false)
			return shown(p, v, err, (*printer).version)
		case *restore != 0:
			f, err := c.RestoreVersion(ctx, args[0], *restore)
			return shown(p, f, err, (*printer).feed)
		}
		header := []string{"VERSION", "CREATED", "ROWS", "SIZE", "INSERTED", "UPDATED", "DELETED", "PINNED"}
		return list(p, paged(c, *limit).FeedVersions(ctx, args[0]), *limit, header, func(v client.FeedVersion) []cell {
			inserted, updated, deleted := text("-"), text("-"), text("-")
			if v.Rows != nil {
				inserted, updated, deleted = count(v.Rows.Inserted), count(v.Rows.Updated), count(v.Rows.Deleted)
			}
			return []cell{count(v.Version), text(moment(v.CreatedAt)), count(v.RowCount), text(bytesText(v.ByteSize)), inserted, updated, deleted, text(yesNo(v.Pinned))}
		})
	})
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// version prints what is known of a version.
func (p *printer) version(v client.FeedVersion) error {
	var t table
	t.fields("Version", fmt.Sprint(v.Version), "Created", moment(v.CreatedAt), "Rows", fmt.Sprint(v.RowCount), "Size", bytesText(v.ByteSize), "Pinned", yesNo(v.Pinned))
	return p.table(t)
}
