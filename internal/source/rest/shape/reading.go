package shape

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Reading is how the records of a feed are read, with the column of the cursor
// watched.
func Reading(s *spec.Spec, response spec.Response, cursor *spec.Cursor, f feedmill.Fetch, feed feedmill.Feed, lacked *int64) (feedmill.PageReading, error) {
	r := feedmill.PageReading{
		Reading: feedmill.Reading{Format: response.Format, Path: response.Path, Explode: response.Explode, Sheet: response.Sheet, Text: response.Types == "text", ReadingOptions: response.Options},
		List:    s.Paginated(), See: cursor.See, Paginated: s.Pagination.Members(),
	}
	if r.Format == "auto" {
		r.Format = ""
	}
	if !response.MissingEmpty {
		lacking := lacking{response: response, total: lacked}
		r.Missing, r.Notes = lacking.page, lacking.notes
	}
	r.Watch, _ = s.CursorColumn()
	if response.Shape == nil && response.Deleted == nil && response.FileColumn == "" && (s.Each == nil || len(s.Each.Include) == 0) {
		return r, nil
	}
	if response.Options.Context == "true" {
		return r, feedmill.Invalid("The definition is not valid.", feedmill.Fault{Pointer: "/response/context", Detail: spec.ContextAlone})
	}
	if response.Shape == nil {
		response.Shape = &spec.Shape{Keep: true}
	}
	reshaper, err := newReshaper(response, r.List, filepath.Dir(f.Spool.Name()))
	if err != nil {
		return r, err
	}
	if response.Deleted != nil {
		reshaper.deletes = newDeletes(response.Deleted, feed, f.Enough > 0)
		r.Deletes = reshaper.deletes.told()
	}
	if f.Close != nil {
		*f.Close = append(*f.Close, reshaper)
	}
	if r.Watch != "" {
		// What the rows are made of is looked at before they are.
		reshaper.cursor, reshaper.see = r.Watch, cursor.See
	}
	if strings.HasPrefix(r.Path, "$") {
		r.Path = "" // The reshaper follows it.
	}
	if response.Shape.Pairs != nil {
		r.Explode = "" // The reshaper does it.
	}
	r.Columns = tabular(response.Shape)
	lacking := r.Notes
	r.Notes = func() []feedmill.Warning {
		notes := reshaper.notes()
		if lacking != nil {
			notes = append(notes, lacking()...)
		}
		return notes
	}
	r.Reshape = func(ctx context.Context, p feedmill.FetchedPage, out io.Writer) (bool, error) {
		if p.Format == "json" || p.Format == "ndjson" {
			return true, reshaper.page(ctx, p, out)
		}
		return false, response.CheckTabular(p.Format)
	}
	return r, nil
}

// tabular is the shape as far as tables can have it whose columns have names already.
func tabular(s *spec.Shape) (t feedmill.PageColumns) {
	t.Only = !s.Keep
	for _, c := range s.Columns {
		t.Pick = append(t.Pick, feedmill.PickedColumn{Name: c.Name, From: spec.ColumnOf(c.Path), Text: c.As == "text"})
	}
	return t
}

// Counting counts records where the source counts them and rows are made of their
// parts; it is nil where nothing is to be counted.
func Counting(s *spec.Spec, f feedmill.Fetch) func(context.Context, feedmill.FetchedPage) (int64, error) {
	if s.Pagination.Kind != spec.PagesOffset && s.Pagination.Total == nil {
		return nil
	}
	for _, feed := range f.Feeds {
		response, err := spec.ResponseOf(feed.Spec, feed.Rules)
		if err != nil || response.Explode == "" {
			continue
		}
		options := decode.Options{Path: response.Path, Temp: filepath.Dir(f.Spool.Name())}
		return func(ctx context.Context, p feedmill.FetchedPage) (int64, error) {
			table, err := decode.Open(ctx, p.Format, p.Body, options)
			if err != nil {
				return 0, err
			}
			defer table.Close()
			err = table.Each(ctx, 1, func(*columnar.Cells) error { return nil })
			return table.Rows(), err
		}
	}
	return nil
}
