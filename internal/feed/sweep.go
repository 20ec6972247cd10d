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
	for _, step := range []func(context.Context, time.Time) (bool, error){f.GoStale, f.ForgetVersions, f.ForgetRefreshes, f.deleteExpired, join} {
		again, failure := step(ctx, now)
		more, err = more || again, errors.Join(err, failure)
	}
	return more, err
}

// ForgetVersions removes versions that need not be kept, a few at a time, a while
// after they cannot be read any more, so that whoever began to can finish. Their files
// are deleted later; see [Feeds.DeleteUnreferenced].
func (f *Feeds) ForgetVersions(ctx context.Context, now time.Time) (more bool, err error) {
	const step = 50
	files, more, err := f.Store.ForgetVersions(ctx, now.Add(-feedmill.KeepDeletedFor), step)
	if err != nil {
		return false, err
	}
	return more, f.markUnreferenced(ctx, files)
}

// ForgetRefreshes removes refreshes of long ago, a few at a time. The files of rows
// that they rejected are deleted later.
func (f *Feeds) ForgetRefreshes(ctx context.Context, now time.Time) (more bool, err error) {
	const step = 200
	files, more, err := f.Store.ForgetRefreshes(ctx, now.Add(-keepRefreshes), step)
	if err != nil {
		return false, err
	}
	return more, f.markUnreferenced(ctx, files)
}

// markUnreferenced notes files that nothing has, for them to be deleted later. What a
// crash keeps from being noted is found by the next sweep.
func (f *Feeds) markUnreferenced(ctx context.Context, files []feedmill.UnreferencedFile) error {
	marked := files[:0]
	for _, file := range files {
		if file.Bytes < 0 {
			size, err := f.size(ctx, file.Name)
			if errors.Is(err, feedmill.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			file.Bytes = size
		}
		marked = append(marked, file)
	}
	return f.Store.MarkUnreferenced(ctx, marked)
}

// markUnused is markUnreferenced for those of the names that the store finds no use of.
func (f *Feeds) markUnused(ctx context.Context, names []string) error {
	unused, err := f.Store.UnusedFiles(ctx, names)
	if err != nil {
		return fmt.Errorf("find unused files: %w", err)
	}
	files := make([]feedmill.UnreferencedFile, len(unused))
	for i, name := range unused {
		files[i] = feedmill.UnreferencedFile{Name: name, Bytes: -1}
	}
	return f.markUnreferenced(ctx, files)
}

// size is how many bytes a blob has.
func (m *Mill) size(ctx context.Context, name string) (int64, error) {
	blob, err := m.Blobs.Open(ctx, name)
	if err != nil {
		return 0, err
	}
	return blob.Size(), blob.Close()
}

// deleteExpired deletes files that nothing has had for [feedmill.KeepUnreferenced].
func (f *Feeds) deleteExpired(ctx context.Context, _ time.Time) (more bool, err error) {
	wait := feedmill.KeepUnreferenced
	if f.Room.Disk.Check() != nil {
		wait = feedmill.KeepUnreferencedFull
	}
	return f.DeleteUnreferenced(ctx, wait)
}

// DeleteUnreferenced deletes files that nothing has had for so long, a few at a time.
// Where those that wait take more than the quota of their workspace, the oldest go
// sooner.
func (f *Feeds) DeleteUnreferenced(ctx context.Context, wait time.Duration) (more bool, err error) {
	const step = 100
	expired, err := f.Store.ExpiredFiles(ctx, wait, f.Room.Most, step)
	if err != nil || len(expired) == 0 {
		return false, err
	}
	unused, err := f.Store.UnusedFiles(ctx, expired)
	if err != nil {
		return false, err
	}
	for _, name := range unused {
		if err := f.Blobs.Delete(ctx, name); err != nil {
			return false, err
		}
	}
	return len(expired) == step, f.Store.ForgetUnreferenced(ctx, expired)
}

// SweepFiles finds what canceled uploads have left behind: files last written before
// a time that no version has. They are deleted later, like those that a version had.
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
		err := f.markUnused(ctx, names)
		names = names[:0]
		return err
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
