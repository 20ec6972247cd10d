package fetch

import (
	"context"
	"net/http"
	"net/url"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// maxEmptyPages is how many pages without records may follow each other where the
// source says that there are more.
const maxEmptyPages = 100

// sequence is pages that lead from one to the next.
type sequence struct {
	*run
	at   spec.Moment
	seen seen
	// records counts those of all pages so far, rows what each feed has of them, and
	// empty the pages without any since the last with some.
	records int64
	rows    rowCounts
	empty   int
	// last is how many records the last page with some has, most the most that a page
	// has had, and skipped says that the one before this was ignored.
	last, most int64
	skipped    bool
	// whole says that the source has no words for a list inside a record that is cut.
	whole bool
	// opening are the records of the first page.
	opening repeated
	// lane is where the pages are written, and turn is closed when they may go to
	// the sink.
	lane *lane
	turn <-chan struct{}
	unit unit
	// staged are the pages that went to it.
	staged []stagedPage
	// files are those of a report that are still to be read.
	files []*url.URL
}

// pages fetches page after page.
func (s *sequence) pages(ctx context.Context) error {
	first, err := s.first()
	if err != nil {
		return err
	}
	from := first
	if s.spec.Report != nil {
		// A report is made for one unit at a time, as most sources want it.
		if err := s.await(ctx); err != nil {
			return err
		}
		if from, err = s.submit(ctx, first); err != nil {
			return err
		}
	}
	answer := s.get(ctx, from)
	if err := s.await(ctx); err != nil {
		s.trace(answer, 0)
		return err
	}
	for {
		if answer.err != nil || answer.notModified {
			s.trace(answer, 0)
			s.result.NotModified = answer.notModified
			s.result.Position = s.job.Position
			return answer.err
		}
		next, ahead, err := s.consume(ctx, answer)
		if err != nil {
			return err
		}
		if next == nil && len(s.files) > 0 {
			next, s.files = &step{number: answer.step.number + 1, url: s.files[0], get: true}, s.files[1:]
			ahead.drop(s.run)
			ahead = nil
		}
		if next == nil {
			ahead.drop(s.run)
			s.result.Position = s.position(answer, first)
			return nil
		}
		if ahead != nil {
			answer = ahead.wait()
		} else {
			answer = s.get(ctx, *next)
		}
	}
}

// await waits for the turn of the unit.
func (s *sequence) await(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	default:
	}
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// consume hands a page to the sink and, meanwhile, fetches the next one. It returns
// the next page, nil where this one is the last.
func (s *sequence) consume(ctx context.Context, a *answer) (next *step, ahead *prefetch, err error) {
	s.result.Bytes += a.size
	if a.size == 0 {
		s.trace(a, 0)
		if a.ignored {
			if s.job.Notes != nil {
				s.job.Notes.Ignored++
			}
			return s.afterIgnored(a)
		}
		return s.afterEmpty(a)
	}
	s.result.Pages++
	format, err := formatOf(s.job.Format, a.header, a.body)
	if err == nil {
		err = a.wantJSON(format)
	}
	if err != nil {
		err = s.fail(a, err)
		s.trace(a, 0)
		return nil, nil, err
	}
	a.last = saysLast(&s.spec.Pagination, a)
	a.next, a.nextErr = s.follow(a)
	ahead = s.prefetch(ctx, a)
	s.noteMore(a, format)
	s.noteCut(a, format)
	s.noteRepeated(a, format)
	page := feedmill.FetchedPage{Number: int(s.result.Pages), First: a.step.number == 1, Format: format, Body: a.body, With: s.with(s.unit.parent, a.file)}
	var records int64
	if err = s.refuseFirst(ctx, a, format); err == nil {
		records, err = s.handPage(ctx, page, stagedPage{Lane: s.lane.number, At: a.start, Size: a.size, Sum: a.sum, Format: format, First: page.First, File: a.file})
	}
	if err == nil && len(a.more) > 0 {
		var more int64
		more, err = s.handFiles(ctx, a)
		records += more
	}
	if err == nil {
		s.noteError(ctx, a, format, records)
		next, err = s.afterPage(ctx, a, page, records)
	}
	if err != nil {
		err = s.fail(a, err)
	}
	s.trace(a, records)
	if err != nil {
		ahead.drop(s.run)
		return nil, nil, err
	}
	return next, ahead, nil
}

// afterPage is the page after one that had so many rows.
func (s *sequence) afterPage(ctx context.Context, a *answer, page feedmill.FetchedPage, rows int64) (*step, error) {
	records := rows
	if s.job.Count != nil && rows > 0 {
		var err error
		if records, err = s.job.Count(ctx, page); err != nil {
			return nil, err
		}
	}
	return s.after(a, records)
}

// after is the page after one that had so many records, nil where that was the
// last.
func (s *sequence) after(a *answer, records int64) (*step, error) {
	p := &s.spec.Pagination
	s.records += records
	s.result.Records += records
	switch {
	case a.scanErr != nil:
		return nil, spec.Fail("pagination", a.scanErr, "Page %d is not valid JSON, so the next page cannot be found.", a.step.number)
	case records > 0 && int64(a.step.number) > p.MaxPages:
		return nil, spec.Fail("too-many-pages", nil, "There are more than %d pages. Raise pagination.maxPages, request larger pages, or request less data.", p.MaxPages)
	case a.last:
		return nil, nil
	case records > 0 && s.seen.page(a.hash):
		return nil, spec.Fail("pagination-loop", nil, "Page %d is the same as an earlier page. Check pagination; the source seems to ignore it.", a.step.number)
	case a.nextErr != nil:
		return nil, a.nextErr
	case totalReached(p, a, s.records):
		return nil, nil
	case records == 0:
		next, _, err := s.afterEmpty(a)
		return next, err
	}
	s.empty, s.skipped, s.last, s.most = 0, false, records, max(s.most, records)
	if p.Kind == spec.PagesOffset {
		return &step{number: a.step.number + 1, count: a.step.count + records}, nil
	}
	return a.next, nil
}

// afterEmpty is the page after one without records: where the source names the
// next page there is one, and where pages are counted there is none. By the original
// rules a page without records is the last.
func (s *sequence) afterEmpty(a *answer) (*step, *prefetch, error) {
	if s.spec.DefinedUnder == feedmill.RulesOriginal {
		return nil, nil, nil
	}
	switch s.spec.Pagination.Kind {
	case spec.PagesURL, spec.PagesLink, spec.PagesCursor:
	case spec.PagesRange:
		if a.header.Get("Next-Range") == "" {
			return nil, nil, nil // A range without records is behind the last one.
		}
	default:
		return nil, nil, nil
	}
	if a.next == nil && a.nextErr == nil && !a.last {
		a.next, a.nextErr = s.follow(a)
	}
	if a.nextErr != nil || a.next == nil {
		return nil, nil, a.nextErr
	}
	if s.empty++; s.empty >= maxEmptyPages {
		return nil, nil, spec.Fail("pagination-loop", nil, "%d consecutive pages have no records, and the source has yet another page. Check pagination and response.path.", s.empty)
	}
	if int64(a.next.number) > s.spec.Pagination.MaxPages+1 {
		return nil, nil, spec.Fail("too-many-pages", nil, "There are more than %d pages. Raise pagination.maxPages, request larger pages, or request less data.", s.spec.Pagination.MaxPages)
	}
	return a.next, nil, nil
}

// afterIgnored is the page after one that a rule passes over. Where pages are counted, the
// next one is asked for: it tells whether there are more.
func (s *sequence) afterIgnored(a *answer) (next *step, ahead *prefetch, err error) {
	a.last = saysLast(&s.spec.Pagination, a)
	again := s.skipped
	s.skipped = true
	switch {
	case a.last || pagesReached(&s.spec.Pagination, a), s.spec.DefinedUnder == feedmill.RulesOriginal:
	case !s.spec.Pagination.Counts():
		next, ahead, err = s.afterEmpty(a)
	case a.step.number > 1 && !again && int64(a.step.number) <= s.spec.Pagination.MaxPages:
		next = &step{number: a.step.number + 1, count: a.step.count + 1}
		if s.spec.Pagination.Kind == spec.PagesOffset {
			next.count = a.step.count + s.last
		}
	}
	if next == nil && err == nil {
		s.noteIgnored(a)
	}
	return next, ahead, err
}

// position is where the next fetch goes on from.
func (s *sequence) position(last *answer, first step) []byte {
	p := Position{Cursor: s.from.Cursor}
	kind := s.spec.Pagination.Kind
	if last.size > 0 && last.step.number == 1 && (kind == spec.PagesNone || kind == spec.PagesURL || kind == spec.PagesCursor) && s.spec.Request.Method == http.MethodGet {
		p.ETag, p.LastModified = last.header.Get("Etag"), last.header.Get("Last-Modified")
		if p.ETag != "" || p.LastModified != "" {
			p.Request = first.fingerprint
		}
	}
	return p.Text()
}

// trace hands on the requests that an answer took; the last one brought it.
func (r *run) trace(a *answer, records int64) {
	r.tracing.Lock()
	defer r.tracing.Unlock()
	for i, t := range a.traced {
		if i == len(a.traced)-1 && a.err == nil && !a.notModified {
			t.Rows = records
		}
		r.requests++
		if r.job.Trace != nil {
			r.job.Trace(t)
		}
	}
	a.traced = nil
}

// prefetch is a page that is fetched ahead of its turn.
type prefetch struct {
	cancel context.CancelFunc
	done   chan *answer
}

// prefetch begins to fetch the page after a, where its address is known already
// and a does not look as if it were the last one.
func (s *sequence) prefetch(ctx context.Context, a *answer) *prefetch {
	p := &s.spec.Pagination
	if !s.looksFull(a) || a.next == nil || a.last || p.Total != nil || pagesReached(p, a) || int64(a.next.number) > p.MaxPages {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	ahead := &prefetch{cancel: cancel, done: make(chan *answer, 1)}
	go func() { ahead.done <- s.get(ctx, *a.next) }()
	return ahead
}

// looksFull reports whether a page is so long that it is not likely to be an
// empty one, after which nothing must be asked for.
func (s *sequence) looksFull(a *answer) bool {
	const emptyPage = 2 << 10
	s.seen.longest = max(s.seen.longest, a.size)
	return a.size > emptyPage && a.size >= s.seen.longest/4
}

// wait is the page, once it is there.
func (p *prefetch) wait() *answer {
	defer p.cancel()
	return <-p.done
}

// drop ends the fetch of a page that is not wanted. What was asked for it is
// in the trace all the same.
func (p *prefetch) drop(r *run) {
	if p == nil {
		return
	}
	p.cancel()
	a := <-p.done
	if a.err == nil {
		a.err = context.Canceled
	}
	r.trace(a, 0)
}

// seen is what has been asked for and what came of it.
type seen struct {
	steps   map[string]bool
	hashes  map[uint64]bool
	longest int64
}

// page notes a page and reports whether it was there before.
func (s *seen) page(hash uint64) bool {
	if s.hashes[hash] {
		return true
	}
	if s.hashes == nil {
		s.hashes = make(map[uint64]bool)
	}
	s.hashes[hash] = true
	return false
}

// step notes where a page leads and reports whether another led there before.
func (s *seen) step(to string) bool {
	if s.steps[to] {
		return true
	}
	if s.steps == nil {
		s.steps = make(map[string]bool)
	}
	s.steps[to] = true
	return false
}
