package feed

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/feedmill/feedmill"
)

// Floor keeps some bytes of the disk free: whatever writes feeds stops when it is
// reached. A nil Floor has no bound.
type Floor struct {
	// Free returns how many bytes of the disk are free, of which Bytes stay so.
	Free  func() (int64, error)
	Bytes int64
	// written counts bytes since the disk was last checked.
	written atomic.Int64
}

const (
	// checkBytes is after how many bytes that all writers have written together the disk is
	// checked, and checkEvery how often while something is done that writes by itself.
	checkBytes = 1 << 20
	checkEvery = 100 * time.Millisecond
)

// Check fails where the disk has reached the floor.
func (f *Floor) Check() error {
	if f == nil || f.Bytes <= 0 {
		return nil
	}
	free, err := f.Free()
	if err != nil {
		return fmt.Errorf("free space of the disk: %w", err)
	}
	if free < f.Bytes {
		return &feedmill.Error{
			Kind: feedmill.ErrNoRoom,
			Detail: fmt.Sprintf("The disk has %d bytes free; the server keeps %d bytes free (minFreeDisk). "+
				"Nothing was stored. Retry after the operator frees disk space; deliveries continue.", free, f.Bytes),
		}
	}
	return nil
}

// Take is called before bytes are written, and fails where the disk has reached the floor.
func (f *Floor) Take(n int64) error {
	if f == nil || f.written.Add(n) < checkBytes {
		return nil
	}
	f.written.Store(0)
	return f.Check()
}

// During does work that writes to disk, and cancels it when the disk has reached the
// floor. The error is then that of the floor.
func (f *Floor) During(ctx context.Context, work func(context.Context) error) error {
	if f == nil || f.Bytes <= 0 {
		return work(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var check *time.Timer
	check = time.AfterFunc(time.Hour, func() {
		if err := f.Check(); errors.Is(err, feedmill.ErrNoRoom) {
			cancel(err)
			return
		}
		check.Reset(checkEvery)
	})
	defer check.Stop()
	check.Reset(checkEvery)
	err := work(ctx)
	if full := context.Cause(ctx); err != nil && errors.Is(full, feedmill.ErrNoRoom) {
		return full
	}
	return err
}
