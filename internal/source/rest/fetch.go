package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/feedmill/feedmill"
)

// Options is what a [Fetcher] works with.
type Options struct {
	// Transport sends requests. It follows no redirects, and keeps the egress
	// policy when it dials.
	Transport http.RoundTripper
	// CheckURL says what is wrong with a URL before it is asked, nil for
	// nothing.
	CheckURL func(*url.URL) error
	// Forbidden is matched by the errors of Transport and CheckURL for what
	// the egress policy refuses: that is not tried again.
	Forbidden error
	// UserAgent is what requests say they are from.
	UserAgent string
	// MaxBytes is the most that a definition may let a fetch bring, and a
	// preview brings; 0 is [DefaultMaxBytes].
	MaxBytes int64
}

// Fetcher fetches the data of sources. It remembers tokens, and how often each
// host was asked, so there is one of it in a process. Goroutines may share it.
type Fetcher struct {
	options Options
	paces   paces
	tokens  tokens
}

// NewFetcher makes a fetcher.
func NewFetcher(o Options) *Fetcher {
	if o.UserAgent == "" {
		o.UserAgent = "Feedmill"
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return &Fetcher{options: o}
}

// Job is one fetch.
type Job struct {
	Spec      *Spec
	Source    feedmill.ID
	Workspace feedmill.ID
	// Position is where the last fetch left off, nil for the first.
	Position []byte
	// Format is the format of the pages where the user says one.
	Format string
	// Now is what {{now}} and {{today}} mean, in the time zone in which days
	// are counted.
	Now time.Time
	// Spool is an empty file, in which the pages are one after the other. The
	// caller removes it.
	Spool *os.File
	// Trace is told of every request, in order and from one goroutine. It
	// may be nil.
	Trace func(feedmill.TracedRequest)
}

// Sink takes the pages of a fetch.
type Sink interface {
	// Page takes one page, and says how many records it has. It is called in
	// the order of the pages, one at a time; a page without records is the
	// last.
	Page(ctx context.Context, p feedmill.FetchedPage) (records int64, err error)
}

// Result is what a fetch came to.
type Result struct {
	// Position is where the next fetch goes on from, once the data of this one
	// is kept. Where the spec has a cursor, [Advance] moves it.
	Position []byte
	// NotModified says that the source has nothing else than the last time;
	// there were no pages.
	NotModified bool
	Requests    int64
	Pages       int64
	Bytes       int64
}

// Fetch asks for all pages and hands them to the sink. While the sink works on
// a page the next one is fetched, where it is known and likely to be there.
//
// The error is a [*feedmill.SourceFailure], what the sink failed with, what ctx
// ended with, or a fault of the service itself. It matches [ErrAuth] where the
// credential was refused. The result counts what was done also where there is an error.
func (f *Fetcher) Fetch(ctx context.Context, job Job, sink Sink) (Result, error) {
	r, err := f.newRun(job)
	if err != nil {
		return Result{}, err
	}
	err = r.pages(ctx, sink)
	if failure, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		err = r.mask.failure(failure)
	}
	return r.result, err
}

// run is a fetch under way.
type run struct {
	f    *Fetcher
	job  Job
	spec *Spec
	mask *mask
	from position
	at   moment
	// place is the host and credential whose rate the workspace shares.
	place string
	// end is where the spool goes on. Only the request under way moves it.
	end    int64
	seen   seen
	result Result
}

func (f *Fetcher) newRun(job Job) (*run, error) {
	from, err := parsePosition(job.Position)
	if err != nil {
		return nil, err
	}
	if job.Spec == nil || job.Spool == nil {
		return nil, errors.New("a fetch needs a spec and a spool")
	}
	r := &run{
		f: f, job: job, spec: job.Spec, mask: newMask(job.Spec), from: from, at: moment{now: job.Now},
		place: string(job.Workspace) + " " + job.Spec.request.origin.Host + " " + job.Spec.credentialHash(),
	}
	if inc := r.spec.incremental; inc != nil {
		r.at.cursor = lookBack(from.Cursor, inc.lookback)
		if from.Cursor == "" {
			r.at.cursor = inc.start.expand(r.at, nil)
		}
	}
	return r, nil
}

