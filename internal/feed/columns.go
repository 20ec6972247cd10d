package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/lake"
)

// ChangeColumns changes what columns of a feed are called and how they are shown, at
// once, and their types: of an upload at once as well, by modelling it anew, and of a
// feed that fetches its data with its next refresh.
func (f *Feeds) ChangeColumns(ctx context.Context, workspace, id feedmill.ID, changes []feedmill.ColumnChange) (feedmill.Feed, error) {
	before, err := f.Store.Feed(ctx, workspace, id)
	if err != nil {
		return feedmill.Feed{}, err
	}
	if before.Version == 0 {
		return feedmill.Feed{}, errNoColumns
	}
	wanted := before
	if err := wanted.Relabel(changes); err != nil {
		return feedmill.Feed{}, err
	}
	retypes := awaitsTypes(wanted)
	for i, c := range wanted.Columns {
		retypes = retypes || c.Fixed && c.OnMisfit != before.Columns[i].OnMisfit
	}
	relabel := func(feed *feedmill.Feed) error {
		feed.UpdatedAt = now()
		return feed.Relabel(changes)
	}
	if retypes && !before.Type.HasSource() {
		return f.retype(ctx, before, changes, relabel)
	}
	return f.Store.ChangeFeed(ctx, workspace, id, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		if err := relabel(feed); err != nil {
			return nil, nil, err
		}
		events, err := f.Events.tell(*feed, feedmill.SourceNews{Kind: feedmill.NewsUpdated, Fields: []string{"columns"}})
		return nil, events, err
	})
}

var errNoColumns = &feedmill.Error{Kind: feedmill.ErrConflict, Type: "no-data", Detail: "The feed has no columns yet. Change them after its first refresh."}

// retype makes a version of an upload with other types.
func (f *Feeds) retype(ctx context.Context, before feedmill.Feed, changes []feedmill.ColumnChange, relabel func(*feedmill.Feed) error) (feedmill.Feed, error) {
	if err := f.Room.Disk.Check(); err != nil {
		return feedmill.Feed{}, err
	}
	if _, _, err := f.checkStored(ctx, before.Workspace, feedmill.ErrConflict); err != nil {
		return feedmill.Feed{}, err
	}
	l := newLoading(ctx, before, feedmill.Upload{Columns: changes, Reading: readingOf(before), Mode: feedmill.ModeReplace})
	l.shared, l.version.Spec = true, before.Spec
	if before.Mode == feedmill.ModeMerge {
		l.key = before.Key
	}
	err := f.Room.Disk.During(ctx, func(ctx context.Context) error {
		return f.takeTurn(ctx, f.modelling, func(ctx context.Context) error { return f.remodel(ctx, l) })
	})
	if err != nil {
		return feedmill.Feed{}, f.drop(l, err)
	}
	f.finish(l)
	feed, err := f.settle(ctx, before.Workspace, l, func(feed *feedmill.Feed) (*feedmill.IdempotentResponse, []feedmill.Event, error) {
		if err := relabel(feed); err != nil {
			return nil, nil, err
		}
		events, err := f.Events.tell(*feed, feedmill.SourceNews{Kind: feedmill.NewsRefreshed}, feedmill.SourceNews{Kind: feedmill.NewsUpdated, Fields: []string{"columns"}})
		return nil, events, err
	})
	if errors.Is(err, feedmill.ErrConflict) {
		err = &feedmill.Error{Kind: feedmill.ErrConflict, Type: "concurrent-change", Transient: true, Detail: "The feed's data was changed by another request. Fetch the feed again and retry."}
	}
	if err != nil {
		return feedmill.Feed{}, f.dropRefused(l, fmt.Errorf("retype columns: %w", err))
	}
	return feed, nil
}

