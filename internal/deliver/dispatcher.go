// Package deliver brings accepted events to their subscribers.
//
// The [Dispatcher] keeps a lane for each subscription with work to do: a short
// queue, a limit on how many attempts may be under way, a breaker and a rate
// limit. Workers take one delivery at a time, in turn from each workspace and
// within it a few from each lane, so that an endpoint that hangs holds up nobody but
// itself. What a worker sends goes through the [Sender]; what comes of it is
// decided in outcome.go and written, in batches, by settle.go.
//
// The store is the truth and memory is a cache of it. A delivery is pending in
// the store until its outcome is written, so whatever a crash interrupts is
// sent again. Fresh deliveries are offered from memory; the store is read for
// retries that have come due, for what did not fit into memory, and for slots
// taken over from another replica.
package deliver

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedmill/feedmill"
)

// Store is what the dispatcher needs of the store.
type Store interface {
	SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error)
	DueSubscriptions(ctx context.Context, slots []int, now time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error)
	Due(context.Context, feedmill.DueQuery) ([]feedmill.DueDelivery, error)
	Rewind(ctx context.Context, subscription feedmill.ID, now time.Time) error
	Settle(ctx context.Context, outcomes []feedmill.Outcome, maxAttempts int) ([]feedmill.DueDelivery, error)
	DiscardOpen(ctx context.Context, subscription feedmill.ID, reason string, at time.Time, limit int) (int, error)
	HoldOpen(ctx context.Context, subscription feedmill.ID, limit int) (int, error)
	OrderOpen(ctx context.Context, subscription feedmill.ID, limit int) (more bool, err error)
	OpenWork(ctx context.Context, now time.Time) (open int64, oldestDue time.Time, err error)
	StepReplay(ctx context.Context, now time.Time, maxAttempts, limit int) (worked bool, err error)
	LeaseSlots(ctx context.Context, replica string, ttl time.Duration) (held []int, err error)
	ReleaseSlots(ctx context.Context, replica string, slots []int) error
}

