package share

import (
	"context"
	"errors"
	"sync"
)

// ErrNotLarge says that work may not hold large values.
var ErrNotLarge = errors.New("this work cannot contain large values")

type largeKey struct{}

// largeTurn is the right to hold large values, from when it is first needed to the end of the
// work.
type largeTurn struct {
	mu       sync.Mutex
	slots    *Slots // nil where the work may not
	giveBack func()
	ended    bool
}

// WithLarge returns a context for work that may call [Large], and a function that ends
// it. Without slots the work may not hold large values.
func WithLarge(ctx context.Context, slots *Slots) (context.Context, func()) {
	t := &largeTurn{slots: slots}
	return context.WithValue(ctx, largeKey{}, t), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.giveBack != nil {
			t.giveBack()
		}
		t.giveBack, t.ended = nil, true
	}
}

// Large is called before values are held that are so large that few may do so at the same time. It
// waits for a turn, which all goroutines of the work share and keep to its end.
func Large(ctx context.Context) error {
	t, ok := ctx.Value(largeKey{}).(*largeTurn)
	if !ok {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.giveBack != nil || t.ended:
		return nil
	case t.slots == nil:
		return ErrNotLarge
	}
	giveBack, err := t.slots.Take(ctx)
	if err == nil {
		t.giveBack = giveBack
	}
	return err
}

type largeRowsKey struct{}

// WithLargeRows returns a context for work that calls [LargeRow], where few may hold a large row at
// the same time.
func WithLargeRows(ctx context.Context, slots *Slots) context.Context {
	return context.WithValue(ctx, largeRowsKey{}, slots)
}

// LargeRow waits for a turn to hold one large row. Unlike that of [Large] it is given back after the
// row, because the rows of a source come as slowly as the source wants.
func LargeRow(ctx context.Context) (giveBack func(), err error) {
	slots, ok := ctx.Value(largeRowsKey{}).(*Slots)
	if !ok {
		return func() {}, nil
	}
	return slots.Take(ctx)
}
