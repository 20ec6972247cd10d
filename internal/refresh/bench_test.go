package refresh

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/sqlite"
	"github.com/feedmill/feedmill/internal/store/sqlitetest"
)

// bench is a real store in simulated time, and the engines that a test starts on it.
type bench struct {
	*testing.T
	db *sqlite.DB
	ws feedmill.ID
}

// replica is an engine with a view of the store of its own.
type replica struct {
	*Engine
	store   *troubledStore
	runner  *runner
	metrics *prometheus.Registry
	stop    context.CancelFunc
	done    chan struct{}
}

// troubledStore is the real store with the trouble that a test orders.
type troubledStore struct {
	*sqlite.DB
	// away fails every call and hangs keeps changes and looks waiting. unheard
	// only tells that a change failed, and repeats makes each change twice, as a
	// transaction that is tried again does.
	away, hangs, unheard, repeats atomic.Bool
	// changesAway fails changes alone.
	changesAway atomic.Bool
	// refusesEvents refuses those of refreshes, refusesAll all.
	refusesEvents, refusesAll atomic.Bool
	looks, changes, renews    atomic.Int64
}

func (s *troubledStore) DueSources(ctx context.Context, now time.Time, each, limit int) ([]feedmill.DueSource, error) {
	s.looks.Add(1)
	if s.hangs.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if s.away.Load() {
		return nil, feedmill.ErrUnavailable
	}
	return s.DB.DueSources(ctx, now, each, limit)
}

func (s *troubledStore) ChangeSource(ctx context.Context, workspace, source feedmill.ID, change func(*feedmill.SourceChange) error) error {
	s.changes.Add(1)
	if s.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.away.Load() || s.changesAway.Load() {
		return feedmill.ErrUnavailable
	}
	err := s.DB.ChangeSource(ctx, workspace, source, func(c *feedmill.SourceChange) error {
		if s.repeats.Load() {
			undone := *c
			undone.Feeds = slices.Clone(c.Feeds)
			if err := change(&undone); err != nil {
				return err
			}
		}
		return change(c)
	})
	if s.unheard.Swap(false) {
		return feedmill.ErrUnavailable
	}
	return err
}

func (s *troubledStore) RenewSource(ctx context.Context, workspace, source feedmill.ID, run int64, until time.Time, progress []feedmill.Refresh) error {
	s.renews.Add(1)
	if s.away.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.DB.RenewSource(ctx, workspace, source, run, until, progress)
}

// runner is a runner whose runs a test decides and that notes what happened.
type runner struct {
	run func(context.Context, feedmill.Claim) ([]feedmill.FeedOutcome, error)

	mu      sync.Mutex
	began   []began
	most    map[string]int // at once: of a source, a workspace or a host
	now     map[string]int
	dropped [][]feedmill.FeedOutcome
}

type began struct {
	source feedmill.ID
	at     time.Time
}

func newRunner(run func(context.Context, feedmill.Claim) ([]feedmill.FeedOutcome, error)) *runner {
	return &runner{run: run, most: make(map[string]int), now: make(map[string]int)}
}

func (r *runner) Run(ctx context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
	who := []string{string(c.Source.ID), string(c.Source.Workspace), c.Source.Host, ""}
	r.mu.Lock()
	r.began = append(r.began, began{c.Source.ID, time.Now()})
	for _, w := range who {
		r.now[w]++
		r.most[w] = max(r.most[w], r.now[w])
	}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, w := range who {
			r.now[w]--
		}
	}()
	return r.run(ctx, c)
}

func (r *runner) Committed(feedmill.Claim, []feedmill.FeedOutcome) {}

func (r *runner) Drop(res []feedmill.FeedOutcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped = append(r.dropped, res)
}

func (r *runner) runs() []began {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.began[:len(r.began):len(r.began)]
}

func (r *runner) drops() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.dropped)
}

