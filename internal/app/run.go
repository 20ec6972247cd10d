package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/feedmill/feedmill/internal/config"
)

// Run opens the service, serves until ctx ends and closes everything. A stop succeeds even
// if the last records could not be written: the next process recovers them, and the last
// log line has the reason.
func Run(ctx context.Context, c *config.Config, log *slog.Logger, version string, out io.Writer) error {
	a, err := Open(ctx, c, log)
	if err != nil {
		if ctx.Err() != nil {
			log.Warn("stopped", "reason", context.Cause(ctx), "error", fmt.Errorf("stopped by a signal before the server was ready: %w", err))
			return nil
		}
		return err
	}
	err = a.Serve(ctx, version, out)
	closing := a.Close()
	switch {
	case err != nil:
		return err
	case ctx.Err() == nil:
		return closing
	}
	a.unwritten.add(closing)
	if err := a.unwritten.err(); err != nil {
		log.Warn("stopped", "reason", context.Cause(ctx), "error", err)
	} else {
		log.Info("stopped", "reason", context.Cause(ctx))
	}
	return nil
}

// unwritten collects the errors of last writes.
type unwritten struct {
	mu   sync.Mutex
	errs []error
}

func (u *unwritten) add(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.errs = append(u.errs, err)
}

// err is why the last writes failed, nil where none did.
func (u *unwritten) err() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	err := errors.Join(u.errs...)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the store did not respond: %w", err)
	}
	return err
}
