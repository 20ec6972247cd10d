package feed

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/model"
	"github.com/feedmill/feedmill/internal/share"
)

// fetching is a fetch under way and the tables that are made of it.
type fetching struct {
	mill *Mill
	// slots are the places in which pages are modelled.
	slots  *share.Slots
	tables []*fetchedTable
	trace  trace
	// traceTold is when it was told of.
	traceTold time.Time
	report    func(feedmill.Refresh)
	// also is told of every request, besides the trace; it may be nil.
	also func(feedmill.TracedRequest)
	// counted is what all refreshes of the fetch have in common.
	counted feedmill.Refresh
	spool   *os.File
	files   []io.Closer
}

// fetchedTable is what a fetch brings one feed, as it comes: pages whose records
// are modelled, or rows that have types already.
type fetchedTable struct {
	*loading
	format    string // of all pages, empty where each has its own
	missing   func(p feedmill.FetchedPage, found string) error
	watched   bool // somebody wants to see the texts of a column of the pages
	text      bool // every column is to be text
	reshape   func(context.Context, feedmill.FetchedPage, io.Writer) (bool, error)
	anew      *pageFile
	pages     *decode.Pages
	inference *model.Inference
	typed     *typedTable
	// named are the warnings about the names of columns that have types, and joined
	// those about the pages.
	named  []feedmill.Warning
	joined decode.JoinedWarnings
	failed error
	// stage is told what is being done to make a version of it.
	stage func(feedmill.RefreshStage)
	// notModified says that the source has nothing new.
	notModified bool
}

// fetch fetches all data, with a file for pages that is gone with this process,
// whatever becomes of it.
func (f *fetching) fetch(ctx context.Context, source Source, job feedmill.Fetch, sink feedmill.FetchSink) (_ feedmill.Fetched, err error) {
	if err := f.mill.Room.Disk.Check(); err != nil {
		return feedmill.Fetched{}, err
	}
	if f.spool, err = unnamed(f.mill.Temp); err != nil {
		return feedmill.Fetched{}, err
	}
	job.Take = f.mill.Room.Disk.Take
	job.Spool, job.Now, job.Trace, job.Close, job.Progress = f.spool, now(), f.traced, &f.files, f.progressed
	for _, table := range f.tables {
		job.Feeds = append(job.Feeds, table.before)
	}
	return source.Fetch(share.WithLargeRows(ctx, f.mill.large), job, sink)
}

// Read begins the table of a feed whose data comes in pages.
func (f *fetching) Read(feed feedmill.ID, r feedmill.PageReading) error {
	for _, t := range f.tables {
		if t.before.ID == feed {
			r.Reading = remembering(r.Reading, t.before)
			options, err := modelOptions(r.Reading)
			if err != nil {
				return err
			}
			t.format, t.missing, t.reshape, t.watched, t.text = r.Format, r.Missing, r.Reshape, r.Watch != "", r.Text
			t.reading, t.inference = r.Reading, model.New(options)
			t.pages = f.mill.openPages(r, t.inference)
			t.fetched.marks = r.Deletes
		}
	}
	return nil
}

// Page adds a page to every table, and returns how many rows each has of it.
func (f *fetching) Page(ctx context.Context, p feedmill.FetchedPage) (rows []int64, err error) {
	rows = make([]int64, len(f.tables))
	err = f.mill.takeTurn(ctx, f.slots, func(ctx context.Context) error {
		return f.each(ctx, func(t *fetchedTable) error {
			format := p.Format
			if t.format != "" {
				format = t.format
			}
			added, err := f.addPage(ctx, t, format, p)
			err = unread(p, err)
			added -= t.fetched.listed()
			rows[slices.Index(f.tables, t)] = added
			if err == nil && added == 0 && t.missing != nil {
				found := ""
				if t.reshape == nil {
					found = t.pages.Found().Path.Value
				}
				err = t.missing(p, found)
			}
			return err
		})
	})
	return rows, err
}

// unread is why a page cannot be read in the way that was said, such as by a sheet that it
// does not have. For an upload that is a fault of the request, and here one of the data.
func unread(p feedmill.FetchedPage, err error) error {
	refusal, ok := errors.AsType[*feedmill.Error](err)
	if !ok || !errors.Is(err, feedmill.ErrInvalid) {
		return err
	}
	detail := refusal.Detail
	if len(refusal.Faults) > 0 {
		detail = refusal.Faults[0].Detail
		if parameter := refusal.Faults[0].Parameter; parameter != "" {
			detail = "response." + parameter + ": " + detail
		}
	}
	return refusePage(p, "wrong-reading", "%s", detail)
}

// pageFormats are the formats that pages can have.
var pageFormats = decode.PageFormats()

