package refresh

import (
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// leaveFor is how long a source is left to the process that has its files before it is checked
// again where they are.
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

// elsewhere reports whether feeds of a source have files that are not here.
func (e *Engine) elsewhere(ctx context.Context, s feedmill.DueSource) bool {
	if e.Elsewhere == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	err := e.Elsewhere(ctx, s.Workspace, s.ID)
	refusal, ok := errors.AsType[*feedmill.Error](err)
	return ok && refusal.Type == filesElsewhere // what else is wrong the run finds out
}

// filesElsewhere is the problem of files that are not in the data folder of this process.
const filesElsewhere = "files-elsewhere"

// leave leaves a source to the process that has its files, whether that runs or not.
func (e *Engine) leave(s feedmill.DueSource) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left[s.ID] = time.Now()
}