// succeeds is a run that takes a time and finds new rows, or ends with ctx.
func succeeds(took time.Duration) func(context.Context, feedmill.Claim) ([]feedmill.FeedOutcome, error) {
	return func(ctx context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
		select {
		case <-time.After(took):
			return versions(c), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// stubborn is a run that takes a time, whatever happens to ctx.
func stubborn(took time.Duration) func(context.Context, feedmill.Claim) ([]feedmill.FeedOutcome, error) {
	return func(_ context.Context, c feedmill.Claim) ([]feedmill.FeedOutcome, error) {
		time.Sleep(took)
		return versions(c), nil
	}
}

// versions is the result of a run with a new version for every feed.
func versions(c feedmill.Claim) (r []feedmill.FeedOutcome) {
	for _, f := range c.Feeds {
		r = append(r, feedmill.FeedOutcome{
			Feed: f.ID, Position: fmt.Appendf(nil, "%d", c.Source.Run), Refresh: feedmill.Refresh{RowsIn: 1, RowsStored: 1}, Trace: []feedmill.TracedRequest{{Method: "GET", URL: "https://h/"}},
			Version: &feedmill.FeedVersion{
				Feed: f.ID, Number: f.Version + 1, Rows: 1, ContentHash: fmt.Sprint(f.Version + 1), Files: []feedmill.VersionFile{{Name: string(feedmill.NewID("x"))}}, CreatedAt: moment(),
			},
		})
	}
	return r
}

// onBench runs a test on a bench in simulated time.
func onBench(t *testing.T, test func(*bench)) {
	t.Helper()
	packInRealTime(t)
	synctest.Test(t, func(t *testing.T) {
		test(newBench(t))
	})
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, db: sqlitetest.New(t)}
	b.ws = b.workspace("w")
	return b
}

var packed sync.Once

// packInRealTime writes and reads a trace once. What packs traces lasts for the
// whole process and must not be made in the simulated time of one test.
func packInRealTime(t *testing.T) {
	packed.Do(func() {
		b := newBench(t)
		f := b.source(b.ws, "h", feedmill.Schedule{})
		b.change(f, func(c *feedmill.SourceChange) error {
			c.Traces = []feedmill.Trace{{Refresh: f.LastRefresh.ID, Feed: f.ID, Requests: []feedmill.TracedRequest{{Method: "GET"}}}}
			return nil
		})
		_, err := b.db.RefreshTrace(t.Context(), b.ws, f.ID, f.LastRefresh.ID)
		b.must(err)
	})
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) workspace(name string) feedmill.ID {
	b.Helper()
	id := feedmill.NewID(feedmill.PrefixWorkspace)
	b.must(b.db.CreateWorkspace(b.Context(), feedmill.Workspace{ID: id, Name: name, CreatedAt: moment()}, nil))
	return id
}

// start starts an engine. The test ends it with halt.
func (b *bench) start(o Options, run func(context.Context, feedmill.Claim) ([]feedmill.FeedOutcome, error)) *replica {
	r := &replica{store: &troubledStore{DB: b.db}, runner: newRunner(run), metrics: prometheus.NewRegistry(), done: make(chan struct{})}
	o.Store, o.Runner, o.Log, o.Metrics = r.store, r.runner, slog.New(slog.DiscardHandler), r.metrics
	o.Events = func(c *feedmill.SourceChange, news []feedmill.SourceNews) (events []feedmill.Event, err error) {
		if r.store.refusesAll.Load() || r.store.refusesEvents.Load() && news[0].Kind == feedmill.NewsRefreshed {
			return nil, fmt.Errorf("an event that cannot be written")
		}
		for _, n := range news {
			events = append(events, feedmill.Event{
				ID: feedmill.NewID(feedmill.PrefixEvent), Workspace: c.Source.Workspace, Type: feedmill.PublicName(n.Kind), Timestamp: time.Now(),
				ResourceID: string(n.Feed), Source: c.Source.ID, Payload: []byte(`{}`),
			})
		}
		return events, nil
	}
	r.Engine = New(o)
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() {
		defer close(r.done)
		r.Engine.Run(ctx)
	}()
	synctest.Wait()
	return r
}

func (r *replica) halt() {
	r.stop()
	<-r.done
}

// ended is how many runs of the replica had an outcome.
func (r *replica) ended(outcome string) int {
	families, err := r.metrics.Gather()
	if err != nil {
		return -1
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "feedmill_refresh_runs_total" && m.GetLabel()[0].GetValue() == outcome {
				return int(m.GetCounter().GetValue())
			}
		}
	}
	return 0
}

// sleep lets a time pass, and all that it brings happen.
func (b *bench) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// source makes a source of a host with one feed, due at once.
func (b *bench) source(ws feedmill.ID, host string, schedule feedmill.Schedule) feedmill.Feed {
	b.Helper()
	n := newSource(ws, host, schedule)
	c := feedmill.SourceChange{Source: *n.Source, Feeds: []feedmill.Feed{n.Feed}}
	r, err := c.Request(n.Feed.ID, moment())
	b.must(err)
	n.Source, n.Feed, n.Refresh = &c.Source, c.Feeds[0], &r
	err = b.db.CreateFeed(b.Context(), n, nil, nil)
	b.must(err)
	return n.Feed
}

func newSource(ws feedmill.ID, host string, schedule feedmill.Schedule) feedmill.NewFeed {
	now := moment()
	s := &feedmill.Source{
		ID: feedmill.NewID(feedmill.PrefixDataSource), Workspace: ws, Type: feedmill.FeedREST, Host: host, Spec: []byte(`{}`), Schedule: schedule, CreatedAt: now, UpdatedAt: now,
	}
	f := feedmill.Feed{
		ID: feedmill.NewID(feedmill.PrefixDataFeed), Workspace: ws, Source: s.ID, Name: "n", Type: feedmill.FeedREST, State: feedmill.FeedPending,
		Mode: feedmill.ModeReplace, Spec: []byte(`{}`), CreatedAt: now, UpdatedAt: now,
	}
	return feedmill.NewFeed{Feed: f, Source: s}
}

func (b *bench) feed(f feedmill.Feed) feedmill.Feed {
	b.Helper()
	f, err := b.db.Feed(b.Context(), f.Workspace, f.ID)
	b.must(err)
	return f
}

func (b *bench) sourceOf(f feedmill.Feed) *feedmill.Source {
	b.Helper()
	s, err := b.db.Source(b.Context(), f.Workspace, f.Source)
	b.must(err)
	return &s
}

// change changes the source of a feed as a user would.
func (b *bench) change(f feedmill.Feed, change func(*feedmill.SourceChange) error) {
	b.Helper()
	err := b.db.ChangeSource(b.Context(), f.Workspace, f.Source, change)
	b.must(err)
}

// events are the types of the workspace's events, oldest first.
func (b *bench) events() (types []string) {
	b.Helper()
	events, err := b.db.Events(b.Context(), b.ws, feedmill.EventQuery{Page: feedmill.Page{Limit: 100}})
	b.must(err)
	for _, e := range events {
		types = append([]string{e.Type}, types...)
	}
	return types
}
