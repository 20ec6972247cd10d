package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

func newFeedsRefresh() *cobra.Command {
	cmd := oneFeed("refresh", "Refresh a feed now")
	watch := watchFlag(cmd)
	accept := acceptFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		r, err := c.RefreshDataFeed(ctx, args[0], accept()...)
		if err != nil {
			return err
		}
		if !*watch {
			return shown(p, r, nil, (*printer).refresh)
		}
		if r, err = p.watch(ctx, c, args[0], r.ID); err != nil {
			return err
		}
		r, err = c.Refresh(ctx, args[0], r.ID)
		if err := shown(p, r, err, (*printer).refresh); err != nil {
			return err
		}
		return refreshFailed(r)
	})
}

// acceptFlag lets rows through, once, that are not what is expected of a feed.
func acceptFlag(cmd *cobra.Command) func() []client.CallOption {
	accept := cmd.Flags().Bool("accept", false, "accept rows that fail the feed's checks, for this refresh only")
	return func() []client.CallOption {
		if !*accept {
			return nil
		}
		return []client.CallOption{client.AcceptUnexpected()}
	}
}

func newFeedsPause() *cobra.Command {
	return feedCommand("pause", "Pause the refreshes of a feed", (*client.Client).PauseDataFeed)
}

func newFeedsResume() *cobra.Command {
	return feedCommand("resume", "Resume the refreshes of a feed", (*client.Client).ResumeDataFeed)
}

func feedCommand(name, short string, change func(*client.Client, context.Context, string, ...client.CallOption) (client.DataFeed, error)) *cobra.Command {
	return onServer(oneFeed(name, short), func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		f, err := change(c, ctx, args[0])
		return shown(p, f, err, (*printer).feed)
	})
}

func newFeedsRefreshes() *cobra.Command {
	cmd := oneFeed("refreshes", "List refreshes of a feed, or show one with its requests")
	cmd.Use = "refreshes ID [REFRESH]"
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 2 {
			return nil
		}
		return oneArg("specify a feed id, and optionally a refresh id")(cmd, args)
	}
	limit := limitFlag(cmd)
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		if len(args) == 2 {
			r, err := c.Refresh(ctx, args[0], args[1])
			return shown(p, r, err, (*printer).refresh)
		}
		header := []string{"ID", "STARTED", "STATE", "VERSION", "PAGES", "BYTES", "ROWS", "REJECTED", "TOOK", "ERROR"}
		return list(p, paged(c, *limit).Refreshes(ctx, args[0]), *limit, header, func(r client.Refresh) []cell {
			why := ""
			if r.Error != nil {
				why = r.Error.Detail
			}
			return []cell{
				text(r.ID), text(moment(r.StartedAt)), state(r.State), text(refreshVersion(r)), count(r.Pages), count(r.BytesIn), count(r.RowsStored),
				count(r.RowsRejected), text(r.Duration.Duration().String()), orDash(why),
			}
		})
	})
}

func newFeedsCancel() *cobra.Command {
	cmd := oneFeed("cancel", "Cancel a queued or running refresh")
	cmd.Use = "cancel ID REFRESH"
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usagef("specify a feed id and a refresh id")
		}
		return nil
	}
	return onServer(cmd, func(ctx context.Context, c *client.Client, args []string, p *printer) error {
		r, err := c.CancelRefresh(ctx, args[0], args[1])
		return shown(p, r, err, (*printer).refresh)
	})
}

// refresh prints what a refresh did, with its requests where they are known.
func (p *printer) refresh(r client.Refresh) error {
	var t table
	t.field("Refresh", text(r.ID))
	t.field("State", state(r.State))
	t.fields("Started", moment(r.StartedAt))
	if r.Ended() {
		t.fields("Took", r.Duration.Duration().String())
	}
	t.fields("Requests", fmt.Sprint(r.Requests), "Pages", fmt.Sprint(r.Pages), "Bytes", bytesText(r.BytesIn), "Rows", fmt.Sprint(r.RowsIn), "Version", refreshVersion(r))
	if r.Error != nil {
		t.field("Error", cell{text: r.Error.Detail, tone: bad})
	}
	if err := p.table(t); len(r.Trace) == 0 {
		return err
	}
	p.printf("\n")
	if err := p.trace(r.Trace); err != nil || int64(len(r.Trace)) >= r.Requests {
		return err
	}
	p.printf("%d of %d requests are shown: the first and the last ones.\n", len(r.Trace), r.Requests)
	return nil
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
