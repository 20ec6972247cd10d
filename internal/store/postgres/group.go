package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
)

const (
	// acceptsInFlight and settlesInFlight are how many shared transactions of
	// a kind run at once: while one waits for the disk, another is filled.
	// Beyond the first their calls must have a least weight: many small ones
	// cost a good deal more than a few.
	acceptsInFlight  = 2
	acceptsMinWeight = 192 << 10
	settlesInFlight  = 3
	settlesMinWeight = 256
	// maxSharedCreations is how many subscriptions are created in one transaction.
	maxSharedCreations = 256
	// sharedPatience bounds a shared transaction, which no single caller's
	// context may end.
	sharedPatience = 30 * time.Second
	// abandonedPatience bounds one after the contexts of all its callers have ended.
	abandonedPatience = 3 * time.Second
)

// group lets calls share transactions, and so trips and fsyncs. Calls that
// arrive while transactions are under way share the next one; a lone call does
// not wait for company. A call that fails takes nobody with it.
//
// It has no goroutine of its own: one of the waiting callers commits for all.
type group[C any] struct {
	// transact does the calls in one transaction: all of them or none.
	transact func(context.Context, []C) error
	// weight is what a call adds to a transaction, and limit how much one
	// transaction takes on, where it is more than one call.
	weight func(C) int
	limit  int
	// minWeight is the least weight of a transaction beside the first.
	minWeight int

	// first is held by the first transaction under way, others by those
	// beside it.
	first, others chan struct{}
	mu            sync.Mutex
	waiting       []*member[C]
	// waitingWeight is the weight of all who wait.
	waitingWeight int
}

type member[C any] struct {
	ctx    context.Context
	call   C
	weight int
	// taken says that the call is in a transaction that is under way; done
	// gets its result.
	taken bool
	done  chan error
}

func newGroup[C any](transact func(context.Context, []C) error, weight func(C) int, limit, inFlight, minWeight int) *group[C] {
	return &group[C]{
		transact: transact, weight: weight, limit: limit, minWeight: minWeight,
		first: make(chan struct{}, 1), others: make(chan struct{}, inFlight-1),
	}
}

// do returns when the call is done and durable, or failed and undone. A context
// that ends before its transaction has begun leaves nothing behind.
func (g *group[C]) do(ctx context.Context, call C) error {
	m := &member[C]{ctx: ctx, call: call, weight: g.weight(call), done: make(chan error, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, m)
	g.waitingWeight += m.weight
	var others chan struct{} // only for those with whom there is weight enough
	if g.waitingWeight >= g.minWeight {
		others = g.others
	}
	g.mu.Unlock()
	for {
		select {
		case err := <-m.done:
			return err
		case g.first <- struct{}{}:
			g.commitWaiting(ctx, g.first, 0)
		case others <- struct{}{}:
			g.commitWaiting(ctx, others, g.minWeight)
			others = nil
		case <-ctx.Done():
			if g.withdraw(m) {
				return ctx.Err()
			}
		}
		if g.isTaken(m) {
			return <-m.done
		}
	}
}

// commitWaiting does the calls that wait, for all who made them, where they
// weigh enough. It holds one of the transactions that may be under way.
func (g *group[C]) commitWaiting(ctx context.Context, held chan struct{}, least int) {
	defer func() { <-held }()
	batch := g.takeBatch(least)
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedPatience)
	defer cancel()
	defer whenAbandoned(batch, cancel)()
	// Even a panic, in a function of a caller's, leaves nobody waiting.
	finished := false
	defer func() {
		if !finished {
			finish(batch, feedmill.ErrUnavailable)
		}
	}()
	g.commit(ctx, batch)
	finished = true
}

// whenAbandoned calls end abandonedPatience after the contexts of all who are in a batch
// have ended, unless the returned function is called before.
func whenAbandoned[C any](batch []*member[C], end func()) (stop func()) {
	var (
		left  atomic.Int64
		stops []func() bool
		done  = make(chan struct{})
	)
	left.Store(int64(len(batch)))
	for _, m := range batch {
		stops = append(stops, context.AfterFunc(m.ctx, func() {
			if left.Add(-1) > 0 {
				return
			}
			timer := time.NewTimer(abandonedPatience)
			defer timer.Stop()
			select {
			case <-timer.C:
				end()
			case <-done:
			}
		}))
	}
	return func() {
		close(done)
		for _, stop := range stops {
			stop()
		}
	}
}

// commit does the calls of a batch. Where one of them is to blame for an error,
// it is found by halves.
func (g *group[C]) commit(ctx context.Context, batch []*member[C]) {
	calls := make([]C, len(batch))
	for i, m := range batch {
		calls[i] = m.call
	}
	err := g.transact(ctx, calls)
	if err != nil && len(batch) > 1 && blamesOne(err) {
		half := len(batch) / 2
		g.commit(ctx, batch[:half])
		g.commit(ctx, batch[half:])
		return
	}
	finish(batch, err)
}

// finish tells everybody in a batch who has not been told yet.
func finish[C any](batch []*member[C], err error) {
	for _, m := range batch {
		select {
		case m.done <- err:
		default:
		}
	}
}

// takeBatch removes the calls of the next transaction from those that wait, none
// where all of them weigh less than is asked for.
func (g *group[C]) takeBatch(least int) []*member[C] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waitingWeight < least {
		return nil
	}
	n, sum := 0, 0
	for n < len(g.waiting) && (n == 0 || sum+g.waiting[n].weight <= g.limit) {
		sum += g.waiting[n].weight
		n++
	}
	g.waitingWeight -= sum
	batch := slices.Clone(g.waiting[:n])
	for _, m := range batch {
		m.taken = true
	}
	g.waiting = slices.Delete(g.waiting, 0, n)
	return batch
}

// isTaken reports whether somebody has taken a call: whoever made it has nothing
// left to do but to wait for the result.
func (g *group[C]) isTaken(m *member[C]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return m.taken
}

// withdraw removes a call that nobody has taken yet and reports whether it could.
func (g *group[C]) withdraw(m *member[C]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, m)
	if i >= 0 {
		g.waitingWeight -= m.weight
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

// blamesOne reports whether an error may be of one call and not of the
// database, and is certain to have undone the transaction.
func blamesOne(err error) bool {
	if _, full := errors.AsType[*feedmill.QuotaError](err); full || errors.Is(err, feedmill.ErrIdempotencyKeyUsed) {
		return true
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code[:2] {
	case "22", "23", "40":
		return true
	}
	return false
}
