package share_test

import (
	"context"
	"errors"
	"testing"

	"github.com/feedmill/feedmill/internal/share"
)

// The goroutines of one work share a turn to hold large values, and others wait for its end.
func TestLarge(t *testing.T) {
	slots := share.NewSlots(1, 1, 8)
	if err := share.Large(t.Context()); err != nil {
		t.Errorf("where nobody counts: %v", err)
	}
	first, endFirst := share.WithLarge(share.For(t.Context(), "a"), slots)
	second, endSecond := share.WithLarge(share.For(t.Context(), "b"), slots)
	for range 3 {
		if err := share.Large(first); err != nil {
			t.Fatal(err)
		}
	}
	if slots.Used() != 1 {
		t.Errorf("%d turns are taken", slots.Used())
	}
	gone, cancel := context.WithCancelCause(second)
	left := errors.New("left")
	cancel(left)
	if err := share.Large(gone); !errors.Is(err, left) {
		t.Errorf("who leaves: %v", err)
	}
	waits := make(chan error)
	go func() { waits <- share.Large(second) }()
	endFirst()
	if err := <-waits; err != nil {
		t.Error(err)
	}
	endSecond()
	if err := share.Large(first); err != nil || slots.Used() != 0 {
		t.Errorf("after the end: %v, %d turns are taken", err, slots.Used())
	}
	never, end := share.WithLarge(t.Context(), nil)
	defer end()
	if err := share.Large(never); !errors.Is(err, share.ErrNotLarge) {
		t.Errorf("work that may not: %v", err)
	}
}
