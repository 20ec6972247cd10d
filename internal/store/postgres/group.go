package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/feedmill/feedmill"
)

const (
	// acceptsInFlight and settlesInFlight are how many shared transactions of
	// a kind run at once: while one waits for the disk, another is filled.
	acceptsInFlight = 2
	settlesInFlight = 3
	// sharedPatience bounds a shared transaction, which no single caller's
	// context may end.
	sharedPatience = 30 * time.Second
)

// group lets calls share transactions, and so trips and fsyncs. Calls that
// arrive while transactions are under way share the next one; a lone call does
// not wait for company. A call that fails takes nobody with it.
//
// It has no goroutine of its own: one of the waiting callers commits for all.
type group[C any] struct {
	// together does the calls in one transaction: all of them or none.
	together func(context.Context, []C) error
	// weight is what a call adds to a transaction, and limit how much one
	// transaction takes on, where it is more than one call.
	weight func(C) int
	limit  int

	inFlight chan struct{}
	mu       sync.Mutex
	waiting  []*member[C]
}

type member[C any] struct {
	call C
	// taken says that the call is in a transaction that is under way; done
	// gets its answer.
	taken bool
	done  chan error
}

func newGroup[C any](together func(context.Context, []C) error, weight func(C) int, limit, inFlight int) *group[C] {
	return &group[C]{together: together, weight: weight, limit: limit, inFlight: make(chan struct{}, inFlight)}
}

// do returns when the call is done and durable, or failed and undone. A context
// that ends before its transaction has begun leaves nothing behind.
func (g *group[C]) do(ctx context.Context, call C) error {
	m := &member[C]{call: call, done: make(chan error, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, m)
	g.mu.Unlock()
	for {
		select {
		case err := <-m.done:
			return err
		case g.inFlight <- struct{}{}:
			g.lead(ctx)
			if g.isTaken(m) {
				return <-m.done
			}
		case <-ctx.Done():
			if g.leave(m) {
				return ctx.Err()
			}
			return <-m.done
		}
	}
}

// lead does the calls that wait, for all who made them.
func (g *group[C]) lead(ctx context.Context) {
	defer func() { <-g.inFlight }()
	batch := g.take()
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedPatience)
	defer cancel()
	// Even a panic, in what a caller had to be asked, leaves nobody waiting.
	answered := false
	defer func() {
		if !answered {
			answer(batch, feedmill.ErrUnavailable)
		}
	}()
	g.commit(ctx, batch)
	answered = true
}

// commit does the calls of a batch. Where one of them is to blame for an error,
// it is found by halves.
func (g *group[C]) commit(ctx context.Context, batch []*member[C]) {
	calls := make([]C, len(batch))
	for i, m := range batch {
		calls[i] = m.call
	}
	err := g.together(ctx, calls)
	if err != nil && len(batch) > 1 && blamesOne(err) {
		half := len(batch) / 2
		g.commit(ctx, batch[:half])
		g.commit(ctx, batch[half:])
		return
	}
	answer(batch, err)
}

// answer tells everybody in a batch who has not been told yet.
func answer[C any](batch []*member[C], err error) {
	for _, m := range batch {
		select {
		case m.done <- err:
		default:
		}
	}
}

// take removes the calls of the next transaction from those that wait.
func (g *group[C]) take() []*member[C] {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, sum := 0, 0
	for n < len(g.waiting) {
		sum += g.weight(g.waiting[n].call)
		if n > 0 && sum > g.limit {
			break
		}
		n++
	}
	batch := slices.Clone(g.waiting[:n])
	for _, m := range batch {
		m.taken = true
	}
	g.waiting = slices.Delete(g.waiting, 0, n)
	return batch
}

// isTaken reports whether somebody has taken a call: whoever made it has nothing
// left to do but to wait for the answer.
func (g *group[C]) isTaken(m *member[C]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return m.taken
}

// leave removes a call that nobody has taken yet and reports whether it could.
func (g *group[C]) leave(m *member[C]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, m)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

// blamesOne reports whether an error may be of one call and not of the
// database, and is certain to have undone the transaction.
func blamesOne(err error) bool {
	if errors.Is(err, feedmill.ErrAnswered) {
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
