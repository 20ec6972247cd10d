package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// maxEvent is how long a line of a stream of events may be.
const maxEvent = 4 << 20

// WatchRefresh follows a refresh: it goes through how far it has come, at once
// and whenever something has changed, up to how it ended. A connection that
// breaks before is made again, until several in a row have brought nothing.
func (c *Client) WatchRefresh(ctx context.Context, feed, id string) iter.Seq2[Refresh, error] {
	return func(yield func(Refresh, error) bool) {
		for failed := 0; ; {
			var last Refresh
			err := c.watch(ctx, refreshPath(feed, id), func(r Refresh) bool {
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

// watch hands over what one connection brings, until next says that it is
// enough. A connection that ends before is an error.
func (c *Client) watch(ctx context.Context, path string, next func(Refresh) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(maxSilence, func() { cancel(errSilent) })
	defer silence.Stop()

	r := request{method: http.MethodGet, path: path, header: map[string]string{"Accept": "text/event-stream"}}
	resp, err := c.unhurried().try(ctx, r)
	if err != nil {
		return orCause(ctx, err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		silence.Reset(maxSilence)
		// Each event has its data on one line; what it is called the data says too.
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var refresh Refresh
		if err := json.Unmarshal([]byte(data), &refresh); err != nil {
			return fmt.Errorf("%s %s: the answer cannot be read: %w", r.method, r.path, err)
		}
		if !next(refresh) {
			return nil
		}
	}
	err = lines.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s %s: %w", r.method, r.path, orCause(ctx, err))
}
