package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	SubscriptionsForDelivery(ctx context.Context, ids []feedmill.ID) ([]feedmill.Subscription, error)
	DueSubscriptions(ctx context.Context, slots []int, now time.Time, after feedmill.ID, limit int) ([]feedmill.ID, error)
	Due(context.Context, feedmill.DueQuery) ([]feedmill.DueDelivery, error)
	Rewind(ctx context.Context, slots []int, now time.Time, after feedmill.RetryPosition, limit int) (reached feedmill.RetryPosition, more bool, err error)
	Settle(ctx context.Context, outcomes []feedmill.Outcome) ([]feedmill.DueDelivery, error)
	DiscardOpen(ctx context.Context, subscription feedmill.ID, reason string, at time.Time, limit int) (int, error)
	HoldOpen(ctx context.Context, subscription feedmill.ID, limit int) (int, error)
	OrderOpen(ctx context.Context, subscription feedmill.ID, limit int) (more bool, err error)
	OpenWork(ctx context.Context, now time.Time) (open int64, oldestDue time.Time, err error)
	WriteDeliveryCounts(context.Context, []feedmill.DeliveryCount) error
	DeliveryCounts(ctx context.Context, subscription feedmill.ID, since time.Time) ([]feedmill.DeliveryCount, error)
	SumDeliveryCounts(ctx context.Context, subscriptions []feedmill.ID, since, fresh time.Time) ([]feedmill.DeliveryCount, error)
	StepReplay(ctx context.Context, now time.Time, limit int) (worked bool, next time.Time, err error)
	StepFanout(ctx context.Context, now time.Time, size func(workspace feedmill.ID) (limit, whole int)) (due []feedmill.DueDelivery, worked bool, err error)
	LeaseSlots(ctx context.Context, replica string, ttl time.Duration) (held []int, share int, err error)
	ReleaseSlots(ctx context.Context, replica string, slots []int) error
	LeaveReplicas(ctx context.Context, replica string) error
}

// Vault opens the secrets of subscriptions.
type Vault interface {
	Unseal(ctx context.Context, sealed []byte, record string) ([]byte, error)
}

// Kind is a kind of destination.
type Kind interface {
	// Open prepares sending to a subscription, whose configuration is unsealed.
	Open(sub feedmill.Subscription, config []byte) (feedmill.Endpoint, error)
}

// Options are the parts and the limits of a dispatcher. The zero value of a
// limit means its default.
type Options struct {
	Store Store
	Vault Vault
	// Kinds are the kinds of destinations that deliveries are sent to.
	Kinds map[feedmill.DestinationKind]Kind
	// Shape makes the body of a delivery from the payload of its event, for subscriptions
	// with a transformation. A [feedmill.Error] ends the delivery with its detail as the
	// reason.
	Shape func(ctx context.Context, workspace feedmill.ID, shape feedmill.Shape, payload []byte) (feedmill.Body, error)
	// UserAgent is sent with every attempt.
	UserAgent string
	Schedule  feedmill.RetrySchedule
	Log       *slog.Logger
	// Signals reach the other replicas; nil where there are none.
	Signals Signals
	Metrics prometheus.Registerer
	// Replica names this process among those that share the store.
	Replica string
	// Random is a number in [0, 1) that spreads the waits between attempts;
	// nil means one of math/rand.
	Random func() float64

	// MaxInFlight bounds the attempts under way.
	MaxInFlight int
	// MaxQueued bounds the deliveries that wait in memory, besides the bound on
	// their bytes; MaxLane those of one subscription. The rest waits in the store.
	MaxQueued, MaxLane int
	// TargetAge is how long a subscription is used as it was read. A change
	// made in this process is seen at once, so this is for changes that
	// others make.
	TargetAge time.Duration
	// PollEvery is how often the store is polled for work that nobody in this
	// process knows of; where much is due it is less often.
	PollEvery time.Duration
	// LeaseTime is how long a slot stays with a replica that is not heard of.
	LeaseTime time.Duration
}

