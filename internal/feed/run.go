package feed

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/columnar"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/model"
	"github.com/feedmill/feedmill/internal/refresh"
	"github.com/feedmill/feedmill/internal/source/rest"
)

// Runner fetches sources and makes versions of what they have.
type Runner struct{ *Feeds }

// Run fetches a source for its feeds. Every page is looked at while the next
// one is on its way; the versions are written after the last.
func (r Runner) Run(ctx context.Context, claim refresh.Claim) (refresh.Result, error) {
	spec, err := r.restore(ctx, claim.Source)
	if err != nil {
		return refresh.Result{}, err
	}
	f := &fetching{report: claim.Report}
	for _, feed := range claim.Feeds {
		table, err := r.newTable(feed, spec, &f.cursor)
		if err != nil {
			return refresh.Result{}, errors.Join(err, f.close())
		}
		f.tables = append(f.tables, table)
	}
	// What was read is read: that it cannot be closed spoils nothing.
	defer func() {
		if err := f.close(); err != nil {
			r.log.Warn("closing what was fetched", "source", claim.Source.ID, "error", err)
		}
	}()
	var positions [][]byte
	for _, feed := range claim.Feeds {
		positions = append(positions, feed.Position)
	}
	from, err := rest.Earliest(positions...)
	if err != nil {
		return refresh.Result{}, err
	}
	fetched, err := r.fetch(ctx, f, rest.Job{Spec: spec, Source: claim.Source.ID, Workspace: claim.Source.Workspace, Position: from}, f)
	if ctx.Err() != nil {
		return refresh.Result{}, context.Cause(ctx)
	}
	if err != nil && !tellable(err) {
		return refresh.Result{}, err
	}
	var result refresh.Result
	for _, t := range f.tables {
		o := feedmill.FeedOutcome{Feed: t.feed.ID, Refresh: f.counts(t), Trace: f.trace}
		fault := err
		if fault == nil && !fetched.NotModified {
			fault = r.outcome(ctx, t, claim.Source.Run, &o)
		}
		if fault == nil && !fetched.NotModified {
			o.Position, fault = rest.Advance(fetched.Position, t.feed.Position, f.cursor.Newest())
		}
		if fault != nil && (ctx.Err() != nil || !tellable(fault)) {
			result.Outcomes = append(result.Outcomes, o)
			r.Drop(result)
			return refresh.Result{}, fault
		}
		if fault != nil {
			o = failed(o, fault)
		}
		result.Outcomes = append(result.Outcomes, o)
	}
	return result, nil
}

// failed is what a run that failed means for a feed.
func failed(o feedmill.FeedOutcome, fault error) feedmill.FeedOutcome {
	problem := rest.Problem(fault)
	problem.At = now()
	o.Error, o.AuthRequired = &problem, errors.Is(fault, rest.ErrAuth)
	if failure, ok := errors.AsType[*rest.Failure](fault); ok {
		o.RetryAfter = failure.RetryAfter
	}
	return o
}

// tellable reports whether an error is about the source or its data, which the
// feed tells of, and not about this service, such as a disk that is full.
func tellable(err error) bool {
	_, failure := errors.AsType[*rest.Failure](err)
	return failure || errors.Is(err, feedmill.ErrUnprocessable) || errors.Is(err, feedmill.ErrTooLarge)
}

// Drop removes the files of a result that was not committed.
func (r Runner) Drop(result refresh.Result) {
	for _, o := range result.Outcomes {
		if o.Version != nil {
			r.remove(o.Version.File)
		}
	}
}

// fetching is a fetch under way and the tables that are made of it.
type fetching struct {
	tables []*fetchedTable
	cursor rest.Cursor
	trace  []feedmill.TracedRequest
	report func(feedmill.Refresh)
	// counted is what all refreshes of the fetch have in common.
	counted feedmill.Refresh
	spool   *os.File
}

// fetchedTable is the records of one feed, as they come page by page.
type fetchedTable struct {
	feed      feedmill.Feed
	response  rest.Response
	pages     *decode.Pages
	inference *model.Inference
	failed    error
}

