package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/feedmill/feedmill"
)

// keepRefreshes is how long it is known what a refresh did.
const keepRefreshes = 90 * 24 * time.Hour

// Tend does for feeds what has to be done now and then, a little of each: it makes those
// stale that had no new data, joins small files, and forgets what need not be kept. What
// fails keeps nothing else from being done.
func (f *Feeds) Tend(ctx context.Context, now time.Time) (more bool, err error) {
	join := func(ctx context.Context, _ time.Time) (bool, error) { return f.JoinFiles(ctx) }
	for _, step := range []func(context.Context, time.Time) (bool, error){f.GoStale, f.ForgetVersions, f.ForgetRefreshes, join} {
		again, failure := step(ctx, now)
		more, err = more || again, errors.Join(err, failure)
	}
	return more, err
}

// ForgetVersions removes versions that need not be kept, a few at a time: first
// from the store, and then their files. They go a while after they cannot be read
// any more, so that whoever began to can finish.
func (f *Feeds) ForgetVersions(ctx context.Context, now time.Time) (more bool, err error) {
	const step = 50
	files, more, err := f.Store.ForgetVersions(ctx, now.Add(-feedmill.KeepDeletedFor), step)
	if err != nil {
		return false, err
	}
	return more, f.deleteFiles(ctx, files)
}

// ForgetRefreshes removes refreshes of long ago, a few at a time, and the files
// of rows that they rejected.
func (f *Feeds) ForgetRefreshes(ctx context.Context, now time.Time) (more bool, err error) {
	const step = 200
	files, more, err := f.Store.ForgetRefreshes(ctx, now.Add(-keepRefreshes), step)
	if err != nil {
		return false, err
	}
	return more, f.deleteFiles(ctx, files)
}

func (f *Feeds) deleteFiles(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := f.Blobs.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// SweepFiles removes what uploads that were broken off have left behind: files
// last written before a time that no version has.
func (f *Feeds) SweepFiles(ctx context.Context, before time.Time) error {
	if _, err := f.Blobs.Sweep(ctx, before); err != nil {
		return err
	}
	if err := f.SweepStages(now()); err != nil {
		return err
	}
	const step = 500
	var names []string
	flush := func() error {
		unused, err := f.Store.UnusedFiles(ctx, names)
		if err != nil {
			return fmt.Errorf("find files that nothing has: %w", err)
		}
		names = names[:0]
		return f.deleteFiles(ctx, unused)
	}
	for name, err := range f.Blobs.List(ctx, before) {
		if err != nil {
			return err
		}
		if names = append(names, name); len(names) == step {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return flush()
}