const (
	defaultMaxInFlight = 4096
	defaultMaxQueued   = 160_000
	defaultMaxLane     = 24_000
	// storeTimeout bounds a read of the store: one that hangs, as on a
	// connection whose other end is gone, is given up and tried again.
	storeTimeout     = 30 * time.Second
	defaultPollEvery = time.Second
	defaultLeaseTime = feedmill.SlotLease
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
	tally *tally

	mu    sync.Mutex
	lanes map[feedmill.ID]*lane
	// lanesOf is how many lanes a workspace has, or those have whose workspace is not known;
	// maxLanes bounds all of them.
	lanesOf  map[feedmill.ID]int
	maxLanes int
	ring     ring
	memory   memory
	// attempts and reads are the budgets that lanes work with.
	attempts, reads budget
	workers         workers
	work            *sync.Cond // there may be something for a worker to do
	// sending are the deliveries with an attempt under way, or being settled,
	// each with what breaks the attempt off, where that is ever done.
	sending map[feedmill.ID]context.CancelFunc

	leases
	polling

	pollNow, dueSooner, replayNow, fanoutNow, leaseNow, rewindNow, tellNow chan struct{}
	// toTell are the subscriptions of which other replicas are to be told.
	toTell   map[feedmill.Signal]map[feedmill.ID]struct{}
	outcomes chan settling
	writes   writes
	// complaints are about lanes that cannot be read.
	complaints complaints
	heldUp     sync.WaitGroup // outcomes to be written later
}

// New makes a dispatcher. It takes offers at once and works while [Dispatcher.Run] runs.
func New(o Options) *Dispatcher {
	o.MaxInFlight = cmp.Or(o.MaxInFlight, defaultMaxInFlight)
	o.MaxQueued = cmp.Or(o.MaxQueued, defaultMaxQueued)
	o.MaxLane = cmp.Or(o.MaxLane, defaultMaxLane)
	o.PollEvery = cmp.Or(o.PollEvery, defaultPollEvery)
	o.LeaseTime = cmp.Or(o.LeaseTime, defaultLeaseTime)
	o.TargetAge = cmp.Or(o.TargetAge, defaultTargetAge)
	if o.Schedule == nil {
		o.Schedule = feedmill.DefaultRetrySchedule
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	d := &Dispatcher{
		Options: o, lanes: make(map[feedmill.ID]*lane), lanesOf: make(map[feedmill.ID]int), maxLanes: maxLanes, sending: make(map[feedmill.ID]context.CancelFunc),
		memory:  newMemory(o.MaxQueued, o.MaxLane),
		workers: workers{maxBeginning: beginningOnProcessor * runtime.GOMAXPROCS(0)},
		pollNow: make(chan struct{}, 1), dueSooner: make(chan struct{}, 1), replayNow: make(chan struct{}, 1), fanoutNow: make(chan struct{}, 1), leaseNow: make(chan struct{}, 1), rewindNow: make(chan struct{}, 1),
		tellNow: make(chan struct{}, 1), toTell: make(map[feedmill.Signal]map[feedmill.ID]struct{}),
		outcomes: make(chan settling, maxOutcomes), tally: newTally(),
	}
	d.work = sync.NewCond(&d.mu)
	granted := func(l *lane) {
		if l.state == waiting {
			d.enter(l, ready)
		}
	}
	d.attempts = newBudget(amount{o.MaxInFlight, maxUnderWayBytes}, granted)
	d.reads = newBudget(amount{maxReads, maxReadBytes}, granted)
	d.count = newCounters(o.Metrics, d)
	return d
}

// Run works until ctx ends. Attempts under way may then finish for a moment;
// those that do not are given back, and no attempt is charged for them. The error
// is that of the last write: slots that could not be released stay leased for LeaseTime.
func (d *Dispatcher) Run(ctx context.Context) error {
	sendCtx, breakOff := context.WithCancel(context.WithoutCancel(ctx))
	defer breakOff()
	settleCtx, endSettle := context.WithCancel(context.WithoutCancel(ctx))
	defer endSettle()
	var settler, loops sync.WaitGroup
	settler.Go(func() { d.settleAll(settleCtx) })
	d.lease(ctx)
	loops.Go(func() { d.keepSlots(ctx) })
	loops.Go(func() { d.pollStore(ctx) })
	loops.Go(func() { d.rewindRetries(ctx) })
	if d.Signals != nil {
		loops.Go(func() { d.tellReplicas(ctx) })
		loops.Go(func() { d.hearReplicas(ctx) })
	}
	loops.Go(func() { d.runReplays(ctx) })
	loops.Go(func() { d.runFanouts(ctx) })
	loops.Go(func() { d.writeTally(ctx) })
	loops.Go(func() { d.count.watch(ctx, d.Store, max(watchEvery, watchPolls*d.PollEvery)) })
	d.mu.Lock()
	d.workers.run = func() { d.runWorker(sendCtx) }
	d.wakeWorker()
	d.mu.Unlock()

	<-ctx.Done()
	loops.Wait()
	d.mu.Lock()
	d.workers.run = nil
	d.work.Broadcast()
	d.mu.Unlock()
	timer := time.AfterFunc(grace, breakOff)
	// The last outcomes have a moment to be written; what is not is sent
	// again. Workers may wait for the settler, so its time ends in any case.
	last := time.AfterFunc(grace+lastWrites, endSettle)
	leaving, left := context.WithCancel(context.WithoutCancel(ctx))
	var leaver sync.WaitGroup
	leaver.Go(func() { d.leave(leaving) })
	d.workers.group.Wait()
	timer.Stop()
	close(d.outcomes)
	last.Reset(lastWrites)
	settler.Wait()
	d.heldUp.Wait()
	last.Stop()
	left()
	leaver.Wait()

	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrites)
	defer cancel()
	tallied := d.flushTally(release, lastTallyStep)
	err := d.Store.ReleaseSlots(release, d.Replica, nil)
	if err != nil {
		err = fmt.Errorf("release delivery slots: %w", err)
	}
	// A full disk can still have room for the slots.
	err = errors.Join(tallied, err)
	if d.Signals != nil {
		d.Signals.Tell(release, feedmill.SignalSlots, nil) // else they see it later
	}
	return err
}

