package refresh

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// leaveFor is how long a source is left to other processes before it is checked again
// whether there are any.
const leaveFor = time.Minute

// ours are the sources that are not left to other processes. What another process has taken
// meanwhile is forgotten. The engine is locked.
func (e *Engine) ours(due []feedmill.DueSource) (ours []feedmill.DueSource) {
	if len(e.left) == 0 {
		return due
	}
	left := make(map[feedmill.ID]time.Time)
	for _, s := range due {
		since, ok := e.left[s.ID]
		if ok {
			left[s.ID] = since
		}
		if !ok || time.Since(since) >= leaveFor {
			ours = append(ours, s)
		}
	}
	e.left = left
	return ours
}

// elsewhere is nil, or the error of a source whose feeds have files that are not here.
func (e *Engine) elsewhere(ctx context.Context, s feedmill.DueSource) error {
	if e.Elsewhere == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err := e.Elsewhere(ctx, s.Workspace, s.ID)
	if refusal, ok := errors.AsType[*feedmill.Error](err); !ok || refusal.Type != filesElsewhere {
		return nil // what else is wrong the run finds out
	}
	return err
}

// filesElsewhere is the problem of files that are not in the data folder of this process.
const filesElsewhere = "files-elsewhere"

// leave leaves a source to other processes. It returns false if there are none: then the
// run fails, and lastError reports why nothing is fetched.
func (e *Engine) leave(ctx context.Context, s feedmill.DueSource) bool {
	e.mu.Lock()
	since, before := e.left[s.ID]
	e.mu.Unlock()
	if before && time.Since(since) >= leaveFor {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		if alone, err := e.Alone(ctx); err == nil && alone {
			return false
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left[s.ID] = time.Now()
	return true
}
