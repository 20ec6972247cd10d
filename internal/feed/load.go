package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/model"
)

// loading is data on its way to be a version: it was received as it came, is
// looked at, and written as a table. What the record is to say of it is
// gathered on the way.
type loading struct {
	// before is the feed as it was, without a version for a new one.
	before feedmill.Feed
	// mode says what becomes of the rows that the feed has, and key names the
	// columns of which each value has one row.
	mode    feedmill.FeedMode
	key     []string
	version feedmill.FeedVersion
	refresh feedmill.Refresh
	// reshaped says that the columns are not those of the version before.
	reshaped bool
}

// newLoading begins a try to give a feed its next version. The files are named
// after the try, so that two at the same time have nothing in common.
func newLoading(feed feedmill.Feed, u feedmill.Upload) *loading {
	id := feedmill.NewID(feedmill.PrefixRefresh)
	name := string(feed.ID) + "/" + string(id)
	return &loading{
		before: feed, mode: u.Mode, key: u.Key,
		version: feedmill.FeedVersion{Feed: feed.ID, Number: feed.Version + 1, File: name + ".parquet", Original: name + ".original"},
		refresh: feedmill.Refresh{ID: id, Feed: feed.ID, StartedAt: now()},
	}
}

// load receives an upload and makes a table of it. If it fails, nothing is left.
func (f *Feeds) load(ctx context.Context, l *loading, u feedmill.Upload) error {
	original, err := f.receive(ctx, l.version.Original, u)
	if err != nil {
		return err
	}
	defer original.Close()
	l.refresh.BytesIn = original.Size()
	var saving sync.WaitGroup
	var unsaved error
	saving.Go(func() { unsaved = original.Keep(ctx) })
	err = f.takeTurn(ctx, func() error { return f.model(ctx, l, u, original) })
	saving.Wait()
	if err == nil {
		err = unsaved
	}
	if err != nil {
		return f.drop(l, err)
	}
	l.version.CreatedAt = now()
	l.refresh.State, l.refresh.EndedAt, l.refresh.Version = feedmill.RefreshSucceeded, l.version.CreatedAt, l.version.Number
	return nil
}

// takeTurn does work that only a few may do at the same time.
func (f *Feeds) takeTurn(ctx context.Context, work func() error) error {
	select {
	case f.modelling <- struct{}{}:
		defer func() { <-f.modelling }()
		return work()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// model looks at all of the data and writes it as a table.
func (f *Feeds) model(ctx context.Context, l *loading, u feedmill.Upload, data *incoming) error {
	found, err := f.look(ctx, data, u)
	if err != nil {
		return err
	}
	defer found.Close()
	return f.write(ctx, l, found.schema, found.warnings, found.table)
}

// write writes the rows of a table that was looked at, together with those that
// the feed keeps. If it fails, nothing is left.
func (f *Feeds) write(ctx context.Context, l *loading, schema *model.Schema, warnings []feedmill.Warning, table model.Table) error {
	if l.before.Version > 0 {
		changes := schema.Fit(l.before.Columns)
		l.reshaped = len(changes) > 0
		warnings = append(warnings, changes...)
	}
	v, err := lake.Write(ctx, f.blobs, l.version.File, schema.Columns, schema.Load(ctx, table, model.Loading{}))
	if err != nil {
		return err
	}
	if v, err = f.combine(ctx, l, v); err != nil {
		return err
	}
	l.version.File = v.Blob
	l.version.Columns, l.version.Rows, l.version.Bytes, l.version.ContentHash = v.Columns, v.Rows, v.Bytes, v.ContentHash
	l.version.Warnings = warnings
	l.refresh.RowsIn, l.refresh.RowsStored, l.refresh.Warnings = schema.Rows, schema.Rows, warnings
	return nil
}

// combine puts fresh rows together with those that the feed keeps. The file of
// the fresh ones goes, unless it is all that there is.
func (f *Feeds) combine(ctx context.Context, l *loading, fresh lake.Version) (lake.Version, error) {
	keeps := l.mode != feedmill.ModeReplace && l.before.Version > 0
	if !keeps && len(l.key) == 0 {
		return fresh, nil
	}
	c := lake.Combination{New: &fresh, Columns: fresh.Columns, Key: l.key}
	if keeps {
		old, err := f.store.FeedVersion(ctx, l.before.Workspace, l.before.ID, l.before.Version)
		if err != nil {
			f.remove(fresh.Blob)
			return lake.Version{}, fmt.Errorf("the version before: %w", err)
		}
		c.Old = lakeVersion(old)
	}
	v, err := f.reader.Combine(ctx, strings.TrimSuffix(fresh.Blob, ".parquet")+"-combined.parquet", c)
	if err != nil || v.Blob != fresh.Blob {
		f.remove(fresh.Blob)
	}
	return v, err
}

// drop removes the files of a loading that failed, and answers with the failure.
func (f *Feeds) drop(l *loading, cause error) error {
	f.remove(l.version.File)
	f.remove(l.version.Original)
	return cause
}

// remove removes a file that nothing has, or leaves it to be swept.
func (f *Feeds) remove(name string) {
	if err := f.blobs.Delete(context.Background(), name); err != nil {
		f.log.Warn("a file that nothing has is left to be swept", "file", name, "error", err)
	}
}

// unstored is drop for a loading that the store did not take. Where the store
// cannot say whether it did, the files stay: they are swept if it did not.
func (f *Feeds) unstored(l *loading, cause error) error {
	refused := []error{feedmill.ErrConflict, feedmill.ErrNotFound, feedmill.ErrInvalid, feedmill.ErrIdempotencyKeyUsed}
	if slices.ContainsFunc(refused, func(kind error) bool { return errors.Is(cause, kind) }) {
		return f.drop(l, cause)
	}
	return cause
}
