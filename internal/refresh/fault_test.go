package refresh

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// scriptedStore has one due source, changes the source that it is given, and fails
// where a test says so.
type scriptedStore struct {
	Store
	change     feedmill.SourceChange
	dueFails   error
	writeFails error
	deadline   time.Time
}

func (s *scriptedStore) DueSources(context.Context, time.Time, int, int) ([]feedmill.DueSource, error) {
	return []feedmill.DueSource{{ID: "ds_1", Workspace: "ws_1"}}, s.dueFails
}

func (s *scriptedStore) ChangeSource(ctx context.Context, _, _ feedmill.ID, change func(*feedmill.SourceChange) error) error {
	s.deadline, _ = ctx.Deadline()
	if s.writeFails != nil {
		return s.writeFails
	}
	return change(&s.change)
}

// scripted is an engine on such a store, and what it logs.
func scripted(s *scriptedStore) (*Engine, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return New(Options{
		Store: s, Log: slog.New(slog.NewTextHandler(log, nil)), Metrics: prometheus.NewRegistry(),
	}), log
}

// A store that fails is told of. That another replica was faster, that a source was
// deleted or that the engine ends is no fault.
func TestFaultsOfTheStoreAreLogged(t *testing.T) {
	calls := map[string]func(*Engine, context.Context){
		"poll": func(e *Engine, ctx context.Context) {
			e.Store.(*scriptedStore).dueFails = e.Store.(*scriptedStore).writeFails
			e.poll(ctx)
			e.runs.Wait()
		},
		"claim":      func(e *Engine, ctx context.Context) { e.runSource(ctx, feedmill.DueSource{}, &underWay{}) },
		"release":    func(e *Engine, _ context.Context) { e.release(feedmill.Claim{}) },
		"keepTraces": func(e *Engine, _ context.Context) { e.keepTraces(feedmill.Claim{}, nil) },
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		call   string
		ctx    context.Context
		fails  error
		logged bool
	}{
		{"poll", t.Context(), feedmill.ErrUnavailable, true},
		{"poll", ended, feedmill.ErrUnavailable, false},
		{"claim", t.Context(), feedmill.ErrUnavailable, true},
		{"claim", t.Context(), feedmill.ErrConflict, false},
		{"claim", t.Context(), feedmill.ErrNotFound, false},
		{"claim", ended, feedmill.ErrUnavailable, false},
		{"release", t.Context(), feedmill.ErrUnavailable, true},
		{"release", t.Context(), feedmill.ErrConflict, false},
		{"release", t.Context(), nil, false},
		{"keepTraces", t.Context(), feedmill.ErrUnavailable, true},
		{"keepTraces", t.Context(), feedmill.ErrRunEnded, false},
		{"keepTraces", t.Context(), nil, false},
	} {
		e, log := scripted(&scriptedStore{writeFails: c.fails})
		calls[c.call](e, c.ctx)
		if (log.Len() > 0) != c.logged {
			t.Errorf("%s that fails with %v logged %q", c.call, c.fails, log)
		}
	}
}

// A source that another replica has stays due here until that one commits: polling
// again at once would find it again, and so on without an end.
func TestALostClaimDoesNotPollAgain(t *testing.T) {
	e, _ := scripted(&scriptedStore{writeFails: feedmill.ErrConflict})
	e.poll(t.Context())
	e.runs.Wait()
	select {
	case <-e.wake:
		t.Error("the engine polls again at once")
	default:
	}
}

// A call of the store may take its time while the service runs, and little of it
// where somebody waits for the service to end.
func TestHowLongTheStoreMayTake(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		call func(*Engine)
		want time.Duration
	}{
		"a claim":         {func(e *Engine) { e.claim(t.Context(), feedmill.DueSource{}) }, 10 * time.Second},
		"a commit":        {func(e *Engine) { e.tryCommit(t.Context(), feedmill.Source{}, nil) }, 10 * time.Second},
		"the last commit": {func(e *Engine) { e.tryCommit(ended, feedmill.Source{}, nil) }, 3 * time.Second},
		"a release":       {func(e *Engine) { e.release(feedmill.Claim{}) }, 3 * time.Second},
		"keeping traces":  {func(e *Engine) { e.keepTraces(feedmill.Claim{}, nil) }, 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &scriptedStore{writeFails: feedmill.ErrUnavailable}
			e, _ := scripted(s)
			c.call(e)
			if got := time.Until(s.deadline); got != c.want {
				t.Errorf("%s may take %v, want %v", name, got, c.want)
			}
		})
	}
}

// A call of the store that is in flight when the service stops has a moment to finish.
func TestAStopShortensCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, stop := context.WithCancel(t.Context())
		call, cancel := storeCall(running)
		defer cancel()
		began := time.Now()
		time.AfterFunc(2*time.Second, stop)
		<-call.Done()
		if took, want := time.Since(began), 2*time.Second+lastWrite; took != want {
			t.Errorf("the call may take %v, want %v", took, want)
		}
	})
}

