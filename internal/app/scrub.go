package app

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/feed"
)

// renewFiles extends the lease on the files that this process writes.
func (a *App) renewFiles(ctx context.Context, files *feed.VerifiedFiles) {
	tick := time.NewTicker(feedmill.ObjectRenewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := files.Renew(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("the lease on files that are being written could not be renewed; will retry in a minute", "error", err)
		}
	}
}

// scrub verifies stored files from the start on, and looks every hour for those whose
// turn has come.
func (a *App) scrub(ctx context.Context, files *feed.VerifiedFiles) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := files.Scrub(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("verifying stored files failed; will retry in an hour", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
