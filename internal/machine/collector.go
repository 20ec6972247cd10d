package machine

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// collectEvery is how often it is seen to how much is held.
	collectEvery = 250 * time.Millisecond
	// manyHeld is from how many bytes on what is held matters.
	manyHeld = 32 * mebibyte
	// usualPercent is what Go's collector goes by, and leastPercent what it is
	// never set below: it would do nothing but collect.
	usualPercent, leastPercent = 100, 20
	// percentStep is the least change: each stops the process for a moment.
	percentStep = 5
)

// CollectAround has the collector let the heap grow by as much as is alive besides
// the bytes that are held, and not by those, until ctx ends: a cache of large
// payloads would take twice its bound. An operator's GOGC stays as it is.
func CollectAround(ctx context.Context, held func() int) {
	if _, given := os.LookupEnv("GOGC"); given {
		return
	}
	defer debug.SetGCPercent(usualPercent)
	tick := time.NewTicker(collectEvery)
	defer tick.Stop()
	alive := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for present := usualPercent; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(alive)
		if next := percentAround(int64(alive[0].Value.Uint64()), int64(held())); next != present {
			debug.SetGCPercent(next)
			present = next
		}
	}
}

// percentAround is by how many percent the heap may grow.
func percentAround(alive, held int64) int {
	if held < manyHeld || alive <= 0 {
		return usualPercent
	}
	percent := int(usualPercent * max(alive-held, 0) / alive)
	return max(percent-percent%percentStep, leastPercent)
}
