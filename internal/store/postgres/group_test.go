package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
)

// inFlight is how many transactions of a group run at once.
const inFlight = 3

// recorder is a database for groups of numbers. It holds every transaction
// until it is let go.
type recorder struct {
	mu      sync.Mutex
	batches [][]int
	fail    func([]int) error
	release chan struct{}
}

func (r *recorder) together(_ context.Context, calls []int) error {
	r.mu.Lock()
	r.batches = append(r.batches, slices.Clone(calls))
	r.mu.Unlock()
	if r.release != nil {
		<-r.release
	}
	if r.fail == nil {
		return nil
	}
	return r.fail(calls)
}

func (r *recorder) sizes() (sizes []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.batches {
		sizes = append(sizes, len(b))
	}
	return sizes
}

func (r *recorder) group(limit int) *group[int] {
	return newGroup(r.together, func(int) int { return 1 }, limit, inFlight, 1)
}

// crowdOf makes calls 0..n-1 at once and returns their errors once all wait.
func crowdOf(ctx context.Context, g *group[int], n int) (errs []error, wait func()) {
	errs = make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = g.do(ctx, i) })
		synctest.Wait()
	}
	return errs, wg.Wait
}

func TestGroupSharesWhatComesMeanwhile(t *testing.T) {
	for _, c := range []struct {
		limit int
		want  []int
	}{
		{limit: 100, want: []int{1, 1, 1, 7}},
		{limit: 5, want: []int{1, 1, 1, 2, 5}},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{release: make(chan struct{})}
			errs, wait := crowdOf(t.Context(), r.group(c.limit), 10)
			if got := r.sizes(); !slices.Equal(got, []int{1, 1, 1}) {
				t.Errorf("transactions of %v calls are under way, want three of one", got)
			}
			close(r.release)
			wait()
			got := r.sizes()
			slices.Sort(got) // two can begin at the same time
			if !slices.Equal(got, c.want) {
				t.Errorf("transactions had %v calls, want %v", got, c.want)
			}
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestGroupBeginsBesideOthersWhereItIsWorthIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{release: make(chan struct{})}
		g := r.group(100)
		g.minWeight = 4
		errs, wait := crowdOf(t.Context(), g, 15)
		if got := r.sizes(); !slices.Equal(got, []int{1, 4, 4}) {
			t.Errorf("transactions of %v calls are under way, want 1 and two of 4", got)
		}
		r.release <- struct{}{} // of the first: six wait
		synctest.Wait()
		r.release <- struct{}{}
		r.release <- struct{}{}
		synctest.Wait()
		_, waitLast := crowdOf(t.Context(), g, 3)
		if got := r.sizes(); !slices.Equal(got, []int{1, 4, 4, 6}) {
			t.Errorf("transactions had %v calls, want the three last to wait for one of 6", got)
		}
		close(r.release)
		wait()
		waitLast()
		if got := r.sizes(); !slices.Equal(got, []int{1, 4, 4, 6, 3}) {
			t.Errorf("transactions had %v calls at the end", got)
		}
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	})
}

func TestGroupFailsNobodyElse(t *testing.T) {
	deadlock := &pgconn.PgError{Code: "40P01"}
	for _, c := range []struct {
		name string
		err  error
		// alone says that only the one call fails.
		alone bool
	}{
		{"answered", feedmill.ErrIdempotencyKeyUsed, true},
		{"conflict", &pgconn.PgError{Code: uniqueViolation}, true},
		{"deadlock", deadlock, true},
		{"full disk", &pgconn.PgError{Code: "53100"}, false},
		{"lost connection", errors.New("broken pipe"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{release: make(chan struct{}), fail: func(calls []int) error {
				if slices.Contains(calls, 8) {
					return c.err
				}
				return nil
			}}
			errs, wait := crowdOf(t.Context(), r.group(100), 20)
			close(r.release)
			wait()
			for i, err := range errs {
				// The first three had transactions of their own.
				fails := i == 8 || (!c.alone && i >= inFlight)
				if fails != errors.Is(err, c.err) || (!fails && err != nil) {
					t.Errorf("%s: call %d returned %v", c.name, i, err)
				}
			}
			if !c.alone && len(r.batches) != 4 {
				t.Errorf("%s: %d transactions, want no second try", c.name, len(r.batches))
			}
		})
	}
}

func TestGroupContextThatEndsBeforeItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{release: make(chan struct{})}
		g := r.group(100)
		ctx, cancel := context.WithCancel(t.Context())
		_, wait := crowdOf(t.Context(), g, inFlight)
		late, waitLate := crowdOf(ctx, g, 1)
		cancel()
		waitLate()
		if !errors.Is(late[0], context.Canceled) {
			t.Errorf("returned %v, want that the context has ended", late[0])
		}
		close(r.release)
		wait()
		if got := len(r.sizes()); got != inFlight {
			t.Errorf("%d transactions were made, want none for the call that was given up", got)
		}
	})
}

func TestGroupContextThatEndsAfterItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{release: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		errs, wait := crowdOf(ctx, r.group(100), 1)
		cancel()
		synctest.Wait()
		close(r.release)
		wait()
		if errs[0] != nil {
			t.Errorf("returned %v for what was committed", errs[0])
		}
	})
}

// Those whose calls are under way leave the turns that are free alone.
func TestGroupWaitsQuietly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{release: make(chan struct{})}
		errs, wait := crowdOf(t.Context(), r.group(100), 10)
		for range inFlight {
			r.release <- struct{}{}
		}
		// A goroutine that asked for a turn over and over would never rest.
		synctest.Wait()
		if got := r.sizes(); !slices.Equal(got, []int{1, 1, 1, 7}) {
			t.Errorf("transactions had %v calls", got)
		}
		close(r.release)
		wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	})
}

func TestGroupOutlivesAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{release: make(chan struct{})}
		r.fail = func(calls []int) error {
			if len(calls) > 1 {
				panic("in a callback")
			}
			return nil
		}
		g := r.group(100)
		var wg sync.WaitGroup
		var mu sync.Mutex
		var panicked, failed int
		for i := range 10 {
			wg.Go(func() {
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					if recover() != nil {
						panicked++
					}
				}()
				err := g.do(t.Context(), i)
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, feedmill.ErrUnavailable) {
					failed++
				}
			})
			synctest.Wait()
		}
		close(r.release)
		wg.Wait()
		if panicked != 1 || failed != 6 {
			t.Errorf("%d panicked and %d were told, want one and six", panicked, failed)
		}
		if err := g.do(t.Context(), 1); err != nil {
			t.Error(err)
		}
	})
}

// A shared transaction goes on while one of its callers waits for it, and ends soon after
// the last has gone.
func TestGroupEndsWhatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(func(ctx context.Context, _ []int) error { <-ctx.Done(); return ctx.Err() },
			func(int) int { return 1 }, 10, 2, 10)
		var calls sync.WaitGroup
		begin := func(leaves time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), leaves)
			calls.Go(func() {
				defer cancel()
				g.do(ctx, 0)
			})
			synctest.Wait()
		}
		began := time.Now()
		begin(time.Second)     // it is in a transaction of its own
		begin(6 * time.Second) // these share the next one
		begin(8 * time.Second)
		calls.Wait()
		if took, want := time.Since(began), 8*time.Second+abandonedPatience; took != want {
			t.Errorf("the transactions took %v, want %v", took, want)
		}
	})
}
