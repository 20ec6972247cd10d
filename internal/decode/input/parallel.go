package input

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Together runs work in several goroutines and waits for all of them.
func Together(ctx context.Context, workers int, work func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for range max(workers, 1) {
		group.Go(func() error { return work(ctx) })
	}
	return group.Wait()
}

// EachBlock calls read for the blocks [0, blocks), from as many goroutines as
// there are workers.
func EachBlock(ctx context.Context, workers, blocks int, read func(ctx context.Context, block int) error) error {
	var next atomic.Int64
	return Together(ctx, workers, func(ctx context.Context) error {
		for {
			block := int(next.Add(1) - 1)
			if block >= blocks {
				return nil
			}
			if err := read(ctx, block); err != nil {
				return err
			}
		}
	})
}

// PageWorkers is how many goroutines read a page of a table.
func PageWorkers(page Source) int {
	const enough = 128 << 10 // bytes for one of them
	return int(min(int64(runtime.GOMAXPROCS(0)), 1+page.Size()/enough))
}
