package main

import (
	"context"
	"fmt"

	"github.com/feedmill/feedmill/bench/internal/rig"
)

// wantedMemory is in MB.
const wantedMemory = 250

// memory looks at the memory of Feedmill and its workers during an upload.
func memory(ctx context.Context, r *rig.Rig, f figure, d data) error {
	mill, err := r.Start(ctx, r.Feedmill, unlimited)
	if err != nil {
		return err
	}
	defer mill.Close()
	watch := mill.Watch()
	feed, err := mill.Upload(ctx, mill.Key, d.path, f.kind.Format)
	peak, sum := watch.End()
	if err != nil {
		return err
	}
	if feed.RowCount != d.Rows {
		return fmt.Errorf("the feed has %d rows of %d", feed.RowCount, d.Rows)
	}
	fmt.Printf("%s: %d MB of %s: at most %d MB resident (wanted: under %d); when most was seen, %d MB of its own and %d of files\n",
		f.name, d.Bytes/1e6, f.kind.Format, sum>>20, wantedMemory, peak.Anon>>20, peak.File>>20)
	return nil
}
