package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/api"
	"github.com/feedmill/feedmill/internal/blob"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/lake"
	"github.com/feedmill/feedmill/internal/model"
)

// loading is an upload on its way to be a version: the data is received as it
// came, looked at, and written as a table, each into a file of its own. What
// the record is to say of it is gathered on the way.
type loading struct {
	version feedmill.FeedVersion
	refresh feedmill.Refresh
	// reshaped says that the columns are not those of the version before.
	reshaped bool
}

// newLoading begins a try to give a feed the version of a number. The files are
// named after the try, so that two at the same time have nothing in common.
func newLoading(feed feedmill.Feed, number int64) *loading {
	id := feedmill.NewID(feedmill.PrefixRefresh)
	name := string(feed.ID) + "/" + string(id)
	return &loading{
		version: feedmill.FeedVersion{Feed: feed.ID, Number: number, File: name + ".parquet", Original: name + ".original"},
		refresh: feedmill.Refresh{ID: id, Feed: feed.ID, StartedAt: now()},
	}
}

// load receives an upload and makes a table of it. The columns are those that
// the feed has, nil for a new one. If it fails, nothing is left.
func (f *feeds) load(ctx context.Context, l *loading, u api.Upload, columns []feedmill.Column) error {
	original, err := f.receive(ctx, l.version.Original, u.Body)
	if err != nil {
		return err
	}
	defer original.Close()
	l.refresh.BytesIn = original.Size()
	err = f.takeTurn(ctx, func() error { return f.model(ctx, l, u, original, columns) })
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

// receive writes data as it comes to a file and opens that.
func (f *feeds) receive(ctx context.Context, name string, body io.Reader) (blob.Blob, error) {
	err := f.blobs.Put(ctx, name, func(w io.Writer) error {
		_, err := io.CopyBuffer(w, onlyReader{body}, make([]byte, 256<<10))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("receive data: %w", err)
	}
	received, err := f.blobs.Open(ctx, name)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("receive data: %w", err), f.blobs.Delete(context.WithoutCancel(ctx), name))
	}
	return received, nil
}

// onlyReader hides all but Read, so that the buffer is used.
type onlyReader struct{ io.Reader }

// model looks at all of the data and writes it as a table.
func (f *feeds) model(ctx context.Context, l *loading, u api.Upload, data decode.Source, columns []feedmill.Column) error {
	table, err := openTable(ctx, data, u, f.temp)
	if err != nil {
		return err
	}
	defer table.Close()
	schema, warnings, err := model.Infer(ctx, table, model.Options{Text: u.Text})
	if err != nil {
		return err
	}
	if columns != nil {
		changes := schema.Fit(columns)
		l.reshaped = len(changes) > 0
		warnings = append(warnings, changes...)
	}
	if err := wantColumns(schema); err != nil {
		return err
	}
	v, err := lake.Write(ctx, f.blobs, l.version.File, schema.Columns, schema.Load(ctx, table, model.Loading{}))
	if err != nil {
		return err
	}
	l.version.Columns, l.version.Rows, l.version.Bytes, l.version.ContentHash = v.Columns, v.Rows, v.Bytes, v.ContentHash
	l.version.Warnings = warnings
	l.refresh.RowsIn, l.refresh.RowsStored, l.refresh.Warnings = schema.Rows, v.Rows, warnings
	return nil
}

// wantColumns refuses data that has nothing to show: a table has at least one column.
func wantColumns(s *model.Schema) error {
	if len(s.Columns) > 0 {
		return nil
	}
	return &feedmill.Error{
		Kind: feedmill.ErrUnprocessable, Type: "no-columns",
		Detail: "the data has no columns: there are no records, or they have no members; say with path where the records are",
	}
}

// table is data that can be read, and what must be closed after it.
type table struct {
	model.Table
	text *decode.Text
}

func (t table) Close() error {
	if t.text == nil {
		return nil
	}
	return t.text.Close()
}

// openTable finds the records of the data in its format.
func openTable(ctx context.Context, data decode.Source, u api.Upload, temp string) (table, error) {
	options := decode.JSONOptions{Path: u.Path, Explode: u.Explode}
	switch u.Format {
	case "json":
		json, err := decode.OpenJSON(ctx, data, options)
		return table{Table: json}, err
	case "ndjson":
		json, err := decode.OpenNDJSON(ctx, data, options)
		return table{Table: json}, err
	}
	text, err := decode.OpenText(ctx, data, temp)
	if err != nil {
		return table{}, err
	}
	var delimiter byte
	if u.Format == "tsv" {
		delimiter = '\t'
	}
	csv, err := decode.OpenCSV(ctx, text, decode.CSVOptions{Delimiter: delimiter})
	if err != nil {
		return table{}, errors.Join(err, text.Close())
	}
	return table{Table: csv, text: text}, nil
}

// drop removes the files of a loading that failed, and answers with the failure.
func (f *feeds) drop(l *loading, cause error) error {
	for _, name := range []string{l.version.File, l.version.Original} {
		if err := f.blobs.Delete(context.Background(), name); err != nil {
			f.log.Warn("a file of an upload that failed is left to be swept", "file", name, "error", err)
		}
	}
	return cause
}

// unstored is drop for a loading that the store did not take. Where the store
// cannot say whether it did, the files stay: they are swept if it did not.
func (f *feeds) unstored(l *loading, cause error) error {
	refused := []error{feedmill.ErrConflict, feedmill.ErrNotFound, feedmill.ErrInvalid, feedmill.ErrAnswered}
	if slices.ContainsFunc(refused, func(kind error) bool { return errors.Is(cause, kind) }) {
		return f.drop(l, cause)
	}
	return cause
}
