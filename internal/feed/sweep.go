package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	abandon := func(ctx context.Context, _ time.Time) (bool, error) { return f.abandonObjects(ctx, "") }
	for _, step := range []func(context.Context, time.Time) (bool, error){f.nameTables, f.forgetTables, f.GoStale, f.ForgetVersions, f.ForgetRefreshes, f.forgetBodies, f.forgetOldStages, abandon, f.deleteExpired, f.forgetObjects, join} {
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

// markUnreferenced records that nothing has some files, so that they are deleted later. What a
// crash keeps from being recorded is found by the next sweep.
func (f *Feeds) markUnreferenced(ctx context.Context, files []feedmill.UnreferencedFile) error {
	marked, _, err := f.measure(ctx, files)
	if err != nil {
		return err
	}
	return f.Store.MarkUnreferenced(ctx, marked)
}

// measure returns the files with their sizes, and the names of those that do not exist.
func (f *Feeds) measure(ctx context.Context, files []feedmill.UnreferencedFile) (measured []feedmill.UnreferencedFile, missing []string, err error) {
	for _, file := range files {
		if file.Bytes < 0 {
			size, err := f.size(ctx, file.Name)
			if errors.Is(err, feedmill.ErrNotFound) {
				missing = append(missing, file.Name)
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			file.Bytes = size
		}
		measured = append(measured, file)
	}
	return measured, missing, nil
}

// unmeasured are files whose sizes are not known.
func unmeasured(names []string) []feedmill.UnreferencedFile {
	files := make([]feedmill.UnreferencedFile, len(names))
	for i, name := range names {
		files[i] = feedmill.UnreferencedFile{Name: name, Bytes: -1}
	}
	return files
}

// size is how many bytes a blob has.
func (m *Mill) size(ctx context.Context, name string) (int64, error) {
	return m.Blobs.Size(ctx, name)
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
// sooner. Several replicas may do this at the same time.
func (f *Feeds) DeleteUnreferenced(ctx context.Context, wait time.Duration) (more bool, err error) {
	const step = 100
	names, err := f.Store.BeginDeleting(ctx, wait, f.Room.Most, step)
	if err != nil || len(names) == 0 {
		return false, err
	}
	for _, name := range names {
		if err := f.Blobs.Delete(ctx, name); err != nil {
			return false, err
		}
	}
	return len(names) == step, f.Store.EndDeleting(ctx, names)
}

// forgetObjects removes the rows of files that were deleted long ago.
func (f *Feeds) forgetObjects(ctx context.Context, _ time.Time) (more bool, err error) {
	const step = 500
	n, err := f.Store.ForgetObjects(ctx, feedmill.KeepDeletedObject, step)
	return n == step, err
}

// AbandonFiles makes files unreferenced that a holder was writing when it ended.
func (f *Feeds) AbandonFiles(ctx context.Context, holder string) error {
	for {
		if more, err := f.abandonObjects(ctx, holder); err != nil || !more {
			return err
		}
	}
}

// abandonObjects makes files unreferenced whose writers have lost their lease, and those of a
// holder that is gone.
func (f *Feeds) abandonObjects(ctx context.Context, gone string) (more bool, err error) {
	const step = 100
	names, err := f.Store.AbandonedObjects(ctx, feedmill.ObjectLease, gone, step)
	if err != nil || len(names) == 0 {
		return false, err
	}
	written, missing, err := f.measure(ctx, unmeasured(names))
	if err != nil {
		return false, err
	}
	if err := f.Store.AbandonObjects(ctx, written); err != nil {
		return false, err
	}
	for _, name := range missing {
		if err := f.Store.ForgetObject(ctx, name); err != nil {
			return false, err
		}
	}
	return len(names) == step, nil
}

// SweepFiles records files without a row, which earlier releases and lost records leave
// behind: live if a record has them, and else unreferenced. It also finds the live files that no record has
// any more, such as exports of deleted versions, and removes temporary files
// and stages that were last written before a time.
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
		unknown, err := f.Store.UnknownObjects(ctx, names)
		names = names[:0]
		if err != nil {
			return fmt.Errorf("find files without a record: %w", err)
		}
		found, _, err := f.measure(ctx, unmeasured(unknown))
		if err != nil {
			return err
		}
		return f.Store.FoundObjects(ctx, found)
	}
	for name, err := range f.Blobs.List(ctx) {
		if err != nil {
			return err
		}
		if !sweepable(name) {
			continue
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

// sweepable reports whether a name is one of the files of feeds: below the id of a feed, or below
// privateFolder and the id of a workspace. Other files in the bucket are not ours: those of other
// programs, backups, and the files of a store whose prefix is below that of this one.
func sweepable(name string) bool {
	if rest, ok := strings.CutPrefix(name, privateFolder); ok {
		return strings.HasPrefix(rest, feedmill.PrefixWorkspace+"_")
	}
	return strings.HasPrefix(name, feedmill.PrefixDataFeed+"_")
}

// privateFolder begins the names of files that are not tables, such as previews.
const privateFolder = "private/"
