package database

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedmill/feedmill/internal/share"
)

const (
	// largeRow is from how many bytes on a row waits for a turn while it arrives. Its values are held
	// several times on their way: by the driver, as vectors and encoded.
	largeRow = 8 << 20
	// largeRowTime is how long a row may take that has a turn, which others wait for.
	largeRowTime = 30 * time.Second
)

// RowGate makes rows that turn out to be large while they arrive wait until few others are held. A
// nil gate lets all pass.
type RowGate struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	came atomic.Int64
	// large says that the row has a turn, which is below.
	large    atomic.Bool
	mu       sync.Mutex
	giveBack func()
	slow     *time.Timer
}

// NewRowGate makes a gate for the rows of a statement, and a context for it, which ends where a
// large row takes too long. Close the gate after the statement.
func NewRowGate(ctx context.Context) (*RowGate, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	return &RowGate{ctx: ctx, cancel: cancel}, ctx
}

// Came notes that bytes of a row have arrived, or will. It waits for a turn once they are many.
func (g *RowGate) Came(n int64) error {
	if g == nil || g.came.Add(n) <= largeRow || g.large.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.giveBack != nil {
		return nil
	}
	giveBack, err := share.LargeRow(g.ctx)
	if err != nil {
		return err
	}
	g.giveBack = giveBack
	g.large.Store(true)
	g.slow = time.AfterFunc(largeRowTime, func() {
		g.cancel(Fail(ProblemTimeout, fmt.Sprintf("A row of more than %d MiB took longer than %v to arrive and be stored. Leave out the large field.", largeRow>>20, largeRowTime), nil))
	})
	return nil
}

// Next ends the row: it was handed on.
func (g *RowGate) Next() {
	if g == nil {
		return
	}
	g.came.Store(0)
	if !g.large.Load() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.giveBack != nil {
		g.slow.Stop()
		g.giveBack()
		g.giveBack = nil
	}
	g.large.Store(false)
}

// Close gives back the turn and ends the context.
func (g *RowGate) Close() {
	g.Next()
	g.cancel(nil)
}
