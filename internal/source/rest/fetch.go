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
	rotated rotations
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
	// Secrets are those of the spec, and KeepSecrets keeps others from now on; it
	// may be nil.
	Secrets     []byte
	KeepSecrets func(ctx context.Context, secrets []byte) error
	// Trace is told of every request, in order and from one goroutine. It
	// may be nil.
	Trace func(feedmill.TracedRequest)
}

// Sink takes the pages of a fetch.
type Sink interface {
	// Page takes one page, and says how many records it has. It is called in
	// the order of the pages, one at a time.
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
	Records     int64

	marks marks
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
	err = r.fetch(ctx, sink)
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
	end int64
	// ignored counts the answers that a rule of the spec passed over, and taken
	// those that were not.
	ignored, taken int64
	result         Result
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
		f: f, job: job, spec: job.Spec, mask: newMask(job.Spec), from: from, at: moment{now: job.Now.In(job.Spec.zone)},
		place: string(job.Workspace) + " " + job.Spec.request.origin.Host + " " + job.Spec.credentialHash(),
	}
	if inc := r.spec.incremental; inc != nil {
		r.at.cursor, err = inc.sent(from.Cursor, r.at, r.spec.zone)
	}
	return r, err
}

// sent is the cursor as it is sent: the kept one less the look-back, or the start.
func (inc *incremental) sent(kept string, m moment, zone *time.Location) (string, error) {
	if kept == "" || inc.step > 0 {
		start := inc.start.expand(m, nil)
		if at, ok := timeOf(start, zone); ok && inc.format.unit > 0 {
			return inc.format.write(at), nil
		}
		return start, nil
	}
	back := lookBack(kept, inc.lookback)
	if inc.format.unit == 0 {
		return back, nil
	}
	at, ok := timeOf(back, zone)
	if !ok {
		return "", fail("no-cursor", nil, "The newest value at incremental.cursorPath is %q, which is no time that incremental.format could write.", shorten(back))
	}
	return inc.format.write(at), nil
}

// fetch asks for everything: once, or for every window of time.
func (r *run) fetch(ctx context.Context, sink Sink) error {
	windows := []window{{}}
	stepping := r.spec.incremental != nil && r.spec.incremental.step > 0
	if stepping {
		var err error
		if windows, err = r.windows(); err != nil {
			return err
		}
	}
	rows := make([]int64, len(windows))
	for i, w := range windows {
		s := &sequence{run: r, at: r.at}
		if stepping {
			s.at = w.in(r.at, r.spec.incremental)
		}
		if err := s.pages(ctx, sink); err != nil || r.result.NotModified {
			return err
		}
		rows[i] = s.records
	}
	if stepping {
		r.result.marks = r.mark(windows, rows)
		p := r.from
		if len(windows) > 0 {
			p = position{Window: windows[len(windows)-1].from.Format(time.RFC3339)}
		}
		r.result.Position = p.text()
	}
	if r.taken == 0 && r.ignored > 0 {
		return fail("all-ignored", nil, "Every answer of the source fell under a rule of errors that ignores it, so there is no data; the feed keeps what it has. Check the request, or the rule.")
	}
	return nil
}
