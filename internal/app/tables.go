package app

import (
	"context"
	"time"

	"github.com/feedmill/feedmill/internal/blob"
)

// tableRoot is where readers of Iceberg tables find the files of feeds: the bucket, or the
// folder if the operator allows that. Otherwise it is empty, and there are no tables.
func (a *App) tableRoot(files fileStore, bucket *blob.Bucket) string {
	switch {
	case bucket != nil:
		return bucket.String()
	case a.config.IcebergLocal:
		return "file://" + files.Dir()
	}
	return ""
}

// writeTables keeps the metadata of tables up to date: it looks every second for feeds that
// have changed. Any replica finds what another one did not finish.
func (a *App) writeTables(ctx context.Context, feeds *feeds) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		more, err := feeds.WriteTables(ctx)
		if err != nil && ctx.Err() == nil {
			a.log.Warn("tables could not be written; will retry in a minute", "error", err)
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
