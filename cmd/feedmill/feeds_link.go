package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newFeedsLink() *cobra.Command {
	cmd := oneFeed("link", "Create, list or revoke read-only links to a feed")
	f := cmd.Flags()
	name := f.String("name", "", "name of the link (default: the name of the feed)")
	format := f.String("format", "", "json, ndjson, csv, xlsx, parquet or arrow (default: negotiated with the reader)")
	fields := f.StringSlice("fields", nil, "columns, separated by commas (default: all visible columns)")
	filters := f.StringArray("filter", nil, "filter such as status:eq:paid (repeatable)")
	expires := f.String("expires", "", "when the link expires: a duration such as 30d, or a time such as 2027-01-01T00:00:00Z (default: never)")
	listed := f.Bool("list", false, "list the links of the feed")
	revoke := f.String("revoke", "", "id of a link to revoke")
	completeFlag(cmd, "format", completeOf("json", "ndjson", "csv", "xlsx", "parquet", "arrow"))
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		switch {
		case *revoke != "":
			if err := c.DeleteLink(ctx, args[0], *revoke); err != nil {
				return err
			}
			return p.say("revoked %s\n", strings.TrimSpace(*revoke))
		case *listed:
			header := []string{"ID", "NAME", "FORMAT", "COLUMNS", "FILTER", "READ", "LAST READ", "EXPIRES"}
			return list(p, c.Links(ctx, args[0]), 0, header, func(l client.Link) []cell {
				return []cell{
					text(l.ID), text(l.Name), orDash(l.Format), orDash(strings.Join(l.Fields, ", ")), orDash(strings.Join(l.Filter, " ")),
					count(l.Uses), text(momentOrNone(l.LastUsedAt)), text(momentOrNone(l.ExpiresAt)),
				}
			})
		}
		link := client.NewLink{Name: *name, Format: *format, Fields: *fields, Filter: *filters}
		var err error
		if link.ExpiresAt, err = readExpiry(*expires); err != nil {
			return err
		}
		made, err := c.CreateLink(ctx, args[0], link)
		return shown(p, made, err, func(p *printer, l client.Link) error {
			var t table
			t.fields("Link", l.ID, "Name", l.Name, "URL", l.URL, "Expires", momentOrNone(l.ExpiresAt))
			return p.table(t)
		})
	})
}

// readExpiry is a time that is given as such, or as a time span from now on.
func readExpiry(given string) (time.Time, error) {
	if given == "" {
		return time.Time{}, nil
	}
	if span, err := feedmill.ParseDuration(given); err == nil {
		return time.Now().Add(span), nil
	}
	at, err := time.Parse(time.RFC3339, given)
	if err != nil {
		return at, usagef("--expires must be a duration such as 30d, or a time such as 2027-01-01T00:00:00Z")
	}
	return at, nil
}
