package feed

import (
	"context"
	"sync"

	"github.com/feedmill/feedmill"
)

// feedQueue orders the uploads that add rows to a feed: each combines its rows
// with the version that the one before it made. A waiting upload keeps its slot
// among the uploads of its workspace, which bounds the queue.
type feedQueue struct {
	mu sync.Mutex
	// last is closed when the last upload in the queue of a feed has ended.
	last map[feedmill.ID]chan struct{}
}

// wait returns when it is the caller's turn to add rows to a feed. The caller
// must call done to let the next one proceed.
func (q *feedQueue) wait(ctx context.Context, feed feedmill.ID) (done func(), err error) {
	mine := make(chan struct{})
	q.mu.Lock()
	before := q.last[feed]
	if q.last == nil {
		q.last = make(map[feedmill.ID]chan struct{})
	}
	q.last[feed] = mine
	q.mu.Unlock()
	release := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.last[feed] == mine {
			delete(q.last, feed)
		}
		close(mine)
	}
	if before == nil {
		return release, nil
	}
	select {
	case <-before:
		return release, nil
	case <-ctx.Done():
		// The next upload still has to wait for the one before.
		go func() { <-before; release() }()
		return nil, context.Cause(ctx)
	}
}
