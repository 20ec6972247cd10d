package lake

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// checkSpillEvery is how often the disk is checked while a worker works.
const checkSpillEvery = 100 * time.Millisecond

// watchDisk ends the context of a query whose worker has put something on a disk that has
// no more room.
func (p *Pool) watchDisk(ctx context.Context, w *process) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	var check *time.Timer
	check = time.AfterFunc(time.Hour, func() {
		if full := p.config.CheckDisk(); full != nil && w.spills() {
			cancel(full)
			return
		}
		check.Reset(checkSpillEvery)
	})
	check.Reset(checkSpillEvery)
	return ctx, func() {
		check.Stop()
		cancel(nil)
	}
}

// spills reports whether the worker has put something on disk.
func (p *process) spills() bool {
	files, err := os.ReadDir(filepath.Join(p.folder, cageSpill))
	return err == nil && len(files) > 0
}
