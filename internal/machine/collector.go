package machine

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// adjustEvery is the interval at which GOGC is adjusted.
	adjustEvery = 250 * time.Millisecond
	// minHeld is the number of held bytes from which GOGC is adjusted.
	minHeld = 32 * mebibyte
	// defaultPercent is Go's default GOGC. Below minPercent the process would spend its
	// time collecting.
	defaultPercent, minPercent = 100, 20
	// percentStep is the smallest change. Each change stops the process for a moment.
	percentStep = 5
)

// CollectAround adjusts GOGC until ctx ends, so that the heap can grow by the live bytes
// other than those that held reports. Otherwise a cache of large payloads would use twice
// its limit. It does nothing if the operator has set GOGC.
func CollectAround(ctx context.Context, held func() int) {
	if _, given := os.LookupEnv("GOGC"); given {
		return
	}
	defer debug.SetGCPercent(defaultPercent)
	tick := time.NewTicker(adjustEvery)
	defer tick.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for current := defaultPercent; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(live)
		if next := percentAround(int64(live[0].Value.Uint64()), int64(held())); next != current {
			debug.SetGCPercent(next)
			current = next
		}
	}
}

// percentAround returns the GOGC for a heap with live bytes of which some are held.
func percentAround(live, held int64) int {
	if held < minHeld || live <= 0 {
		return defaultPercent
	}
	percent := int(defaultPercent * max(live-held, 0) / live)
	return max(percent-percent%percentStep, minPercent)
}
