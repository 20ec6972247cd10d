package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func newFeedsRefresh() *cobra.Command {
	cmd := oneFeed("refresh", "Have a feed fetch its data now")
	watch := watchFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		r, err := c.RefreshDataFeed(ctx, args[0])
		if err != nil {
			return err
		}
		if !*watch {
			return p.show(func() error { return p.refresh(r) })
		}
		if r, err = p.watch(ctx, c, args[0], r.ID); err != nil {
			return err
		}
		if r, err = c.Refresh(ctx, args[0], r.ID); err != nil {
			return err
		}
		if err := p.show(func() error { return p.refresh(r) }); err != nil {
			return err
		}
		return refreshFailed(r)
	})
}

func newFeedsPause() *cobra.Command {
	return feedCommand("pause", "Keep a feed from fetching its data until it is resumed", (*client.Client).PauseDataFeed)
}

func newFeedsResume() *cobra.Command {
	return feedCommand("resume", "Let a feed fetch its data again", (*client.Client).ResumeDataFeed)
}

func feedCommand(name, short string, change func(*client.Client, context.Context, string, ...client.CallOption) (client.DataFeed, error)) *cobra.Command {
	return onServer(oneFeed(name, short), func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		f, err := change(c, ctx, args[0])
		if err != nil {
			return err
		}
		return p.show(func() error { return p.feed(f) })
	})
}

func newFeedsRefreshes() *cobra.Command {
	cmd := oneFeed("refreshes", "List what brought a feed its data, newest first, or show one of it with its requests")
	cmd.Use = "refreshes ID [REFRESH]"
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 2 {
			return nil
		}
		return oneArg("say which feed, and which refresh where you want to see one")(cmd, args)
	}
	limit := limitFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if len(args) == 2 {
			r, err := c.Refresh(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return p.show(func() error { return p.refresh(r) })
		}
		header := []string{"ID", "STARTED", "STATE", "VERSION", "PAGES", "BYTES", "ROWS", "REJECTED", "TOOK", "ERROR"}
		return list(p, paged(c, *limit).Refreshes(ctx, args[0]), *limit, header, func(r client.Refresh) []cell {
			why := ""
			if r.Error != nil {
				why = r.Error.Detail
			}
			return []cell{
				text(r.ID), text(moment(r.StartedAt)), refreshState(r), text(refreshVersion(r)), count(r.Pages), count(r.BytesIn), count(r.RowsStored),
				count(r.RowsRejected), text(r.Duration.Duration().String()), orDash(why),
			}
		})
	})
}

func newFeedsCancel() *cobra.Command {
	cmd := oneFeed("cancel", "Cancel a refresh of a feed that waits or runs")
	cmd.Use = "cancel ID REFRESH"
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usagef("say which feed and which refresh")
		}
		return nil
	}
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		r, err := c.CancelRefresh(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		return p.show(func() error { return p.refresh(r) })
	})
}

// refresh prints what a refresh did, with its requests where they are known.
func (p *printer) refresh(r client.Refresh) error {
	var t table
	t.field("Refresh", text(r.ID))
	t.field("State", refreshState(r))
	t.field("Started", text(moment(r.StartedAt)))
	if r.Ended() {
		t.field("Took", text(r.Duration.Duration().String()))
	}
	t.field("Requests", count(r.Requests))
	t.field("Pages", count(r.Pages))
	t.field("Bytes", text(bytesText(r.BytesIn)))
	t.field("Rows", count(r.RowsIn))
	t.field("Version", text(refreshVersion(r)))
	if r.Error != nil {
		t.field("Error", cell{text: r.Error.Detail, tone: bad})
	}
	if err := p.table(t); err != nil || len(r.Trace) == 0 {
		return err
	}
	if err := p.printf("\n"); err != nil {
		return err
	}
	return p.trace(r.Trace)
}

func refreshVersion(r client.Refresh) string {
	switch {
	case r.Version > 0:
		return strconv.FormatInt(r.Version, 10)
	case r.Outcome == "unchanged":
		return "unchanged"
	}
	return "-"
}

func refreshState(r client.Refresh) cell {
	c := cell{text: string(r.State), tone: waiting}
	switch r.State {
	case feedmill.RefreshSucceeded:
		c.tone = good
	case feedmill.RefreshFailed:
		c.tone = bad
	}
	return c
}
