package refresh

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// TestFilesElsewhereAreLeft holds that a process leaves sources whose feeds have files
// elsewhere to others, and says why nothing is fetched once there are none.
func TestFilesElsewhereAreLeft(t *testing.T) {
	onBench(t, func(b *bench) {
		there, here := b.source(b.ws, "h", never), b.source(b.ws, "h", never)
		var alone atomic.Bool
		e := b.start(Options{
			Elsewhere: func(_ context.Context, _, source feedmill.ID) error {
				if source == there.Source {
					return &feedmill.Error{Kind: feedmill.ErrUnavailable, Type: filesElsewhere, Title: "Elsewhere", Detail: "not here"}
				}
				return nil
			},
			Alone: func(context.Context) (bool, error) { return alone.Load(), nil },
		}, succeeds(time.Second))
		b.sleep(5 * leaveFor)
		if runs := e.runner.runs(); len(runs) != 1 || runs[0].source != here.Source {
			t.Errorf("the runs are %+v", runs)
		}
		if got := b.feed(there); got.LastError != nil || got.LastRefresh.State != feedmill.RefreshPending {
			t.Errorf("while others may fetch it the feed has %+v and %+v", got.LastError, got.LastRefresh)
		}
		alone.Store(true)
		b.sleep(2 * leaveFor)
		if got := b.feed(there); got.LastError == nil || got.LastError.Type != "/problems/files-elsewhere" || got.LastError.Detail != "not here" {
			t.Errorf("where nobody else is the feed has %+v", got.LastError)
		}
		if runs := e.runner.runs(); len(runs) != 1 {
			t.Errorf("it was fetched: %+v", runs)
		}
		e.halt()
	})
}
