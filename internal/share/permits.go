package share

import (
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// PermitStore keeps permits for all replicas. A permit that is not renewed for the time of its
// lease is free again.
type PermitStore interface {
	TakePermit(ctx context.Context, pool string, first, last int, holder, ticket string, lease time.Duration) (taken bool, err error)
	ReleasePermit(ctx context.Context, ticket string) error
	RenewPermits(ctx context.Context, tickets []string, lease time.Duration) error
	ReleasePermits(ctx context.Context, holder string) error
}

const (
	// permitLease is how long the permits of a replica that has crashed stay taken, and
	// permitRenewal how often a replica renews its own.
	permitLease   = time.Minute
	permitRenewal = 15 * time.Second
	// permitPoll is how often Take tries again.
	permitPoll = 200 * time.Millisecond
	// permitTimeout bounds a call of the store.
	permitTimeout = 5 * time.Second
)

// Permits limit what all replicas do at the same time. A nil *Permits is for one process, where
// other limits suffice: all permits are free.
type Permits struct {
	store  PermitStore
	holder string
	log    *slog.Logger

	mu      sync.Mutex
	tickets map[string]bool
}

// NewPermits returns permits that are kept in a store. The holder is the name of this process,
// which no other live process has.
func NewPermits(store PermitStore, holder string, log *slog.Logger) *Permits {
	return &Permits{store: store, holder: holder, log: log, tickets: make(map[string]bool)}
}

// Run renews the permits of this process until ctx ends.
func (p *Permits) Run(ctx context.Context) {
	if p == nil {
		return
	}
	tick := time.NewTicker(permitRenewal)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p.mu.Lock()
		tickets := slices.Sorted(maps.Keys(p.tickets))
		p.mu.Unlock()
		if len(tickets) == 0 {
			continue
		}
		p.call(ctx, "renewing permits failed", func(ctx context.Context) error { return p.store.RenewPermits(ctx, tickets, permitLease) })
	}
}

// Begin frees the permits that an earlier process of this name has left. It comes before the
// first Take.
func (p *Permits) Begin(ctx context.Context) {
	if p != nil {
		p.call(ctx, "releasing the permits of the previous process failed; they expire after a minute", func(ctx context.Context) error { return p.store.ReleasePermits(ctx, p.holder) })
	}
}

// Try takes the first free permit of a pool, from the first number to the last, which may be
// lower. It reports whether one was free. The permit must be released.
func (p *Permits) Try(ctx context.Context, pool string, first, last int) (release func(), ok bool, err error) {
	if p == nil {
		return func() {}, true, nil
	}
	ticket := rand.Text()
	p.mu.Lock()
	p.tickets[ticket] = true
	p.mu.Unlock()
	end := func() {
		p.mu.Lock()
		delete(p.tickets, ticket)
		p.mu.Unlock()
		p.call(context.WithoutCancel(ctx), "releasing a permit failed; it expires after a minute", func(ctx context.Context) error { return p.store.ReleasePermit(ctx, ticket) })
	}
	ok, err = p.store.TakePermit(ctx, pool, first, last, p.holder, ticket, permitLease)
	switch {
	case err != nil:
		end() // it may have been taken
		return nil, false, err
	case !ok:
		p.mu.Lock()
		delete(p.tickets, ticket)
		p.mu.Unlock()
		return nil, false, nil
	}
	return sync.OnceFunc(end), true, nil
}

// Take is Try that waits until a permit is free, or fails with the cause of ctx.
func (p *Permits) Take(ctx context.Context, pool string, first, last int) (release func(), err error) {
	for {
		release, ok, err := p.Try(ctx, pool, first, last)
		if ok {
			return release, nil
		}
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(permitPoll):
		}
	}
}

// call calls the store and logs its error.
func (p *Permits) call(ctx context.Context, failed string, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, permitTimeout)
	defer cancel()
	if err := do(ctx); err != nil {
		p.log.Warn(failed, "error", err)
	}
}
