package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/source/rest/spec"
)

// Options is what a [Fetcher] works with.
type Options struct {
	// Transport sends requests. It follows no redirects, and keeps the egress
	// policy when it dials.
	Transport http.RoundTripper
	// Secure makes a transport that keeps the egress policy, verifies servers by these
	// authorities and shows them this certificate; nil is for what is usual.
	Secure func(authorities *x509.CertPool, certificate *tls.Certificate) *http.Transport
	// CheckURL says what is wrong with a URL before it is asked, nil for
	// nothing.
	CheckURL func(*url.URL) error
	// Forbidden is matched by the errors of Transport and CheckURL for what
	// the egress policy refuses: that is not tried again.
	Forbidden error
	// UserAgent is what requests say they are from.
	UserAgent string
	// MaxBytes is the most that a definition may let a fetch bring, and a
	// preview brings; 0 is [spec.DefaultMaxBytes].
	MaxBytes int64
	// Rows reads columns of all rows of a feed, an object a line.
	// It returns the number of the version that it reads.
	Rows func(ctx context.Context, workspace, feed feedmill.ID, fields []string) (io.ReadCloser, int64, error)
}

// Fetcher fetches the data of sources. It remembers tokens, and how often each
// host was asked, so there is one of it in a process. Goroutines may share it.
type Fetcher struct {
	Options Options
	paces   paces
	tokens  tokens
	rotated rotations
	secured transports
}

// NewFetcher makes a fetcher.
func NewFetcher(o Options) *Fetcher {
	if o.UserAgent == "" {
		o.UserAgent = "Feedmill"
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = spec.DefaultMaxBytes
	}
	return &Fetcher{Options: o}
}

// Job is one fetch.
type Job struct {
	Spec      *spec.Spec
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
	// Take, where it is set, is called before bytes of pages are written, and fails where
	// the disk has no room for them.
	Take func(n int64) error
	// Stage is a folder for what is done of a fetch of many parts, empty for none,
	// and Print tells fetches apart: where it is the same, one goes on behind what
	// another has done. Files that are read until the data is kept are appended to
	// Close.
	Stage, Fingerprint string
	Close              *[]io.Closer
	// HadRows says that a feed has rows already, and NoPath that one that has never been
	// fetched has no path to its records.
	HadRows, NoPath bool
	// NumericCursor says that the values of the cursor in the data are numbers.
	NumericCursor bool
	// CompareRows says that rows that come again are known by their values alone.
	CompareRows bool
	// Entry is which file of a zip archive is meant, empty for the only one, and
	// Encoding that of the pages, empty where they say what it is.
	Entry, Encoding string
	// FileColumn is the column for the names of the files of archives, empty for none.
	FileColumn string
	// Progress is told how many units are done; it may be nil.
	Progress func(done, all int64)
	// Count counts the records of a page where rows are made of parts of them, nil
	// where the sink does.
	Count func(context.Context, feedmill.FetchedPage) (int64, error)
	// Notes is told what is to be said of the answers; it may be nil.
	Notes *Notes
	// Cursor sees the texts of the column of the cursor; it may be nil.
	Cursor *spec.Cursor
	// Secrets are those of the spec, and KeepSecrets keeps others from now on; it
	// may be nil.
	Secrets     []byte
	KeepSecrets func(ctx context.Context, secrets []byte) error
	// Renew has a refresh token exchanged that is not the source's alone; it may be nil.
	Renew func(ctx context.Context, exchange func(context.Context, feedmill.Renewal) (feedmill.Renewal, error)) error
	// Trace is told of every request, in order and from one goroutine. It
	// may be nil.
	Trace func(feedmill.TracedRequest)
}

// Sink takes the pages of a fetch.
type Sink interface {
	// Page takes one page, and says how many rows each feed has of it. It is called
	// in the order of the pages, one at a time.
	Page(ctx context.Context, p feedmill.FetchedPage) (rows []int64, err error)
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
	// SawCursor says that a record of a parent had a cursor.
	SawCursor bool

	// WindowRows are the windows of time that were fetched.
	WindowRows []windowRows
	// Partial is why the parents may not be all that there are, empty where they are.
	Partial string
}

