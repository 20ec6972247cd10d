package jsonpath

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/feedmill/feedmill/internal/share"
)

// ErrTooMuchWork is what an evaluation answers when a path, such as one with
// filters that search the whole document for each value, goes past its bound.
var ErrTooMuchWork = errors.New("the path takes too many steps on this document")

const (
	// baseSteps is how much work there is for data of any size, and byteSteps
	// how much more for each byte of it.
	baseSteps = 1 << 25
	byteSteps = 32
	// takenSteps is how much of it an evaluation takes at once. It looks whether
	// anybody still waits whenever it takes more.
	takenSteps = 1 << 14
	// textBytes is how many bytes of a text are looked at in one step.
	textBytes = 16
)

// Work is how much the evaluations of paths over one piece of data may still do:
// a step is a value that is visited, or a few bytes of a text that are looked at.
// It ends with its context. Goroutines may share it.
type Work struct {
	ctx  context.Context
	left atomic.Int64
}

// NewWork allows for the work on some bytes of data.
func NewWork(ctx context.Context, bytes int64) *Work {
	w := &Work{ctx: ctx}
	w.left.Store(baseSteps)
	w.Allow(bytes)
	return w
}

// Allow allows for the work on more data.
func (w *Work) Allow(bytes int64) { w.left.Add(byteSteps * bytes) }

// reserve takes some of the work, at least so many steps.
func (w *Work) reserve(least int64) (int64, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	n := max(least, takenSteps)
	if w.left.Add(-n) < 0 {
		w.left.Add(n)
		return 0, ErrTooMuchWork
	}
	return n, nil
}

// evaluation is one run over a tree.
type evaluation struct {
	tree *Tree
	work *Work
	// left is how many steps it has taken from the work and not made.
	left int64
	long share.Long
}

// end gives back what was not used.
func (e *evaluation) end() {
	e.long.End()
	e.work.left.Add(e.left)
	e.left = 0
}

// spend counts steps, and fails past the bound and when nobody waits any more.
func (e *evaluation) spend(n int) error {
	if e.left -= int64(n); e.left >= 0 {
		return nil
	}
	e.long.Step()
	more, err := e.work.reserve(-e.left)
	e.left += more
	return err
}

// spendText counts the steps of looking at so many bytes of a text.
func (e *evaluation) spendText(bytes int) error { return e.spend(1 + bytes/textBytes) }
