package feed

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestFloor holds that writers stop when the disk has reached its floor: those that count
// their bytes after a mebibyte, the others soon.
func TestFloor(t *testing.T) {
	var free atomic.Int64
	free.Store(100)
	floor := &Floor{Free: func() (int64, error) { return free.Load(), nil }, Bytes: 50}
	if err := errors.Join(floor.Check(), floor.Take(checkBytes), floor.During(t.Context(), func(ctx context.Context) error { return ctx.Err() })); err != nil {
		t.Fatal(err)
	}
	err := floor.During(t.Context(), func(ctx context.Context) error {
		free.Store(10)
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, feedmill.ErrNoRoom) {
		t.Errorf("work ended with %v", err)
	}
	taken := 0
	for err = nil; err == nil && taken <= checkBytes; taken += 1000 {
		err = floor.Take(1000)
	}
	if !errors.Is(err, feedmill.ErrNoRoom) {
		t.Errorf("%d bytes were taken: %v", taken, err)
	}
	if err := floor.During(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Errorf("work that is done failed with %v", err)
	}
	var none *Floor
	if err := errors.Join(none.Check(), none.Take(1<<40)); err != nil {
		t.Error(err)
	}
}
