package feed

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/decode"
	"github.com/feedmill/feedmill/internal/model"
)

// fetching is a fetch under way and the tables that are made of it.
type fetching struct {
	mill   *Mill
	tables []*fetchedTable
	trace  []feedmill.TracedRequest
	report func(feedmill.Refresh)
	// counted is what all refreshes of the fetch have in common.
	counted feedmill.Refresh
	spool   *os.File
}

// fetchedTable is the records of one feed, as they come page by page.
type fetchedTable struct {
	feed      feedmill.Feed
	format    string // of all pages, empty where each has its own
	pages     *decode.Pages
	inference *model.Inference
	failed    error
}

func newFetching(m *Mill, feeds []feedmill.Feed, report func(feedmill.Refresh)) *fetching {
	f := &fetching{mill: m, report: report}
	for _, feed := range feeds {
		f.tables = append(f.tables, &fetchedTable{feed: feed})
	}
	return f
}

// fetch fetches all pages into a file that is gone with this process, whatever
// becomes of it.
func (f *fetching) fetch(ctx context.Context, t feedmill.FeedType, job feedmill.Fetch, sink feedmill.FetchSink) (feedmill.Fetched, error) {
	source, err := f.mill.source(t)
	if err != nil {
		return feedmill.Fetched{}, err
	}
	if f.spool, err = os.CreateTemp(f.mill.Temp, "fetch-*"); err != nil {
		return feedmill.Fetched{}, fmt.Errorf("spool: %w", err)
	}
	if err := os.Remove(f.spool.Name()); err != nil {
		return feedmill.Fetched{}, fmt.Errorf("spool: %w", err)
	}
	job.Spool, job.Now, job.Trace = f.spool, now(), f.traced
	return source.Fetch(ctx, job, sink)
}

// Read begins the table of a feed.
func (f *fetching) Read(feed feedmill.ID, r feedmill.PageReading) (err error) {
	for _, t := range f.tables {
		if t.feed.ID == feed {
			t.format, t.inference = r.Format, model.New(model.Options{Text: r.Text})
			t.pages, err = f.mill.openPages(r, t.inference)
		}
	}
	return err
}

// Page adds a page to every table. A table that cannot take it is out of the
// fetch; when none is left the fetch ends. The page has as many records as that
// of the others has which found the most.
func (f *fetching) Page(ctx context.Context, p feedmill.FetchedPage) (records int64, err error) {
	taken := false
	for _, t := range f.tables {
		if t.failed != nil {
			continue
		}
		format := p.Format
		if t.format != "" {
			format = t.format
		}
		rows, fault := t.pages.Add(ctx, format, p.Body)
		if fault != nil {
			if ctx.Err() != nil || !isOfSource(fault) {
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
	r.RowsIn = t.rows()
	return r
}

func (t *fetchedTable) rows() int64 {
	if t.pages == nil {
		return 0
	}
	return t.pages.Rows()
}

// close gives up what the tables and the pages take.
func (f *fetching) close() (err error) {
	for _, t := range f.tables {
		if t.pages != nil {
			err = errors.Join(err, t.pages.Close())
		}
	}
	if f.spool != nil {
		err = errors.Join(err, f.spool.Close())
	}
	return err
}
