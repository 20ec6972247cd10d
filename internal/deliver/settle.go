package deliver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
)

// settling is an outcome on its way to the store.
type settling struct {
	outcome feedmill.Outcome
	lane    *lane
	// resource is what the event was about.
	resource string
	heldUp   bool // by somebody's lock
	// followed says that a later delivery of the resource is in the same array, and more
	// are those that were sent in the array. They are written in one transaction.
	followed bool
	more     []settling
}

// refusedWait is how long a delivery rests whose outcome the store refused.
const refusedWait = time.Minute

const (
	// settleMost bounds how many outcomes share a transaction.
	settleMost = 512
	// settlers is how many transactions may be under way: while one waits for
	// the disk another is filled. Beyond the first they must be of minBatch
	// outcomes.
	settlers = 3
	minBatch = 128
	// maxOutcomes is how many may wait for a transaction, and manyOutcomes from how many
	// on nothing more is sent: so those of a workspace's attempts under way find room. A worker
	// that waits for room takes many times as much memory as an outcome.
	maxOutcomes  = 3072
	manyOutcomes = 1024
)

// settleAll writes outcomes as they come, those that come together in one
// transaction, until the channel is closed.
func (d *Dispatcher) settleAll(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	done := make(chan []settling, settlers)
	underWay := 0
	var spare [][]settling // batches that are written, for their memory
	for first := range d.outcomes {
		var batch []settling
		if last := len(spare) - 1; last >= 0 {
			batch, spare = spare[last], spare[:last]
		}
		batch = first.appendTo(batch)
		open := d.gather(&batch)
		for underWay > 0 && (underWay == settlers || len(batch) < minBatch && open) {
			var more <-chan settling
			if len(batch) < settleMost && open {
				more = d.outcomes
			}
			select {
			case written := <-done:
				underWay--
				spare = append(spare, written)
			case s, ok := <-more:
				if open = ok; ok {
					batch = s.appendTo(batch)
				}
			}
		}
		underWay++
		d.beginWrite()
		wg.Go(func() {
			d.settle(ctx, batch)
			d.endWrite()
			clear(batch)
			done <- batch[:0]
		})
	}
}

// appendTo adds the outcomes of a request.
func (s settling) appendTo(batch []settling) []settling {
	return append(append(batch, s), s.more...)
}

// gather adds the outcomes that wait already to a batch. It reports whether
// more may come.
func (d *Dispatcher) gather(batch *[]settling) bool {
	for len(*batch) < settleMost {
		select {
		case s, ok := <-d.outcomes:
			if !ok {
				return false
			}
			*batch = s.appendTo(*batch)
		default:
			return true
		}
	}
	return true
}

// settle writes a batch. A store that is away is waited for: meanwhile sending
// stops (silence.go), at the latest with manyOutcomes. A batch that the store
// refuses is written one by one, so that one bad outcome does not hold up the others.
func (d *Dispatcher) settle(ctx context.Context, batch []settling) {
	outcomes := make([]feedmill.Outcome, len(batch))
	for i := range batch {
		outcomes[i] = batch[i].outcome
	}
	wait := 50 * time.Millisecond
	for {
		var locked *feedmill.LockedError
		notices, err := d.Store.Settle(ctx, outcomes)
		if errors.As(err, &locked) || !errors.Is(err, feedmill.ErrUnavailable) {
			d.answered()
		}
		switch {
		case err == nil, errors.Is(err, feedmill.ErrPassedOver):
			d.settled(batch, err == nil)
			d.Offer(notices)
			return
		case ctx.Err() != nil:
			d.settled(batch, false)
			return
		case locked != nil:
			d.holdUp(ctx, batch, locked.Deliveries)
			d.Offer(notices)
			return
		case !errors.Is(err, feedmill.ErrUnavailable) && len(batch) > 1:
			for _, s := range batch {
				d.settle(ctx, []settling{s})
			}
			return
		case !errors.Is(err, feedmill.ErrUnavailable):
			refused := batch[0]
			d.Log.Error("an outcome cannot be written; its delivery is sent again later",
				"delivery", refused.outcome.Delivery, "error", err)
			// It stays known for a while, so that it is not sent over and over.
			time.AfterFunc(refusedWait, func() { d.settled([]settling{refused}, false) })
			return
		}
		d.Log.Warn("waiting for the store to write outcomes", "outcomes", len(batch), "error", err)
		pause(ctx, wait, nil)
		wait = min(2*wait, 2*time.Second)
	}
}

// settled lets go of deliveries whose outcome is written, certainly or not, or cannot be.
func (d *Dispatcher) settled(batch []settling, certainly bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes.outcomes -= len(batch)
	for i := range batch {
		s := &batch[i]
		l, o := s.lane, &s.outcome
		l.backlog.forget(o.Delivery)
		delete(d.sending, o.Delivery)
		if s.heldUp {
			l.heldUp--
		}
		if o.State == feedmill.DeliveryRetrying {
			l.backlog.retries.add(o.DueAt, l.id, maxLaneRetries)
			d.dueAt(o.DueAt, l.id)
		}
		switch t := l.subscription.target; {
		case t == nil:
		case o.Disable != "", o.Warn:
			l.subscription.set(nil) // it has changed with this outcome
		case o.Succeeded && (t.warned || t.failing() || o.At.Sub(t.successAt) >= successStep):
			l.subscription.set(t.succeeded(o.At))
		case o.Failed:
			l.subscription.set(t.failed(o.At))
		}
		if l.backlog.heads.on {
			if !certainly {
				l.backlog.want(s.resource)
			}
			if !s.followed {
				l.backlog.endFirst(s.resource, o.Delivery, certainly && !o.State.Open())
			}
		}
		if l.subscription.target == nil {
			l.backlog.readOn()
		}
		d.refresh(l)
	}
	d.wakeWorker()
}