// Vault opens the secrets of subscriptions.
type Vault interface {
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Transmitter makes one attempt. [Sender] is the real one.
type Transmitter interface {
	Send(context.Context, Target, Message) Result
}

// Options are the parts and the limits of a dispatcher. The zero value of a
// limit means its default.
type Options struct {
	Store    Store
	Vault    Vault
	Sender   Transmitter
	Schedule feedmill.RetrySchedule
	Log      *slog.Logger
	Metrics  prometheus.Registerer
	// Replica names this process among those that share the store.
	Replica string
	// Random is a number in [0, 1) that spreads the waits between attempts;
	// nil means one of math/rand.
	Random func() float64

	// MaxInFlight bounds the attempts under way.
	MaxInFlight int
	// MaxQueued bounds the deliveries that wait in memory; MaxLane those of
	// one subscription. The rest waits in the store.
	MaxQueued, MaxLane int
	// TargetAge is how long a subscription is used as it was read. A change
	// made in this process is seen at once, so this is for changes that
	// others make.
	TargetAge time.Duration
	// PollEvery is how often the store is looked through for work that
	// nobody in this process knows of.
	PollEvery time.Duration
}

const (
	defaultMaxInFlight = 4096
	defaultMaxQueued   = 160_000
	defaultMaxLane     = 24_000
	// maxQueuedBytes bounds what the deliveries that wait take of memory, their
	// payloads included.
	maxQueuedBytes = 48 << 20
	// storeTimeout bounds a read of the store: one that hangs, as on a
	// connection whose other end is gone, is given up and tried again.
	storeTimeout     = 30 * time.Second
	defaultPollEvery = time.Second
	// retryRead is how long to wait after the store could not be read.
	retryRead        = time.Second
	defaultTargetAge = 5 * time.Second
	// grace is how long attempts under way may take at a shutdown before
	// they are broken off.
	grace = 8 * time.Second
	// lastWrites is how long the last outcomes may take to be written, and
	// giving the slots back after them.
	lastWrites = 3 * time.Second
)

// Dispatcher sends what is due. Its methods may be called from any goroutine.
type Dispatcher struct {
	Options
	count *counters

	mu      sync.Mutex
	work    *sync.Cond // there may be something for a worker to do
	lanes   map[feedmill.ID]*lane
	ring    ring
	share   share
	sending map[feedmill.ID]struct{}
	queued  int
	events  eventsKept // of what is queued
	// awaited is how many deliveries are being read to be queued.
	awaited int
	idle    int
	workers int
	// fresh counts the tasks in their first moment, of which maxFresh may be.
	fresh, maxFresh int
	closed          bool
	slots           slotSet
	seen            slotSet   // ours, and looked through since they are
	leaving         slotSet   // not ours any more, but not given back yet
	wakeAt          time.Time // the earliest known due time in the store
	// rewind says that the store may hold due times of a clock that was ahead
	// of ours; looked is when it was last looked at, by both of our clocks.
	rewind bool
	looked time.Time
	ctx    context.Context
	wg     sync.WaitGroup

	poll     chan struct{}
	replay   chan struct{}
	outcomes chan settling
}

// New makes a dispatcher. It takes offers at once and works while [Dispatcher.Run] runs.
func New(o Options) *Dispatcher {
	orDefault(&o.MaxInFlight, defaultMaxInFlight)
	orDefault(&o.MaxQueued, defaultMaxQueued)
	orDefault(&o.MaxLane, defaultMaxLane)
	if o.PollEvery == 0 {
		o.PollEvery = defaultPollEvery
	}
	if o.TargetAge == 0 {
		o.TargetAge = defaultTargetAge
	}
	if o.Schedule == nil {
		o.Schedule = feedmill.DefaultRetrySchedule
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	d := &Dispatcher{
		Options: o, maxFresh: freshOnProcessor * runtime.GOMAXPROCS(0), lanes: make(map[feedmill.ID]*lane), sending: make(map[feedmill.ID]struct{}),
		share: share{total: o.MaxInFlight, of: make(map[feedmill.ID]*portion)},
		poll:  make(chan struct{}, 1), replay: make(chan struct{}, 1), outcomes: make(chan settling, 1024),
	}
	d.work = sync.NewCond(&d.mu)
	d.count = newCounters(o.Metrics, d)
	return d
}

func orDefault(n *int, value int) {
	if *n == 0 {
		*n = value
	}
}

// Run works until ctx ends. Attempts under way may then finish for a moment;
// those that do not are given back, and no attempt is charged for them.
func (d *Dispatcher) Run(ctx context.Context) error {
	sendCtx, breakOff := context.WithCancel(context.WithoutCancel(ctx))
	defer breakOff()
	d.mu.Lock()
	d.ctx = sendCtx
	d.mu.Unlock()

	var settler, loops sync.WaitGroup
	settleCtx, endSettle := context.WithCancel(context.WithoutCancel(ctx))
	defer endSettle()
	settler.Go(func() { d.settleAll(settleCtx) })
	d.lease(ctx)
	loops.Go(func() { d.keepSlots(ctx) })
	loops.Go(func() { d.look(ctx) })
	loops.Go(func() { d.runReplays(ctx) })
	loops.Go(func() { d.count.watch(ctx, d.Store) })

	<-ctx.Done()
	loops.Wait()
	d.mu.Lock()
	d.closed = true
	d.work.Broadcast()
	d.mu.Unlock()
	timer := time.AfterFunc(grace, breakOff)
	// The last outcomes have a moment to be written; what is not is sent
	// again. Workers may wait for the settler, so its time ends in any case.
	last := time.AfterFunc(grace+lastWrites, endSettle)
	d.wg.Wait()
	timer.Stop()
	close(d.outcomes)
	last.Reset(lastWrites)
	settler.Wait()
	last.Stop()

	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrites)
	defer cancel()
	if err := d.Store.ReleaseSlots(release, d.Replica, nil); err != nil {
		d.Log.Warn("giving delivery slots back", "error", err)
	}
	return nil
}

// Offer takes deliveries that are due now. What does not fit into memory, and
// what belongs to another replica's slots, is left to be read from the store.
func (d *Dispatcher) Offer(due []feedmill.DueDelivery) {
	if len(due) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range due {
		if d.slots.has(due[i].Subscription) {
			d.add(d.lane(due[i].Subscription, due[i].Workspace), due[i])
		}
	}
	d.hire()
}

// Changed makes the dispatcher read a subscription again before it sends to it,
// and try its endpoint anew: whoever changes it has reason to think that it works.
func (d *Dispatcher) Changed(subscription feedmill.ID) {
	d.mu.Lock()
	if d.slots.has(subscription) {
		l := d.lane(subscription, "")
		l.target = nil
		l.changes++
		l.held = false
		l.pace = newPace()
		l.more = true
		d.makeReady(l)
		d.hire()
	}
	d.mu.Unlock()
	d.Wake()
}

// InFlight reports whether an attempt of the delivery is under way here.
func (d *Dispatcher) InFlight(delivery feedmill.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.sending[delivery]
	return ok
}

// Wake makes the dispatcher look for work in the store now.
func (d *Dispatcher) Wake() {
	for _, c := range []chan struct{}{d.poll, d.replay} {
		select {
		case c <- struct{}{}:
		default: // it is about to look anyway
		}
	}
}
