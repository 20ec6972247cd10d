package input

import (
	"errors"
	"math"
	"sync"
)

// ErrSuperseded is why a goroutine gives up that waits for blocks of which one
// has failed. It is never the answer of a pass.
var ErrSuperseded = errors.New("an earlier block failed")

// Turns let the goroutines of a pass do in the order of the data what has to
// be done in order. Blocks are claimed in order, so that the first of those
// under way never waits.
type Turns struct {
	// Rows is how many rows all blocks have before the one whose turn it is. Only
	// the goroutine that has the turn looks at it.
	Rows int64

	mu   sync.Mutex
	cond *sync.Cond
	// next is the first block that is not read yet.
	next int
	// failed is the first block that failed with err, and else math.MaxInt.
	failed int
	err    error
}

// NewTurns returns the turns of a pass whose first row has a number.
func NewTurns(rows int64) *Turns {
	t := &Turns{failed: math.MaxInt, Rows: rows}
	t.cond = sync.NewCond(&t.mu)
	return t
}

// Wait returns when all blocks before the given one are read. It reports false
// where one of them failed.
func (t *Turns) Wait(block int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next != block && t.failed > block {
		t.cond.Wait()
	}
	return t.next == block && t.failed > block
}

// Done ends the turn of the next block, which has the given rows.
func (t *Turns) Done(rows int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	t.Rows += rows
	t.cond.Broadcast()
}

// Fail notes that a block failed. The error of the first block in the data
// counts, whichever was noticed first.
func (t *Turns) Fail(block int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if block < t.failed {
		t.failed, t.err = block, err
	}
	t.cond.Broadcast()
}

// Over reports whether a block before the given one failed.
func (t *Turns) Over(block int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed < block
}

// Err is why a block failed, or nil. It is asked for after the pass.
func (t *Turns) Err() error { return t.err }
