package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
)

// deletionStore removes workspaces, a little at a time. Every step can be repeated, so a process
// that starts after a crash continues.
type deletionStore interface {
	ClaimDeletions(ctx context.Context, holder string, lease time.Duration) ([]feedmill.Workspace, error)
	MeasureDeletion(ctx context.Context, id feedmill.ID) error
	CountDeleted(ctx context.Context, id feedmill.ID, holder string, n int64, lease time.Duration) error
	SubscriptionsToRemove(ctx context.Context, id feedmill.ID, limit int) ([]feedmill.Subscription, error)
	RemoveDeliveries(ctx context.Context, id feedmill.ID, after string, limit int) (next string, n int64, err error)
	RemoveRows(ctx context.Context, id feedmill.ID, holder string, late bool, limit int, lease time.Duration) (int64, error)
	RemovingFiles(ctx context.Context, id feedmill.ID, limit int) (names []string, left bool, err error)
	RemovedFiles(ctx context.Context, id feedmill.ID, holder string, names []string, lease time.Duration) error
	EndDeletion(ctx context.Context, id feedmill.ID, holder string) error
}

const (
	// deletionLease is how long a replica may be silent before another one continues its
	// deletions.
	deletionLease = 30 * time.Second
	// deletionGrace is how long a workspace is kept empty before its record is removed. Other
	// replicas accept its credentials for another second, and what they accepted is written by then.
	deletionGrace = 10 * time.Second
	// deletionStep is how many rows one transaction removes, and deletionWindow how many
	// deliveries it scans.
	deletionStep, deletionWindow = 500, 2000
)

// deletion removes workspaces in the background.
type deletion struct {
	app    *App
	feeds  *feeds
	events *events
	// holder is the name of this process in leases.
	holder string
}

// run removes workspaces until ctx ends.
func (d *deletion) run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		claimed, err := d.app.store.ClaimDeletions(ctx, d.holder, deletionLease)
		for _, w := range claimed {
			if err == nil {
				err = d.remove(ctx, w)
			}
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, feedmill.ErrConflict) {
			d.app.log.Warn("deleting a workspace failed; will retry in a second", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// remove removes everything of a workspace that is there now, and the workspace itself once it
// has been empty for long enough.
func (d *deletion) remove(ctx context.Context, w feedmill.Workspace) error {
	d.events.filters.Forget(w.ID)
	if w.Deleting.Total == 0 {
		if err := d.app.store.MeasureDeletion(ctx, w.ID); err != nil {
			return fmt.Errorf("count the records of a workspace: %w", err)
		}
	}
	if err := d.endSubscriptions(ctx, w.ID); err != nil {
		return err
	}
	late := time.Since(w.Deleting.Since) >= deletionGrace
	removed, err := d.removeDeliveries(ctx, w.ID)
	if err != nil {
		return err
	}
	for {
		n, err := d.app.store.RemoveRows(ctx, w.ID, d.holder, late, deletionStep, deletionLease)
		if err != nil {
			return fmt.Errorf("remove the records of a workspace: %w", err)
		}
		if n == 0 {
			break
		}
		removed += n
		if err := breathe(ctx); err != nil {
			return err
		}
	}
	left, err := d.removeFiles(ctx, w.ID)
	if err != nil || left || !late || removed > 0 {
		return err
	}
	if err := d.app.store.EndDeletion(ctx, w.ID, d.holder); err != nil {
		return fmt.Errorf("remove the record of a workspace: %w", err)
	}
	d.app.log.Info("deleted a workspace", "workspace", w.ID)
	return nil
}

// endSubscriptions deletes subscriptions and listeners, so that nothing is sent any more.
func (d *deletion) endSubscriptions(ctx context.Context, id feedmill.ID) error {
	for {
		subs, err := d.app.store.SubscriptionsToRemove(ctx, id, deletionStep)
		if err != nil || len(subs) == 0 {
			return err
		}
		for _, sub := range subs {
			end := d.app.store.DeleteSubscription
			if sub.Listening() {
				end = d.app.store.DeleteListener
			}
			if err := end(ctx, id, sub.ID, time.Now().UTC()); err != nil && !errors.Is(err, feedmill.ErrNotFound) {
				return fmt.Errorf("end a subscription of a workspace: %w", err)
			}
			d.events.dispatcher.Changed(sub.ID)
			if sub.Listening() {
				d.events.listeners.Removed(sub.ID)
			}
		}
		if err := d.app.store.CountDeleted(ctx, id, d.holder, 0, deletionLease); err != nil {
			return err
		}
	}
}

func (d *deletion) removeDeliveries(ctx context.Context, id feedmill.ID) (removed int64, err error) {
	for after := ""; ; {
		next, n, err := d.app.store.RemoveDeliveries(ctx, id, after, deletionWindow)
		if err != nil {
			return removed, fmt.Errorf("remove the deliveries of a workspace: %w", err)
		}
		removed += n
		if next == "" {
			return removed, nil
		}
		if after = next; n == 0 {
			continue
		}
		if err := d.app.store.CountDeleted(ctx, id, d.holder, 0, deletionLease); err != nil {
			return removed, err
		}
		if err := breathe(ctx); err != nil {
			return removed, err
		}
	}
}

// removeFiles deletes files whose records are removed. It reports whether files are left for
// the end of a backup.
func (d *deletion) removeFiles(ctx context.Context, id feedmill.ID) (left bool, err error) {
	const step = 100
	for {
		names, left, err := d.app.store.RemovingFiles(ctx, id, step)
		if err != nil || len(names) == 0 {
			return left, err
		}
		for _, name := range names {
			if err := d.feeds.files.Delete(ctx, name); err != nil {
				return false, fmt.Errorf("delete a file of a workspace: %w", err)
			}
		}
		if err := d.app.store.RemovedFiles(ctx, id, d.holder, names, deletionLease); err != nil {
			return false, err
		}
	}
}

// breathe lets other writers go first for a moment.
func breathe(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(5 * time.Millisecond):
		return nil
	}
}
