package rest

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode"
)

// reading is how the records of a feed are read, with the column of the cursor
// watched.
func (s *Spec) reading(response Response, cursor *Cursor, f feedmill.Fetch, feed feedmill.Feed, lacked *int64) (feedmill.PageReading, error) {
	r := feedmill.PageReading{
		Reading: feedmill.Reading{Format: response.Format, Path: response.Path, Explode: response.Explode, Sheet: response.Sheet, Text: response.Types == "text", ReadingOptions: response.Options},
		List:    s.Paginated(), See: cursor.See, Paginated: s.pagination.members(),
	}
	if r.Format == "auto" {
		r.Format = ""
	}
	if !response.MissingEmpty {
		lacking := lacking{response: response, total: lacked}
		r.Missing, r.Notes = lacking.page, lacking.notes
	}
	r.Watch, _ = s.CursorColumn()
	if response.Shape == nil && response.Deleted == nil && response.FileColumn == "" && (s.each == nil || len(s.each.include) == 0) {
		return r, nil
	}
	if response.Options.Context == "true" {
		return r, feedmill.Invalid("The definition is not valid.", feedmill.Fault{Pointer: "/response/context", Detail: contextAlone})
	}
	if response.Shape == nil {
		response.Shape = &shape{keep: true}
	}
	reshaper, err := response.newReshaper(r.List, filepath.Dir(f.Spool.Name()))
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
	if response.Shape.pairs != nil {
		r.Explode = "" // The reshaper does it.
	}
	r.Columns = response.Shape.tabular()
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
		return false, response.checkTabular(p.Format)
	}
	return r, nil
}

// contextAlone is why values around the records cannot be columns of records that are written again.
const contextAlone = "context cannot be combined with columns, names, values, keyAs or each.include. Remove one of them."

// members are the JSONPaths of what leads from page to page, or in XML the names that it has
// around the records.
func (p *pagination) members() (paths []string) {
	if p.path != nil {
		paths = append(paths, p.path.String())
	}
	if p.outside != nil && len(p.outside.element) > 0 {
		name := strings.Join(p.outside.element[1:], ".")
		paths = append(paths, name, name+".@rel", name+".@"+p.outside.attribute)
	}
	for _, s := range []*signal{p.more, p.end, p.total, p.totalPages} {
		if s != nil && s.path != nil {
			paths = append(paths, s.path.String())
		}
	}
	return paths
}

// tabular is the shape as far as tables can have it whose columns have names already.
func (s *shape) tabular() (t feedmill.PageColumns) {
	t.Only = !s.keep
	for _, c := range s.columns {
		t.Pick = append(t.Pick, feedmill.PickedColumn{Name: c.name, From: columnOf(c.path), Text: c.as == "text"})
	}
	return t
}

// checkTabular refuses a page of a format that is no JSON where the definition of the
// feed is for JSON.
func (r Response) checkTabular(format string) error {
	faults := r.tabularFaults()
	if strings.HasPrefix(r.Path, "$") {
		faults = append(faults, feedmill.Fault{Pointer: "/response/path", Detail: "The path is a JSONPath."})
	}
	if len(faults) == 0 {
		return nil
	}
	return fail("wrong-content-type", nil, "The response is %s. %s: %s", format, strings.ReplaceAll(faults[0].Pointer[1:], "/", "."), faults[0].Detail)
}

// tabularFaults are what of a response is not for pages that are no JSON.
func (r Response) tabularFaults() (faults []feedmill.Fault) {
	note := func(pointer, detail string) {
		faults = append(faults, feedmill.Fault{Pointer: pointer, Detail: detail})
	}
	if r.Deleted != nil {
		note("/deleted", "deleted applies only to JSON; remove it.")
	}
	if r.Shape == nil {
		return faults
	}
	if r.Shape.pairs != nil {
		note("/response/explode", "explode.as applies only to JSON; remove it.")
	}
	if len(r.Shape.values) > 0 {
		note("/response/names", "names and values apply only to JSON. Remove them.")
	}
	if r.Shape.keyAs != "" {
		note("/response/keyAs", "keyAs applies only to JSON. Remove it.")
	}
	for _, c := range r.Shape.columns {
		if c.path == nil {
			continue // which is a fault of its own
		}
		at := c.at
		if columnOf(c.path) == "" {
			note(at+"/path", "In formats other than JSON, path must be a column name, such as $.amount or $['Net amount'].")
		}
		if c.as != "" && c.as != "text" {
			note(at+"/type", "In formats other than JSON, the type of an entry with path can only be text. Use an entry with sourceName to set another type.")
		}
	}
	return faults
}

// counting counts records where the source counts them and rows are made of their
// parts; it is nil where nothing is to be counted.
func (s *Spec) counting(f feedmill.Fetch) func(context.Context, feedmill.FetchedPage) (int64, error) {
	if s.pagination.kind != pagesOffset && s.pagination.total == nil {
		return nil
	}
	for _, feed := range f.Feeds {
		response, err := ResponseOf(feed.Spec, feed.Rules)
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
