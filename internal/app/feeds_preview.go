package app

import (
	"bytes"
	"context"
	"iter"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/lake/wire"
	"github.com/feedmill/feedmill/internal/model"
)

// previewRows is how many rows a preview shows.
const previewRows = 100

// Preview says what would become of an upload. All of the data is looked at, and
// its first rows go the way that all rows would.
func (f *feeds) Preview(ctx context.Context, u api.Upload) (p api.FeedPreview, err error) {
	l := newLoading(feedmill.Feed{ID: feedmill.NewID(feedmill.PrefixDataFeed)}, 1)
	original, err := f.receive(ctx, l.version.Original, u.Body)
	if err != nil {
		return api.FeedPreview{}, err
	}
	defer original.Close()
	defer f.drop(l, nil)
	err = f.takeTurn(ctx, func() error {
		p, err = f.preview(ctx, l, u, original)
		return err
	})
	return p, err
}

func (f *feeds) preview(ctx context.Context, l *loading, u api.Upload, data decode.Source) (api.FeedPreview, error) {
	table, err := openTable(ctx, data, u, f.temp)
	if err != nil {
		return api.FeedPreview{}, err
	}
	defer table.Close()
	schema, warnings, err := model.Infer(ctx, table, model.Options{Text: u.Text})
	if err != nil {
		return api.FeedPreview{}, err
	}
	p := api.FeedPreview{Columns: schema.Columns, RowCount: schema.Rows, Warnings: warnings, Rows: []byte("[]")}
	if err := wantColumns(schema); err != nil {
		return api.FeedPreview{}, err
	}
	v, err := lake.Write(ctx, f.blobs, l.version.File, schema.Columns, firstBlocks(schema.Load(ctx, table, model.Loading{})))
	if err != nil {
		return api.FeedPreview{}, err
	}
	var rows bytes.Buffer
	if _, err := f.reader.Read(ctx, &v, feedmill.Query{Limit: previewRows}, wire.FormatJSON, nil, &rows); err != nil {
		return api.FeedPreview{}, err
	}
	p.Rows = rows.Bytes()
	return p, nil
}

// firstBlocks ends once there are as many rows as a preview shows.
func firstBlocks(blocks iter.Seq2[[]feedmill.Vector, error]) iter.Seq2[[]feedmill.Vector, error] {
	return func(yield func([]feedmill.Vector, error) bool) {
		rows := 0
		for block, err := range blocks {
			if !yield(block, err) || err != nil {
				return
			}
			if rows += block[0].Len; rows >= previewRows {
				return
			}
		}
	}
}
