package database

import (
	"context"
	"fmt"
	"sync"
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

	mu       sync.Mutex
	came     int64
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
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.came += n; g.came <= largeRow || g.giveBack != nil {
		return nil
	}
	giveBack, err := share.LargeRow(g.ctx)
	if err != nil {
		return err
	}
	g.giveBack = giveBack
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
	g.mu.Lock()
	defer g.mu.Unlock()
	g.came = 0
	if g.giveBack != nil {
		g.slow.Stop()
		g.giveBack()
		g.giveBack = nil
	}
}

// Close gives back the turn and ends the context.
func (g *RowGate) Close() {
	g.Next()
	g.cancel(nil)
}