// readingOf is how the upload that a feed has was read.
func readingOf(feed feedmill.Feed) feedmill.Reading {
	var spec struct {
		Format  string `json:"format"`
		Types   string `json:"types"`
		Path    string `json:"path"`
		Explode string `json:"explode"`
		Sheet   int    `json:"sheet"`
	}
	if err := json.Unmarshal(feed.Spec, &spec); err != nil {
		return feedmill.Reading{}
	}
	r := rememberingUpload(feedmill.Reading{Format: spec.Format, Text: spec.Types == "text", Path: spec.Path, Explode: spec.Explode, Sheet: spec.Sheet}, feed)
	r.Charset = r.Before.Encoding.Value // the same data is read as it was
	return r
}

// errPartial says that an original has not all rows of its version.
var errPartial = errors.New("the original does not contain all rows of its version")

// remodel makes the next version of the upload that a feed has: of the original where
// that is all of it, else of the rows that are stored. If it fails, nothing is left but
// the original.
func (m *Mill) remodel(ctx context.Context, l *loading) error {
	v, err := m.Versions.FeedVersion(ctx, l.before.Workspace, l.before.ID, l.before.Version)
	if err != nil {
		return err
	}
	l.version.Original, l.version.OriginalBytes = v.Original, v.OriginalBytes
	l.version.Rules, l.reading.Rules = v.Rules, v.Rules // the feed may have others for its next upload
	// A release that did not say so kept the last of several merged originals.
	if v.Original != "" && (l.before.Mode != feedmill.ModeMerge || v.Number == 1) {
		if err := m.remodelOriginal(ctx, l, v); !errors.Is(err, errPartial) {
			return err
		}
	}
	l.version.Original, l.version.OriginalBytes = "", 0
	return m.retypeStored(ctx, l, v)
}

func (m *Mill) remodelOriginal(ctx context.Context, l *loading, v feedmill.FeedVersion) error {
	original, err := m.Blobs.Open(ctx, v.Original)
	if err != nil {
		return fmt.Errorf("read the original upload: %w", lake.Elsewhere(err))
	}
	defer original.Close()
	l.refresh.BytesIn = original.Size()
	if decode.IsTyped(l.reading.Format) {
		return m.writeTypedUpload(ctx, l, original, l.reading)
	}
	table, err := m.open(ctx, original, l.reading)
	if err != nil {
		return err
	}
	found, err := inferTable(ctx, table, l.reading)
	if err != nil {
		return err
	}
	defer found.Close()
	if found.schema.Rows < v.Rows {
		return errPartial
	}
	return m.write(ctx, l, found.schema, found.warnings, found)
}

// retypeStored makes the next version of the rows of the last one, with the types that
// somebody has set since.
func (m *Mill) retypeStored(ctx context.Context, l *loading, v feedmill.FeedVersion) error {
	found := m.newMisfits(l)
	defer found.close()
	columns, _, err := fitTyped(l, l.before.Columns, v.Rows)
	if err != nil {
		return err
	}
	options, err := modelOptions(remembering(l.reading, l.before))
	if err != nil {
		return err
	}
	fresh, columns, err := m.convert(ctx, l.file, lakeVersion(v), columns, options, found)
	if err != nil {
		return l.blame(err)
	}
	var warnings []feedmill.Warning
	for _, w := range v.Warnings {
		fixed := slices.ContainsFunc(columns, func(c feedmill.Column) bool { return c.Name == w.Column && c.Fixed })
		if !fixed || !slices.Contains(aboutTypes, w.Code) {
			warnings = append(warnings, w)
		}
	}
	l.mode, l.key, l.version.Found = feedmill.ModeReplace, nil, v.Found
	return m.complete(ctx, l, fresh, columns, v.Rows, warnings, found)
}

// awaitsTypes reports whether a feed has columns whose types were set since its last
// version.
func awaitsTypes(feed feedmill.Feed) bool {
	return slices.ContainsFunc(feed.Columns, func(c feedmill.Column) bool { return c.Retype != "" })
}
