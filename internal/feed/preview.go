package feed

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/model"
	"github.com/feedmill/feedmill/internal/source/rest"
)

// previewRows is how many rows a preview shows.
const previewRows = 100

// Preview says what would become of an upload. All of the data is looked at, and
// its first rows go the way that all rows would.
func (f *Feeds) Preview(ctx context.Context, u feedmill.Upload) (p feedmill.FeedPreview, err error) {
	l := newLoading(feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed)}, u)
	original, err := f.receive(ctx, l.version.Original, u)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	defer original.Close()
	defer f.drop(l, nil)
	err = f.takeTurn(ctx, func() error {
		p, err = f.preview(ctx, l, u, original)
		return err
	})
	return p, err
}

func (f *Feeds) preview(ctx context.Context, l *loading, u feedmill.Upload, data *incoming) (feedmill.FeedPreview, error) {
	found, err := f.look(ctx, data, u)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	defer found.Close()
	p, err := f.show(ctx, l.version.File, found.schema, found.warnings, found.table)
	p.Spec = uploadSpec(u)
	return p, err
}

// show answers with the first rows of a table that was looked at.
func (f *Feeds) show(ctx context.Context, file string, schema *model.Schema, warnings []feedmill.Warning, table model.Table) (feedmill.FeedPreview, error) {
	v, err := lake.Write(ctx, f.blobs, file, schema.Columns, firstBlocks(schema.Load(ctx, table, model.Loading{})))
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	var rows bytes.Buffer
	if _, err := f.reader.Read(ctx, &v, feedmill.Query{Limit: previewRows}, wire.FormatJSON, nil, &rows); err != nil {
		return feedmill.FeedPreview{}, err
	}
	return feedmill.FeedPreview{Columns: schema.Columns, RowCount: schema.Rows, Warnings: warnings, Rows: rows.Bytes()}, nil
}

// errEnough ends a fetch for a preview.
var errEnough = errors.New("there are enough rows for a preview")

// firstPages are the pages that a preview needs.
type firstPages struct{ *fetching }

func (p firstPages) Page(ctx context.Context, page rest.Page) (int64, error) {
	records, err := p.fetching.Page(ctx, page)
	if err == nil && p.tables[0].pages.Rows() >= previewRows {
		err = errEnough
	}
	return records, err
}

// PreviewFetched fetches as many pages as a preview shows rows of, and says what
// would become of them.
func (f *Feeds) PreviewFetched(ctx context.Context, workspace feedmill.ID, n feedmill.FetchedFeed) (p feedmill.FeedPreview, err error) {
	def, err := f.define(n.Body)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	feed := newFetched(def, def.Public(), now())
	into := new(fetching)
	table, err := f.newTable(feed, def.Spec, &into.cursor)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	into.tables = []*fetchedTable{table}
	defer func() { err = errors.Join(err, into.close()) }()
	_, err = f.fetch(ctx, into, rest.Job{Spec: def.Spec, Source: feedmill.NewID(feedmill.PrefixDataSource)}, firstPages{into})
	if err != nil && !errors.Is(err, errEnough) {
		return feedmill.FeedPreview{}, previewFailure(err)
	}
	schema, warnings, err := table.inference.Schema(table.pages)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	file := string(feed.ID) + "/preview.parquet"
	defer f.remove(file)
	err = f.takeTurn(ctx, func() error {
		p, err = f.show(ctx, file, schema, warnings, table.pages)
		return err
	})
	p.Trace, p.Spec = into.trace, def.Public()
	return p, err
}

// previewFailure is why nothing could be fetched for a preview, as a refusal.
func previewFailure(err error) error {
	failure, ok := errors.AsType[*rest.Failure](err)
	if !ok {
		return err
	}
	return &feedmill.Error{Kind: feedmill.ErrUnprocessable, Type: failure.Type, Detail: failure.Detail}
}

// firstBlocks ends once there are as many rows as a preview shows.
func firstBlocks(blocks iter.Seq2[[]columnar.Vector, error]) iter.Seq2[[]columnar.Vector, error] {
	return func(yield func([]columnar.Vector, error) bool) {
		rows := 0
		for block, err := range blocks {
			if !yield(block, err) || err != nil {
				return
			}
			if len(block) > 0 {
				rows += block[0].Len
			}
			if rows >= previewRows {
				return
			}
		}
	}
}