// addPage adds a page to a table, and returns how many records it has.
func (f *fetching) addPage(ctx context.Context, t *fetchedTable, format string, p feedmill.FetchedPage) (int64, error) {
	if t.reshape != nil {
		page := p
		page.Format = format
		body, err := f.reshaped(ctx, t, page)
		if err != nil {
			return 0, err
		}
		if body != nil {
			t.pages.Watch("", nil) // It was seen in what the rows are made of.
			return t.pages.Add(ctx, "ndjson", body)
		}
		if decode.IsTyped(format) {
			return 0, refusePage(p, "unsupported-format", "the page is %s, which defines its own columns and types; remove columns and each.include", format)
		}
		return t.pages.AddWith(ctx, format, p.Body, p.With)
	}
	if kind, ok := pageFormats.Named(format); ok && t.reading.Path != "" && !slices.Contains(kind.Parameters, "path") {
		return 0, refusePage(p, "wrong-content-type", "the page is %s, to which response.path (%s) does not apply; check why the response is not JSON, or remove the path", format, t.reading.Path)
	}
	if decode.IsTyped(format) {
		return f.addTypedPage(ctx, t, format, p)
	}
	if t.typed != nil {
		return 0, refusePage(p, "mixed-formats", "the page is %s, but the previous pages define column types", format)
	}
	return t.pages.Add(ctx, format, p.Body)
}

// Columns begins all tables, of rows that have types already.
func (f *fetching) Columns(ctx context.Context, columns []feedmill.Column) error {
	for _, t := range f.tables {
		t.declared = true
		t.typed = f.mill.beginTyped(ctx, t.loading, columns)
	}
	return nil
}

// Rows adds rows to every table.
func (f *fetching) Rows(ctx context.Context, run []columnar.Vector) error {
	return f.each(ctx, func(t *fetchedTable) error { return t.typed.add(run) })
}

// each gives every table something. A table that cannot take it is out of the
// fetch; when none is left the fetch ends.
func (f *fetching) each(ctx context.Context, give func(*fetchedTable) error) (err error) {
	taken := false
	for _, t := range f.tables {
		if t.failed != nil {
			continue
		}
		fault := give(t)
		switch {
		case fault == nil:
			taken = true
		case ctx.Err() != nil || !isOfSource(fault):
			return fault
		default:
			t.failed, err = fault, fault
		}
	}
	if taken {
		return nil
	}
	return err
}

// progressed notes how many parts are done.
func (f *fetching) progressed(done, all int64) { f.counted.PartsDone, f.counted.Parts = done, all }

// traced notes a request, and tells how far the refreshes have come.
func (f *fetching) traced(t feedmill.TracedRequest) {
	f.trace.add(t)
	if f.also != nil {
		f.also(t)
	}
	f.counted.Requests++
	f.counted.BytesIn += t.Bytes
	if t.Rows > 0 {
		f.counted.Pages++
	}
	f.tell()
}

// reach notes what is being done.
func (f *fetching) reach(stage feedmill.RefreshStage) {
	f.counted.Stage = stage
	f.tell()
}

// tell reports how far the refreshes have come.
func (f *fetching) tell() {
	if f.report == nil {
		return
	}
	trace := f.traceSoFar()
	for _, table := range f.tables {
		r := f.counts(table)
		r.Trace = trace
		r.ID, r.Feed = table.before.LastRefresh.ID, table.before.ID
		f.report(r)
	}
}

const (
	// smallTrace is how many requests are told of each time, and traceEvery how often
	// the trace of more of them is.
	smallTrace = 50
	traceEvery = time.Second
)

// traceSoFar is what was asked for, nil where that was told a moment ago.
func (f *fetching) traceSoFar() []feedmill.TracedRequest {
	if len(f.trace.first) > smallTrace && time.Since(f.traceTold) < traceEvery {
		return nil
	}
	f.traceTold = time.Now()
	return f.trace.list()
}

// counts are what was counted of a table's refresh.
func (f *fetching) counts(t *fetchedTable) feedmill.Refresh {
	r := f.counted
	r.RowsIn = t.rows()
	return r
}

// warn adds what is to be said of rows that have types already.
func (t *fetchedTable) warn(of []feedmill.Warning) {
	if t.typed != nil {
		t.typed.warnings = append(t.typed.warnings, of...)
	}
}

// rows is how many have come.
func (t *fetchedTable) rows() int64 {
	switch {
	case t.typed != nil:
		return t.typed.rows
	case t.pages != nil:
		return t.pages.Rows()
	}
	return 0
}

// close gives up what the tables and the pages take.
func (f *fetching) close() (err error) {
	for _, t := range f.tables {
		if t.typed != nil {
			t.typed.close()
		}
		if t.pages != nil {
			err = errors.Join(err, t.pages.Close())
		}
		if t.anew != nil {
			err = errors.Join(err, t.anew.Close())
		}
	}
	for _, file := range f.files {
		err = errors.Join(err, file.Close())
	}
	if f.spool != nil {
		err = errors.Join(err, f.spool.Close())
	}
	return err
}
