package worker

import (
	"fmt"
	"os"
	"time"

	"github.com/feedmill/feedmill/internal/lake/wire"
)

// watchEvery is how often a worker checks its memory while it works. Memory is
// filled at about a mebibyte a millisecond.
const watchEvery = 5 * time.Millisecond

// watchMemory ends the process where it holds more memory of its own than allowed, until
// stop is called. Databases bound what they count, which is not all: a function that
// makes long texts of short ones allocates them before anything is counted.
func watchMemory(allowed int64) (stop func()) {
	if allowed <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if m := held(); m.own > allowed {
				fmt.Fprintf(os.Stderr, "the worker uses %d bytes of memory; the limit is %d\n", m.own, allowed)
				os.Exit(wire.ExitMemory)
			}
		}
	}()
	return func() { close(done) }
}
