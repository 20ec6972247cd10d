package refresh

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// TestFilesElsewhereAreLeft holds that a process leaves sources whose feeds have files
// elsewhere to the process that has them, and takes them once the files are here.
func TestFilesElsewhereAreLeft(t *testing.T) {
	onBench(t, func(b *bench) {
		there, here := b.source(b.ws, "h", never), b.source(b.ws, "h", never)
		var restored atomic.Bool
		e := b.start(Options{
			Elsewhere: func(_ context.Context, _, source feedmill.ID) error {
				if source == there.Source && !restored.Load() {
					return &feedmill.Error{Kind: feedmill.ErrUnavailable, Type: filesElsewhere, Title: "Elsewhere", Detail: "not here"}
				}
				return nil
			},
		}, succeeds(time.Second))
		b.sleep(5 * leaveFor)
		if runs := e.runner.runs(); len(runs) != 1 || runs[0].source != here.Source {
			t.Errorf("the runs are %+v", runs)
		}
		if got := b.feed(there); got.LastError != nil || got.LastRefresh.State != feedmill.RefreshPending {
			t.Errorf("while others may fetch it the feed has %+v and %+v", got.LastError, got.LastRefresh)
		}
		restored.Store(true)
		b.sleep(2 * leaveFor)
		if runs := e.runner.runs(); len(runs) != 2 || runs[1].source != there.Source {
			t.Errorf("once the files are here the runs are %+v", runs)
		}
		e.halt()
	})
}
