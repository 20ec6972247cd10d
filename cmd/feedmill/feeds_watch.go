package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func watchFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("watch", false, "show the progress of the refresh and wait until it ends")
}

// watch tells people how far a refresh is until it has ended: at a terminal on
// one line, and else on a line for each change.
func (p *printer) watch(ctx context.Context, c *client.Client, feed, id string) (last client.Refresh, _ error) {
	if p.json {
		p.answers.stop(c) // an answer that goes on cannot be kept
		defer p.answers.record(c)
	}
	notes := p.notes
	if p.json {
		notes = io.Discard
	}
	before, after := "", "\n"
	if terminal, ok := notes.(*os.File); ok && isTerminal(terminal) {
		before, after = "\r\x1b[K", ""
		defer fmt.Fprint(notes, before)
	}
	for r, err := range c.WatchRefresh(ctx, feed, id) {
		if err == nil {
			_, err = fmt.Fprint(notes, before, plain(progressText(r)), after)
		}
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("stopped watching; refresh %s continues: %w", id, ctx.Err())
		}
		if err != nil {
			return r, err
		}
		last = r
	}
	return last, nil
}

func progressText(r client.Refresh) string {
	if r.State == feedmill.RefreshPending {
		return "pending"
	}
	if r.Parts > 0 {
		return fmt.Sprintf("%s: %d of %d parts, %d requests, %d pages, %s, %d rows", r.State, r.PartsDone, r.Parts, r.Requests, r.Pages, bytesText(r.BytesIn), r.RowsIn)
	}
	return fmt.Sprintf("%s: %d requests, %d pages, %s, %d rows", r.State, r.Requests, r.Pages, bytesText(r.BytesIn), r.RowsIn)
}

// refreshFailed is the error of a refresh that was waited for.
func refreshFailed(r client.Refresh) error {
	if r.State != feedmill.RefreshFailed {
		return nil
	}
	why := "unknown reason"
	if r.Error != nil {
		why = r.Error.Detail
	}
	return errors.New("the refresh failed: " + why)
}