// Offer takes deliveries that are due now. What does not fit into memory, and
// what belongs to another replica's slots, is left to be read from the store.
func (d *Dispatcher) Offer(due []feedmill.DueDelivery) {
	if len(due) == 0 {
		return
	}
	d.mu.Lock()
	for i := range due {
		if d.slots.has(due[i].Subscription) {
			if l := d.laneWithin(due[i].Subscription, due[i].Workspace); l != nil {
				d.offer(l, due[i])
			}
		} else {
			d.foreign(feedmill.SignalDue, due[i].Subscription)
		}
	}
	calm := d.workers.beginning == 0 && !d.ring.isEmpty()
	d.mu.Unlock()
	if calm {
		// The worker that was woken would wait until this goroutine rests, which
		// has an answer to write before, or for another thread to wake up. Where
		// others wait as well, that would be their turn and not the worker's.
		runtime.Gosched()
	}
}

// Changed makes the dispatcher read a subscription again before it sends to it,
// and try its endpoint anew: whoever changes it has reason to think that it works.
// It is for now, whatever the lane waits for.
func (d *Dispatcher) Changed(subscription feedmill.ID) {
	if !d.changedHere(subscription) {
		d.mu.Lock()
		d.foreign(feedmill.SignalChanged, subscription)
		d.mu.Unlock()
	}
	d.Wake()
}

// changedHere is Changed for a subscription that this replica sends for, and
// reports whether it is one.
func (d *Dispatcher) changedHere(subscription feedmill.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	ours := d.slots.has(subscription)
	l := d.lanes[subscription]
	if l == nil && ours {
		l = d.lane(subscription, "")
	}
	if l != nil {
		// Its slot may be stopped, and ours again in a moment.
		l.subscription.set(nil)
		l.pace, l.trustedAt = newPace(), time.Now()
		l.backlog.batch.until = time.Time{}
		l.complaint = "" // what is wrong with it now is news
	}
	if ours {
		l.backlog.readOn()
		if l.state.onTimer() {
			d.enter(l, idle)
		}
		d.refresh(l)
	}
	return ours
}

// InFlight reports whether an attempt of the delivery is under way here.
func (d *Dispatcher) InFlight(delivery feedmill.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.sending[delivery]
	return ok
}

// UnderWay are the deliveries of a subscription of which an attempt is under way
// here.
func (d *Dispatcher) UnderWay(subscription feedmill.ID) (ids []feedmill.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.lanes[subscription]; ok {
		for id := range l.backlog.known {
			if _, ok := d.sending[id]; ok {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// HeldBytes is about how much memory deliveries take that wait or are under way.
func (d *Dispatcher) HeldBytes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.memory.bytes() + d.attempts.used.bytes
}

// Wake makes the dispatcher poll the store now.
func (d *Dispatcher) Wake() {
	signal(d.pollNow)
	signal(d.replayNow)
	signal(d.fanoutNow)
}