// newTable begins the table of a feed. What its records have in the column of
// the cursor is shown to that.
func (f *Feeds) newTable(feed feedmill.Feed, spec *rest.Spec, cursor *rest.Cursor) (*fetchedTable, error) {
	response, err := rest.ResponseOf(feed.Spec)
	if err != nil {
		return nil, err
	}
	t := &fetchedTable{feed: feed, response: response, inference: model.New(model.Options{Text: response.Types == "text"})}
	t.pages, err = decode.NewPages(
		decode.Options{Path: response.Path, Explode: response.Explode, List: spec.Paginated(), Temp: f.temp},
		func(cells *columnar.Cells) error { t.inference.Block(cells); return nil },
	)
	if err != nil {
		return nil, err
	}
	if column, ok := spec.CursorColumn(); ok {
		t.pages.Watch(column, cursor.See)
	}
	return t, nil
}

// fetch fetches all pages into a file that is gone with this process, whatever
// becomes of it, and gives them to the tables.
func (f *Feeds) fetch(ctx context.Context, into *fetching, job rest.Job, sink rest.Sink) (rest.Result, error) {
	spool, err := os.CreateTemp(f.temp, "fetch-*")
	if err != nil {
		return rest.Result{}, fmt.Errorf("spool: %w", err)
	}
	into.spool = spool
	if err := os.Remove(spool.Name()); err != nil {
		return rest.Result{}, fmt.Errorf("spool: %w", err)
	}
	job.Spool, job.Now, job.Trace = spool, now(), into.traced
	if format := into.tables[0].response.Format; format != "auto" {
		job.Format = format
	}
	return f.fetcher.Fetch(ctx, job, sink)
}

// traced notes a request, and tells how far the refreshes have come.
func (f *fetching) traced(t feedmill.TracedRequest) {
	f.trace = append(f.trace, t)
	f.counted.Requests++
	f.counted.BytesIn += t.Bytes
	if t.Rows > 0 {
		f.counted.Pages++
	}
	if f.report == nil {
		return
	}
	for _, table := range f.tables {
		r := f.counts(table)
		r.ID, r.Feed = table.feed.LastRefresh.ID, table.feed.ID
		f.report(r)
	}
}

// counts are what was counted of a table's refresh.
func (f *fetching) counts(t *fetchedTable) feedmill.Refresh {
	r := f.counted
	r.RowsIn = t.pages.Rows()
	return r
}

// Page adds a page to every table. A table that cannot take it is out of the
// fetch; when none is left the fetch ends. The page has as many records as that
// of the others has which found the most.
func (f *fetching) Page(ctx context.Context, p rest.Page) (records int64, err error) {
	taken := false
	for _, t := range f.tables {
		if t.failed != nil {
			continue
		}
		format := p.Format
		if t.response.Format != "auto" {
			format = t.response.Format
		}
		rows, fault := t.pages.Add(ctx, format, p.Body)
		if fault != nil {
			if ctx.Err() != nil || !tellable(fault) {
				return 0, fault
			}
			t.failed, err = fault, fault
			continue
		}
		records, taken = max(records, rows), true
	}
	if !taken {
		return 0, err
	}
	return records, nil
}

// close gives up what the tables and the pages take.
func (f *fetching) close() (err error) {
	for _, t := range f.tables {
		err = errors.Join(err, t.pages.Close())
	}
	if f.spool != nil {
		err = errors.Join(err, f.spool.Close())
	}
	return err
}

// outcome makes the next version of a table's feed, unless it would be the one
// that is there.
func (f *Feeds) outcome(ctx context.Context, t *fetchedTable, run int64, o *feedmill.FeedOutcome) error {
	if t.failed != nil {
		return t.failed
	}
	l := &loading{
		before: t.feed, mode: t.feed.Mode, key: t.feed.Key,
		version: feedmill.FeedVersion{Feed: t.feed.ID, Number: t.feed.Version + 1, File: fmt.Sprintf("%s/%s-%d.parquet", t.feed.ID, t.feed.LastRefresh.ID, run)},
		refresh: o.Refresh,
	}
	if len(t.feed.Position) == 0 {
		l.mode = feedmill.ModeReplace // everything was fetched
	}
	if t.feed.Version > 0 && t.pages.Rows() == 0 && l.mode != feedmill.ModeReplace {
		return nil
	}
	schema, warnings, err := t.inference.Schema(t.pages)
	if err != nil {
		return err
	}
	err = f.takeTurn(ctx, func() error { return f.write(ctx, l, schema, warnings, t.pages) })
	if err != nil {
		return err
	}
	o.Refresh = l.refresh
	if t.feed.Version > 0 && !l.reshaped && l.version.ContentHash == t.feed.ContentHash {
		f.remove(l.version.File)
		return nil
	}
	l.version.CreatedAt = now()
	o.Version, o.Reshaped = &l.version, l.reshaped
	return nil
}