// pages fetches page after page.
func (r *run) pages(ctx context.Context, sink Sink) error {
	first, err := r.first()
	if err != nil {
		return err
	}
	answer := r.get(ctx, first)
	for {
		if answer.err != nil || answer.notModified {
			r.trace(answer, 0)
			r.result.NotModified = answer.notModified
			r.result.Position = r.job.Position
			return answer.err
		}
		records, ahead, err := r.consume(ctx, answer, sink)
		if err != nil {
			return err
		}
		next, err := answer.next, answer.nextErr
		if r.spec.pagination.kind == pagesOffset {
			next = &step{number: answer.step.number + 1, count: answer.step.count + records}
		}
		if err != nil && records > 0 {
			return err
		}
		if records == 0 || next == nil {
			ahead.drop(r)
			r.result.Position = r.position(answer, first)
			return nil
		}
		if ahead != nil {
			answer = ahead.wait()
		} else {
			answer = r.get(ctx, *next)
		}
	}
}

// consume hands a page to the sink and, meanwhile, fetches the next one.
func (r *run) consume(ctx context.Context, a *answer, sink Sink) (records int64, next *prefetch, err error) {
	r.result.Bytes += a.size
	if a.size == 0 {
		r.trace(a, 0)
		return 0, nil, nil
	}
	r.result.Pages++
	if r.seen.page(a.hash) {
		r.trace(a, 0)
		return 0, nil, fail("pagination-loop", nil, "Page %d is the same as one before it. Check the pagination: the source seems not to heed it.", a.step.number)
	}
	format, err := formatOf(r.job.Format, a.header, a.body)
	if err == nil {
		err = a.wantJSON(format)
	}
	if err != nil {
		r.trace(a, 0)
		return 0, nil, err
	}
	a.next, a.nextErr = r.follow(a)
	next = r.prefetch(ctx, a)
	records, err = sink.Page(ctx, feedmill.FetchedPage{Number: a.step.number, Format: format, Body: a.body})
	r.trace(a, records)
	switch {
	case err != nil:
	case a.scanErr != nil:
		err = fail("pagination", a.scanErr, "Page %d is no JSON that the next page could be found in.", a.step.number)
	case records > 0 && int64(a.step.number) > r.spec.pagination.maxPages:
		err = fail("too-many-pages", nil, "There are more than %d pages. Raise pagination.maxPages, ask for larger pages, or ask for less.", r.spec.pagination.maxPages)
	}
	if err != nil {
		next.drop(r)
		return 0, nil, err
	}
	return records, next, nil
}

// position is where the next fetch goes on from.
func (r *run) position(last *answer, first step) []byte {
	p := position{Cursor: r.from.Cursor}
	kind := r.spec.pagination.kind
	if last.size > 0 && last.step.number == 1 && (kind == pagesNone || kind == pagesURL || kind == pagesCursor) && r.spec.request.method == http.MethodGet {
		p.ETag, p.LastModified = last.header.Get("Etag"), last.header.Get("Last-Modified")
		if p.ETag != "" || p.LastModified != "" {
			p.Request = first.fingerprint
		}
	}
	return p.text()
}

// trace hands on the requests that an answer took; the last one brought it.
func (r *run) trace(a *answer, records int64) {
	for i, t := range a.traced {
		if i == len(a.traced)-1 && a.err == nil && !a.notModified {
			t.Rows = records
		}
		r.result.Requests++
		if r.job.Trace != nil {
			r.job.Trace(t)
		}
	}
}

// prefetch is a page that is fetched ahead of its turn.
type prefetch struct {
	cancel context.CancelFunc
	done   chan *answer
}

// prefetch begins to fetch the page after a, where its address is known already
// and a does not look as if it were the last one.
func (r *run) prefetch(ctx context.Context, a *answer) *prefetch {
	if !r.looksFull(a) || a.next == nil || int64(a.next.number) > r.spec.pagination.maxPages {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &prefetch{cancel: cancel, done: make(chan *answer, 1)}
	go func() { p.done <- r.get(ctx, *a.next) }()
	return p
}

// looksFull reports whether a page is so long that it is not likely to be an
// empty one, after which nothing must be asked for.
func (r *run) looksFull(a *answer) bool {
	const emptyPage = 2 << 10
	r.seen.longest = max(r.seen.longest, a.size)
	return a.size > emptyPage && a.size >= r.seen.longest/4
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