// A commit that the store never answers does not delay a stop: the call in flight is
// shortened, one more is tried, and the lease is not renewed any more.
func TestAStopDoesNotWaitForCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &silentStore{}
		e, _ := scripted(&scriptedStore{})
		e.Store = s
		running, stop := context.WithCancel(t.Context())
		now := moment()
		l := &lease{engine: e, run: running, progress: newProgress(), until: now.Add(leaseTime), renewed: now.Add(-renewEvery)}
		began := time.Now()
		time.AfterFunc(time.Second, stop)
		outcome := e.commit(running, l, []feedmill.FeedOutcome{{Feed: "feed"}})
		if took, want := time.Since(began), time.Second+2*lastWrite; outcome != lostRun || took != want || s.renewals != 0 {
			t.Errorf("the commit was %s after %v with %d renewals; want %s after %v with none", outcome, took, s.renewals, lostRun, want)
		}
	})
}

// silentStore never answers.
type silentStore struct {
	Store
	renewals int
}

func (s *silentStore) ChangeSource(ctx context.Context, _, _ feedmill.ID, _ func(*feedmill.SourceChange) error) error {
	<-ctx.Done()
	return ctx.Err()
}

func (s *silentStore) RenewSource(ctx context.Context, _, _ feedmill.ID, _ int64, _ time.Time, _ []feedmill.Refresh) error {
	s.renewals++
	<-ctx.Done()
	return ctx.Err()
}

// The traces of a cancelled run are kept for feeds that it ran for and that are
// still there.
func TestTracesThatAreKept(t *testing.T) {
	refreshed := func(id feedmill.ID) feedmill.Feed {
		return feedmill.Feed{ID: id, LastRefresh: &feedmill.Refresh{ID: "rfr_" + id}}
	}
	s := &scriptedStore{change: feedmill.SourceChange{Feeds: []feedmill.Feed{refreshed("kept"), refreshed("silent"), refreshed("new")}}}
	e, _ := scripted(s)
	requests := []feedmill.TracedRequest{{Method: "GET"}}
	e.keepTraces(feedmill.Claim{Feeds: []feedmill.Feed{refreshed("gone"), refreshed("silent"), refreshed("kept")}}, []feedmill.FeedOutcome{
		{Feed: "new", Trace: requests}, {Feed: "gone", Trace: requests}, {Feed: "silent"}, {Feed: "kept", Trace: requests},
	})
	if got := s.change.Traces; len(got) != 1 || got[0].Feed != "kept" || got[0].Refresh != "rfr_kept" || len(got[0].Requests) != 1 {
		t.Errorf("kept are %+v", got)
	}
}

// Progress that says nothing of the requests leaves those in place that wait to be written.
func TestProgressKeepsTheTraceThatIsNotWritten(t *testing.T) {
	p := newProgress()
	p.report(feedmill.Refresh{ID: "rfr_1", RowsIn: 1, Trace: []feedmill.TracedRequest{{Method: "GET"}}})
	p.report(feedmill.Refresh{ID: "rfr_1", RowsIn: 2})
	if got := p.takeAll(); len(got) != 1 || got[0].RowsIn != 2 || len(got[0].Trace) != 1 {
		t.Errorf("to be written is %+v", got)
	}
	p.report(feedmill.Refresh{ID: "rfr_1", RowsIn: 3, Trace: []feedmill.TracedRequest{{Method: "GET"}}})
	p.report(feedmill.Refresh{ID: "rfr_1", RowsIn: 4, Trace: []feedmill.TracedRequest{{Method: "PUT"}, {Method: "PUT"}}})
	if got := p.takeAll(); len(got) != 1 || len(got[0].Trace) != 2 {
		t.Errorf("to be written is %+v", got)
	}
}

// A lease is renewed every ten seconds, counted from its beginning.
func TestALeaseIsRenewedInTime(t *testing.T) {
	for held, want := range map[time.Duration]int{9999 * time.Millisecond: 0, 10001 * time.Millisecond: 1, 20001 * time.Millisecond: 2} {
		synctest.Test(t, func(t *testing.T) {
			s := new(renewals)
			e := &Engine{Options: Options{Store: s, Log: slog.New(slog.DiscardHandler)}}
			l := e.hold(t.Context(), feedmill.Claim{Source: feedmill.Source{LeasedUntil: moment().Add(leaseTime)}}, func(err error) { t.Error(err) })
			time.Sleep(held)
			l.stop()
			if len(s.progress) != want {
				t.Errorf("in %v it was renewed %d times, want %d", held, len(s.progress), want)
			}
		})
	}
}

// Only an error of a run that has nothing to say any more ends it without a word.
func TestErrorsOfTheStore(t *testing.T) {
	for err, want := range map[error]struct{ over, unreachable bool }{
		feedmill.ErrConflict:     {over: true},
		feedmill.ErrNotFound:     {over: true},
		feedmill.ErrRunEnded:     {over: true},
		feedmill.ErrUnavailable:  {unreachable: true},
		context.DeadlineExceeded: {unreachable: true},
		context.Canceled:         {unreachable: true},
		errors.New("elsewhere"):  {},
	} {
		if over(err) != want.over || unreachable(err) != want.unreachable {
			t.Errorf("%v: over is %v, unreachable is %v", err, over(err), unreachable(err))
		}
	}
}
