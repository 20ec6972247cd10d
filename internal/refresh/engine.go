// Package refresh decides when a source is fetched and what becomes of it.
//
// The [Engine] asks the store for sources that are due, chooses among them so
// that neither a workspace nor a host takes all turns, and claims each with a
// lease. While the [Runner] fetches, the lease is renewed and the progress
// written; what the run brought is then committed together with the time of the
// next one, the state of the feeds and the events that tell of it.
//
// The store is the truth. A source stays due until its run is committed, and a
// run is committed only by whoever has the lease: so a source that a dead
// replica was fetching is fetched by another when the lease has run out, no
// source is ever committed by two, and a run that has lost its lease leaves
// nothing behind. What the outcomes mean is decided by the root package; see
// [feedmill.SourceChange].
package refresh

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/share"
)

// Store is what the engine needs of the store.
type Store interface {
	DueSources(ctx context.Context, now time.Time, each, limit int) ([]feedmill.DueSource, error)
	ChangeSource(ctx context.Context, workspace, source feedmill.ID, change func(*feedmill.SourceChange) error) error
	ReleaseSources(ctx context.Context, holder string) (int64, error)
	RenewSource(ctx context.Context, workspace, source feedmill.ID, run int64, until time.Time, progress []feedmill.Refresh) error
}

// Runner fetches sources and makes versions of what they have.
type Runner interface {
	// Run fetches a source for its feeds. What goes wrong with the source is
	// an outcome of the feeds; an error is a fault of the service itself, or
	// the cause of ctx where that has ended. With an error there are no
	// outcomes, and no files of them.
	Run(context.Context, feedmill.Claim) ([]feedmill.FeedOutcome, error)
	// Drop removes the files of outcomes that were not committed.
	Drop([]feedmill.FeedOutcome)
	// Committed is told of outcomes of a run that were.
	Committed(claim feedmill.Claim, outcomes []feedmill.FeedOutcome)
}

// Options are the parts and the limits of an engine. The zero value of a limit
// means its default.
type Options struct {
	Store  Store
	Runner Runner
	// Holder is the name that leases are taken under. No other live process has it: the
	// engine releases the leases of the process that had it before. Empty releases none.
	Holder string
	// Elsewhere is the error of a source whose feeds have files that this process does not
	// have. Such a source is left to the process that has them. Elsewhere is nil where no other
	// process can be.
	Elsewhere func(ctx context.Context, workspace, source feedmill.ID) error
	// Permits holds MaxOfHost across replicas; nil for one process.
	Permits *share.Permits
	// Events makes the events that tell of news. The change is as it will be
	// written, with the feeds and their last refreshes.
	Events  func(c *feedmill.SourceChange, news []feedmill.SourceNews) ([]feedmill.Event, error)
	Log     *slog.Logger
	Metrics prometheus.Registerer

	// MaxRuns bounds the runs under way, MaxOfWorkspace those of one workspace
	// and MaxOfHost those of one workspace that fetch from one host.
	MaxRuns, MaxOfWorkspace, MaxOfHost int
	// PollEvery is how often the store is asked for what is due.
	PollEvery time.Duration
}

const (
	defaultMaxRuns   = 32
	defaultMaxOfHost = 4
	defaultPollEvery = time.Second
	// lookAhead is how many due sources are looked at to choose from.
	lookAhead = 1000
	// leaseTime is how long a run has a source without renewing its lease.
	leaseTime  = feedmill.SourceLease
	renewEvery = 10 * time.Second
	// writeProgressEvery is how often progress is written while there is any.
	writeProgressEvery = time.Second
	// storeTimeout bounds a call of the store, and lastWrite what is left of one at a
	// shutdown.
	storeTimeout = 10 * time.Second
	lastWrite    = 3 * time.Second
	// retryCommit is how long to wait before a commit is tried again.
	retryCommit = time.Second
)

var (
	errLost      = errors.New("the run has lost its lease")
	errCancelled = errors.New("the run was canceled")
)

// Engine runs what is due. Its methods may be called from any goroutine.
type Engine struct {
	Options
	count *counters
	wake  chan struct{}
	runs  sync.WaitGroup

	mu    sync.Mutex
	turns turns
	under map[feedmill.ID]*underWay
	// left are the sources that are left to other processes, and since when.
	left map[feedmill.ID]time.Time
}

