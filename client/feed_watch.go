package client

import (
	"context"
	"iter"
	"math/rand/v2"
	"net/http"
	"time"
)

// WatchRefresh follows a refresh: it goes through how far it has come, at once
// and whenever something has changed, up to how it ended. A connection that
// breaks before is made again, until several in a row have brought nothing.
func (c *Client) WatchRefresh(ctx context.Context, feed, id string) iter.Seq2[Refresh, error] {
	return func(yield func(Refresh, error) bool) {
		for failed := 0; ; {
			var last Refresh
			err := watch(ctx, c, request{method: http.MethodGet, path: refreshPath(feed, id)}, func(r Refresh) bool {
				last, failed = r, 0
				return yield(r, nil) && !r.Ended()
			})
			if err == nil {
				return
			}
			failed++
			pause, again := comeBack(err, false)
			if !again || failed >= c.Tries || ctx.Err() != nil {
				yield(last, err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(max(pause, firstWait<<(failed-1)-rand.N(firstWait/2))):
			}
		}
	}
}
