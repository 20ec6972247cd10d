package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
)

// Pinner pins files.
type Pinner interface {
	Pin(ctx context.Context, id string, lease time.Duration) error
	RenewPin(ctx context.Context, id string, lease time.Duration) error
	Unpin(ctx context.Context, id string) error
}

// Pinned calls do while all files that records name are pinned. If the pin was lost at any time,
// it returns [feedmill.ErrPinLost].
func Pinned(ctx context.Context, by Pinner, id string, lease time.Duration, do func(context.Context) error) (err error) {
	if err := by.Pin(ctx, id, lease); err != nil {
		return fmt.Errorf("pin the files: %w", err)
	}
	working, cancel := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		renew(working, by, id, lease, cancel)
	}()
	err = do(working)
	lost := context.Cause(working)
	cancel(nil)
	<-renewed
	// What ended the work is the reason, and not that it was ended.
	if errors.Is(lost, feedmill.ErrPinLost) {
		err = lost
	}
	if err == nil {
		err = by.RenewPin(ctx, id, lease)
	}
	if errors.Is(err, feedmill.ErrPinLost) {
		return fmt.Errorf("%w; run the command again", err)
	}
	const unpinTime = 5 * time.Second
	ending, end := context.WithTimeout(context.WithoutCancel(ctx), unpinTime)
	defer end()
	_ = by.Unpin(ending, id) // else it expires
	return err
}

// renew renews a pin until the context ends. It cancels the work when the pin is lost.
func renew(ctx context.Context, by Pinner, id string, lease time.Duration, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(lease / 10)
	defer tick.Stop()
	until := time.Now().Add(lease)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		began := time.Now()
		switch err := by.RenewPin(ctx, id, lease); {
		case err == nil:
			until = began.Add(lease)
		case errors.Is(err, feedmill.ErrPinLost), ctx.Err() == nil && time.Now().After(until):
			cancel(fmt.Errorf("%w (%w)", feedmill.ErrPinLost, err))
			return
		}
	}
}
