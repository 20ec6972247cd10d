package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api"
	"github.com/feedmill/feedmill/internal/decode"
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
func newLoading(feed feedmill.Feed, u api.Upload) *loading {
	id := feedmill.NewID(feedmill.PrefixRefresh)
	name := string(feed.ID) + "/" + string(id)
	return &loading{
		before: feed, mode: u.Mode, key: u.Key,
		version: feedmill.FeedVersion{Feed: feed.ID, Number: feed.Version + 1, File: name + ".parquet", Original: name + ".original"},
		refresh: feedmill.Refresh{ID: id, Feed: feed.ID, StartedAt: now()},
	}
}

// load receives an upload and makes a table of it. If it fails, nothing is left.
func (f *feeds) load(ctx context.Context, l *loading, u api.Upload) error {
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
func (f *feeds) takeTurn(ctx context.Context, work func() error) error {
	select {
	case f.modelling <- struct{}{}:
		defer func() { <-f.modelling }()
		return work()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// model looks at all of the data and writes it as a table.
func (f *feeds) model(ctx context.Context, l *loading, u api.Upload, data *incoming) error {
	found, err := f.look(ctx, data, u)
	if err != nil {
		return err
	}
	defer found.Close()
	return f.write(ctx, l, found.schema, found.warnings, found.table)
}

// write writes the rows of a table that was looked at, together with those that
// the feed keeps. If it fails, nothing is left.
func (f *feeds) write(ctx context.Context, l *loading, schema *model.Schema, warnings []feedmill.Warning, table model.Table) error {
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
func (f *feeds) combine(ctx context.Context, l *loading, fresh lake.Version) (lake.Version, error) {
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

// table is data that can be read, and what must be closed after it.
type table struct {
	model.Table
	io.Closer
}

// openTable finds the records of the data in its format.
func openTable(ctx context.Context, data decode.Source, u api.Upload, temp string) (table, error) {
	options := decode.JSONOptions{Path: u.Path, Explode: u.Explode, Temp: temp}
	open := decode.OpenJSON
	switch u.Format {
	case "ndjson":
		open = decode.OpenNDJSON
		fallthrough
	case "json":
		json, err := open(ctx, data, options)
		return table{json, json}, err
	}
	text, err := decode.OpenText(ctx, data, temp)
	if err != nil {
		return table{}, err
	}
	csv, err := decode.OpenCSV(ctx, text, decode.CSVOptions{Delimiter: delimiterOf(u.Format)})
	if err != nil {
		return table{}, errors.Join(err, text.Close())
	}
	return table{csv, text}, nil
}

// delimiterOf is what stands between the fields of a format, or 0 where the
// data says so.
func delimiterOf(format string) byte {
	if format == "tsv" {
		return '\t'
	}
	return 0
}

// drop removes the files of a loading that failed, and answers with the failure.
func (f *feeds) drop(l *loading, cause error) error {
	f.remove(l.version.File)
	f.remove(l.version.Original)
	return cause
}

// remove removes a file that nothing has, or leaves it to be swept.
func (f *feeds) remove(name string) {
	if err := f.blobs.Delete(context.Background(), name); err != nil {
		f.log.Warn("a file that nothing has is left to be swept", "file", name, "error", err)
	}
}

// unstored is drop for a loading that the store did not take. Where the store
// cannot say whether it did, the files stay: they are swept if it did not.
func (f *feeds) unstored(l *loading, cause error) error {
	refused := []error{feedmill.ErrConflict, feedmill.ErrNotFound, feedmill.ErrInvalid, feedmill.ErrIdempotencyKeyUsed}
	if slices.ContainsFunc(refused, func(kind error) bool { return errors.Is(cause, kind) }) {
		return f.drop(l, cause)
	}
	return cause
}
