package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsLineage() *cobra.Command {
	return onServer(oneFeed("lineage", "List what a feed is built from, and what is built from it"), func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		l, err := c.Lineage(ctx, args[0])
		return shown(p, l, err, (*printer).lineage)
	})
}

// lineage prints a line for each feed, and then a line for each read.
func (p *printer) lineage(l client.Lineage) error {
	feeds := table{header: []string{"STEP", "FEED", "NAME", "STATE", "VERSION"}}
	for _, f := range l.Feeds {
		state := string(f.State)
		if f.Deleted {
			state = "deleted"
		}
		feeds.add(text(strconv.Itoa(f.Step)), text(f.ID), orDash(f.Name), text(state), count(f.Version))
	}
	if err := p.table(feeds); err != nil {
		return err
	}
	reads := table{header: []string{"READER", "READS", "USE", "VERSION", "BEHIND"}}
	for _, r := range l.Reads {
		version := "-"
		if r.Version != nil {
			version = strconv.FormatInt(*r.Version, 10)
		}
		reads.add(text(r.Reader), text(r.Read), text(r.Use), text(version), count(r.Behind))
	}
	return p.table(reads)
}
