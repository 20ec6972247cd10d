package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"
)

// maxEvent is how long a line of a stream of events may be.
const maxEvent = 4 << 20

// watch hands over what one connection brings as server-sent events, until next says
// that it is enough. A connection that ends before is an error.
func watch[T any](ctx context.Context, c *Client, r request, next func(T) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(maxSilence, func() { cancel(errSilent) })
	defer silence.Stop()

	header := map[string]string{"Accept": "text/event-stream"}
	maps.Copy(header, r.header)
	r.header = header
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
		var value T
		if err := json.Unmarshal([]byte(data), &value); err != nil {
			return fmt.Errorf("%s %s: the response cannot be read: %w", r.method, r.path, err)
		}
		if !next(value) {
			return nil
		}
	}
	err = lines.Err()
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s %s: %w", r.method, r.path, orCause(ctx, err))
}
