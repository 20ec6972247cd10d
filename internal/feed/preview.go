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
)

// previewRows is how many rows a preview shows.
const previewRows = 100

// Preview says what would become of an upload. All of the data is modelled, and
// its first rows go the way that all rows would.
func (m *Mill) Preview(ctx context.Context, u feedmill.Upload) (p feedmill.FeedPreview, err error) {
	l := newLoading(feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed)}, u)
	data, err := m.receive(ctx, l.version.Original, u)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	defer data.Close()
	defer m.drop(l, nil)
	err = m.takeTurn(ctx, func() error {
		found, err := m.infer(ctx, data)
		if err != nil {
			return err
		}
		defer found.Close()
		p, err = m.show(ctx, l.version.File, found.schema, found.warnings, found)
		return err
	})
	p.Spec = uploadSpec(u)
	return p, err
}

// show is a preview with the first rows of a table whose types are known.
func (m *Mill) show(ctx context.Context, file string, schema *model.Schema, warnings []feedmill.Warning, table model.Table) (feedmill.FeedPreview, error) {
	v, err := lake.Write(ctx, m.Blobs, file, schema.Columns, firstBlocks(schema.Load(ctx, table, model.Loading{})))
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	var rows bytes.Buffer
	if _, err := m.Reader.Read(ctx, &v, feedmill.Query{Limit: previewRows}, wire.FormatJSON, nil, &rows); err != nil {
		return feedmill.FeedPreview{}, err
	}
	return feedmill.FeedPreview{Columns: schema.Columns, RowCount: schema.Rows, Warnings: warnings, Rows: rows.Bytes()}, nil
}

// PreviewFetched fetches as many pages as a preview shows rows of, and says what
// would become of them.
func (m *Mill) PreviewFetched(ctx context.Context, _ feedmill.ID, n feedmill.FetchedFeed) (p feedmill.FeedPreview, err error) {
	source, err := m.source(n.Type)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	def, err := source.Define(n.Body)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	feed := newFetched(def, now())
	f := newFetching(m, []feedmill.Feed{feed}, nil)
	defer func() { err = errors.Join(err, f.close()) }()
	_, err = f.fetch(ctx, n.Type, feedmill.Fetch{
		Source: feedmill.NewID(feedmill.PrefixDataSource), Spec: def.Source.Spec, Secrets: def.Source.Secrets, Feeds: []feedmill.Feed{feed}, Enough: previewRows,
	}, firstPages{f})
	if err != nil && !errors.Is(err, errEnough) {
		return feedmill.FeedPreview{}, previewFailure(err)
	}
	table := f.tables[0]
	schema, warnings, err := table.inference.Schema(table.pages)
	if err != nil {
		return feedmill.FeedPreview{}, err
	}
	file := string(feed.ID) + "/preview.parquet"
	defer m.remove(file)
	err = m.takeTurn(ctx, func() error {
		p, err = m.show(ctx, file, schema, warnings, table.pages)
		return err
	})
	p.Trace, p.Spec = f.trace, def.Spec
	return p, err
}

// errEnough ends a fetch for a preview.
var errEnough = errors.New("there are enough rows for a preview")

// firstPages are the pages that a preview needs.
type firstPages struct{ *fetching }

func (p firstPages) Page(ctx context.Context, page feedmill.FetchedPage) (int64, error) {
	records, err := p.fetching.Page(ctx, page)
	if err == nil && p.tables[0].rows() >= previewRows {
		err = errEnough
	}
	return records, err
}

// previewFailure is why nothing could be fetched for a preview, as a refusal.
func previewFailure(err error) error {
	failure, ok := errors.AsType[*feedmill.SourceFailure](err)
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