// underWay is a run of this engine.
type underWay struct {
	cancel context.CancelCauseFunc
	// number is the run's, 0 until it has the source, and lost the first
	// number that is known to be a later run's.
	number, lost int64
}

// New makes an engine. It works while [Engine.Run] runs.
func New(o Options) *Engine {
	orDefault(&o.MaxRuns, defaultMaxRuns)
	orDefault(&o.MaxOfWorkspace, (o.MaxRuns+1)/2)
	orDefault(&o.MaxOfHost, defaultMaxOfHost)
	if o.PollEvery == 0 {
		o.PollEvery = defaultPollEvery
	}
	e := &Engine{
		Options: o, wake: make(chan struct{}, 1), under: make(map[feedmill.ID]*underWay), left: make(map[feedmill.ID]time.Time),
		turns: newTurns(o.MaxRuns, o.MaxOfWorkspace, o.MaxOfHost),
	}
	e.count = newCounters(o.Metrics, e)
	return e
}

func orDefault(n *int, value int) {
	if *n == 0 {
		*n = value
	}
}

// Run works until ctx ends. Runs under way are then broken off and their sources
// given back, as due as they were.
func (e *Engine) Run(ctx context.Context) error {
	defer e.runs.Wait()
	tick := time.NewTicker(e.PollEvery)
	defer tick.Stop()
	released := false
	for {
		// Before the first claim: afterwards these leases would be its own.
		if released = released || e.releaseLeft(ctx); released {
			e.poll(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-e.wake:
		}
	}
}

// releaseLeft releases the leases that the process before this one has left, and reports
// whether it did.
func (e *Engine) releaseLeft(ctx context.Context) bool {
	if e.Holder == "" {
		return true
	}
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	n, err := e.Store.ReleaseSources(bounded, e.Holder)
	if ctx.Err() != nil {
		return false // the engine stops
	}
	if err != nil {
		e.Log.Warn("releasing the leases of the previous process failed; will retry in a second", "error", err)
		return false
	}
	if n > 0 {
		e.Log.Info("released the leases of the previous process", "sources", n)
	}
	return true
}

// Wake makes the engine poll for due sources now.
func (e *Engine) Wake() {
	select {
	case e.wake <- struct{}{}:
	default: // it is about to poll anyway
	}
}

// Cancel breaks off the run that this engine has of a source, if its number is
// below the given one, which is the source's after the run was cancelled in the
// store. A run elsewhere notices by itself when it renews its lease.
func (e *Engine) Cancel(source feedmill.ID, run int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if u := e.under[source]; u != nil {
		u.lost = max(u.lost, run)
		u.check()
	}
}

// check breaks off a run that is known to have lost its source.
func (u *underWay) check() {
	if u.number != 0 && u.number < u.lost {
		u.cancel(errCancelled)
	}
}

// poll begins runs of what is due, as many as may be.
func (e *Engine) poll(ctx context.Context) {
	e.mu.Lock()
	full := e.turns.free() == 0
	e.mu.Unlock()
	if full || ctx.Err() != nil {
		return // it polls again when a run has ended
	}
	asking, cancel := context.WithTimeout(ctx, storeTimeout)
	due, err := e.Store.DueSources(asking, moment(), e.MaxOfHost, lookAhead)
	cancel()
	if err != nil {
		if ctx.Err() == nil {
			e.Log.Warn("listing due sources failed", "error", err)
		}
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.turns.choose(e.ours(due)) {
		running, cancel := context.WithCancelCause(ctx)
		u := &underWay{cancel: cancel}
		e.under[s.ID] = u
		e.runs.Go(func() {
			defer cancel(nil)
			began := e.runSource(running, s, u)
			e.mu.Lock()
			e.turns.end(s)
			delete(e.under, s.ID)
			e.mu.Unlock()
			if began {
				e.Wake()
			}
		})
	}
}

// storeCall is the context of a call of the store that the end of ctx does not cancel,
// only shorten: the call may take storeTimeout, and lastWrite after ctx has ended.
func storeCall(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := storeTimeout
	if ctx.Err() != nil {
		timeout = lastWrite
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	stop := context.AfterFunc(ctx, func() {
		last := time.NewTimer(lastWrite)
		defer last.Stop()
		select {
		case <-last.C:
			cancel()
		case <-call.Done():
		}
	})
	return call, func() { stop(); cancel() }
}

// moment is the present as a store keeps it.
func moment() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
