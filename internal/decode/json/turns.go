package json

import (
	"errors"
	"math"
	"sync"
)

// errSuperseded is why a goroutine gives up that waits for blocks of which one
// has failed. It is never the answer of a pass.
var errSuperseded = errors.New("an earlier block failed")

// turns let the goroutines of a pass do in the order of the data what has to
// be done in order. Blocks are claimed in order, so that the first of those
// under way never waits.
type turns struct {
	mu   sync.Mutex
	cond *sync.Cond
	// next is the first block that is not read yet, and rows how many rows
	// all blocks before it have. Only the goroutine whose turn it is changes rows.
	next int
	rows int64
	// failed is the first block that failed with err, and else math.MaxInt.
	failed int
	err    error
}

func newTurns(rows int64) *turns {
	t := &turns{failed: math.MaxInt, rows: rows}
	t.cond = sync.NewCond(&t.mu)
	return t
}

// wait returns when all blocks before the given one are read. It reports false
// where one of them failed.
func (t *turns) wait(block int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next != block && t.failed > block {
		t.cond.Wait()
	}
	return t.next == block && t.failed > block
}

// done ends the turn of the next block, which has the given rows.
func (t *turns) done(rows int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	t.rows += rows
	t.cond.Broadcast()
}

// fail notes that a block failed. The error of the first block in the data
// counts, whichever was noticed first.
func (t *turns) fail(block int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if block < t.failed {
		t.failed, t.err = block, err
	}
	t.cond.Broadcast()
}

// over reports whether a block before the given one failed.
func (t *turns) over(block int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed < block
}