// Fetch asks for all pages and hands them to the sink. While the sink works on
// a page the next one is fetched, where it is known and likely to be there.
//
// The error is a [*feedmill.SourceFailure], what the sink failed with, what ctx
// ended with, or a fault of the service itself. It matches [spec.ErrAuth] where the
// credential was refused. The result counts what was done also where there is an error.
func (f *Fetcher) Fetch(ctx context.Context, job Job, sink Sink) (Result, error) {
	r, err := f.newRun(job)
	if err != nil {
		return Result{}, err
	}
	r.sink = sink
	err = r.fetch(ctx)
	if failure, ok := errors.AsType[*feedmill.SourceFailure](err); ok {
		err = r.mask.Failure(failure)
	}
	r.result.Requests = r.requests
	return r.result, err
}

// run is a fetch in progress.
type run struct {
	f    *Fetcher
	job  Job
	spec *spec.Spec
	// signer signs the requests with the credential of the spec.
	signer signer
	mask   *spec.Mask
	from   Position
	at     spec.Moment
	// place is the host and credential whose rate the workspace shares.
	place string
	sink  Sink
	// lanes are the files that pages are written to, and stage keeps what is done,
	// nil where nothing is kept.
	lanes [maxParallel]*lane
	stage *stage
	// upstream is the version of the feed that the parents are rows of.
	upstream int64
	// spent is how many bytes have come, ignored counts the answers that a rule of
	// the spec passed over, and taken those that were not.
	spent, ignored, taken *atomic.Int64
	signing               *signing
	digest                *digestState
	// tracing guards requests, which counts them, and the trace of the job.
	tracing  *sync.Mutex
	requests int64
	// What follows belongs to the unit whose turn it is.
	cursors map[string]string
	result  Result
	// suspect is the response that Notes.Error is about.
	suspect *feedmill.SourceAnswer
	// all is how many units there are, and done how many of them are.
	all, done int64
}

func (f *Fetcher) newRun(job Job) (*run, error) {
	from, err := ParsePosition(job.Position)
	if err != nil {
		return nil, err
	}
	if job.Spec == nil || job.Spool == nil {
		return nil, errors.New("a fetch needs a spec and a spool")
	}
	r := &run{
		f: f, job: job, spec: job.Spec, signer: signerOf(job.Spec.Auth), mask: spec.NewMask(job.Spec), from: from, at: spec.Moment{Now: job.Now.In(job.Spec.Zone)},
		tracing: new(sync.Mutex), spent: new(atomic.Int64), ignored: new(atomic.Int64), taken: new(atomic.Int64), cursors: maps.Clone(from.Parents), signing: new(signing), digest: new(digestState),
		place: string(job.Workspace) + " " + job.Spec.Request.Origin.Host + " " + job.Spec.CredentialHash(),
	}
	if r.cursors == nil {
		r.cursors = make(map[string]string)
	}
	if inc := r.spec.Incremental; inc != nil {
		r.at.Numeric = r.spec.DefinedUnder > feedmill.RulesFirst && (inc.NumericStart || job.NumericCursor)
		r.at.Cursor, err = inc.Sent(from.Cursor, r.at, r.spec.Zone)
	}
	return r, err
}

// fetch asks for everything: once, or for every unit.
func (r *run) fetch(ctx context.Context) (err error) {
	plan, err := r.plan(ctx)
	if err != nil {
		return err
	}
	r.result.Partial = r.job.Notes.Partial() // of the parents so far
	if r.job.Stage != "" && plan.parted {
		if r.stage, err = openStage(r.job.Stage, r.job.Fingerprint, r.job.Now); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.close()) }()
	}
	rows, err := r.each(ctx, plan.units)
	if err != nil || r.result.NotModified {
		return err
	}
	if plan.parted {
		r.result.Position = r.reached(plan).Text()
		r.result.WindowRows = plan.came(rows)
	}
	if r.taken.Load() == 0 && r.ignored.Load() > 0 {
		return spec.Fail("all-ignored", nil, "Rules in errors ignored every response of the source. The feed keeps its rows. Check the request or the rules.")
	}
	return r.refuseError()
}
