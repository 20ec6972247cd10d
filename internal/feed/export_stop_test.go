package feed

import (
	"context"
	"errors"
	"testing"
)

// TestStopCancelsExports checks that a stop cancels all files that are being written and returns
// when they have ended.
func TestStopCancelsExports(t *testing.T) {
	var f Feeds
	var all []*exporting
	for _, name := range []string{"one.csv", "other.csv"} {
		f.exports.mu.Lock()
		all = append(all, f.exports.begin(t.Context(), name, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		f.exports.mu.Unlock()
	}
	f.StopExports()
	for _, one := range all {
		select {
		case <-one.done:
		default:
			t.Error("an export is still running")
		}
		if !errors.Is(one.err, context.Canceled) {
			t.Errorf("an export ended with %v", one.err)
		}
	}
}
