package deliver

import (
	"container/list"
	"context"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// maxReads is how many lanes are read at a time. More of them would only wait for a
// connection to the store, each with a goroutine and what it has read so far.
const maxReads = 256

// reads counts the lanes that are being read, and has those in line that are to be:
// a line for each workspace, and workspaces take turns, so that one with very many
// lanes is not what others wait for.
type reads struct {
	running int
	waiting map[feedmill.ID]*list.List
	turns   []feedmill.ID // the workspaces that have a line
}

// lineFor is the line in which a lane waits to be read.
func (r *reads) lineFor(l *lane) *list.List {
	line, ok := r.waiting[l.workspace]
	if !ok {
		if r.waiting == nil {
			r.waiting = make(map[feedmill.ID]*list.List)
		}
		line = list.New()
		r.waiting[l.workspace] = line
		r.turns = append(r.turns, l.workspace)
	}
	return line
}

// next is the lane whose turn it is to be read, nil where there is none. It stays in
// line until it leaves it.
func (r *reads) next() *lane {
	for len(r.turns) > 0 {
		workspace := r.turns[0]
		r.turns = r.turns[1:]
		if first := r.waiting[workspace].Front(); first != nil {
			r.turns = append(r.turns, workspace)
			return first.Value.(*lane)
		}
		delete(r.waiting, workspace)
	}
	return nil
}

// letRead lets as many lanes read as may. The mutex is held.
func (d *Dispatcher) letRead() {
	for range maxReads - d.reads.running {
		l := d.reads.next()
		if l == nil {
			return
		}
		d.refresh(l)
	}
}

// readLane reads a lane's subscription where it may have changed, and its due
// deliveries where the store may hold more.
//
// With single it reads one delivery although memory has no room for it.
func (d *Dispatcher) readLane(ctx context.Context, l *lane, single bool) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	now := time.Now()
	d.mu.Lock()
	before := l.subscription
	d.mu.Unlock()

	target, err := before.target, error(nil)
	// What is open of one that has ended is discarded, so it must be so still.
	stale := before.stale(now, d.TargetAge) || before.target.ended()
	if stale {
		target, err = d.readTarget(ctx, l.id)
	}
	if err == nil && (target.ended() || target.held() && !target.listening) {
		err = d.holdOrDiscard(ctx, l.id, target)
	}

	var query feedmill.DueQuery // with a limit where there is something to read
	d.mu.Lock()
	if err == nil && stale && l.subscription.changes == before.changes {
		d.setTarget(l, target, now)
	}
	stopped := target.held() || target.ended()
	if err == nil {
		l.backlog.setOrdered(target.ordered())
	}
	if err == nil && !stopped && l.backlog.wantsRead() && (single || !l.backlog.wantsSingle(l.workspace)) {
		query = l.backlog.beginQuery(l.id, now)
	}
	readAt := l.subscription.readAt
	order := query.Heads && (stale || !l.backlog.heads.orderedAt.Equal(readAt))
	d.mu.Unlock()

	var due []feedmill.DueDelivery
	if order {
		err = d.orderOpen(ctx, l.id)
	}
	if query.Limit > 0 && err == nil {
		due, err = d.Store.Due(ctx, query)
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		l.complaint = ""
		if order {
			l.backlog.heads.orderedAt = readAt
		}
	}
	l.backlog.reading = false
	d.reads.running--
	d.letRead()
	l.backlog.expectNothing()
	d.letSingles()
	switch {
	case l.state == lost:
		l.backlog.abandon()
	case err != nil:
		if !errors.Is(err, context.Canceled) {
			d.complain(l, err, now)
		}
		l.backlog.readAll()
		d.wait(l, stalled, retryRead)
	case stopped:
		l.backlog.dropQueue()
		if l.subscription.target == target { // else it has changed meanwhile
			l.backlog.rest = allKnown
		}
		l.usedAt = now // to know that it is held saves reading it again
	case query.Limit > 0:
		l.backlog.endQuery(query, due, single)
	}
	d.refresh(l)
	d.wakeWorker()
}

// setTarget has a lane take over what was read of its subscription. The mutex is held.
func (d *Dispatcher) setTarget(l *lane, t *Target, now time.Time) {
	limiter, workspace := l.limiter, l.workspace
	l.setTarget(t, now)
	if d.lanes[l.id] == l && l.workspace != workspace {
		d.countLanes(workspace, -1)
		d.countLanes(l.workspace, 1)
	}
	if l.limiter != limiter && l.state == limited {
		d.enter(l, idle) // it waits for what holds no more
	}
}

// readTargets reads the subscriptions of deliveries that are about to be offered, all
// at once, where they must be read before they are sent to. What it leaves out, because
// there is more to do or something is wrong, the lanes read one by one.
func (d *Dispatcher) readTargets(ctx context.Context, due []feedmill.DueDelivery) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	now := time.Now()
	var ids []feedmill.ID
	before := make(map[feedmill.ID]int) // how often they had changed
	lanes := make(map[feedmill.ID]*lane)
	d.mu.Lock()
	for i := range due {
		id := due[i].Subscription
		if lanes[id] != nil || !d.slots.has(id) {
			continue
		}
		if l := d.laneWithin(id, due[i].Workspace); l != nil && !l.backlog.reading && l.subscription.stale(now, d.TargetAge) {
			ids = append(ids, id)
			lanes[id], before[id] = l, l.subscription.changes
		}
	}
	d.mu.Unlock()
	subs, err := d.Store.SubscriptionsForDelivery(ctx, ids)
	if err != nil {
		return
	}
	for _, s := range subs {
		target, err := d.openTarget(ctx, s)
		if err != nil || target.held() || target.ended() {
			continue
		}
		d.mu.Lock()
		if l := lanes[s.ID]; d.lanes[s.ID] == l && l.subscription.changes == before[s.ID] {
			d.setTarget(l, target, now)
			l.backlog.setOrdered(target.ordered())
			d.refresh(l)
			d.wakeWorker()
		}
		d.mu.Unlock()
	}
}

// orderOpen orders what was accepted before its subscription became ordered.
func (d *Dispatcher) orderOpen(ctx context.Context, id feedmill.ID) error {
	for {
		more, err := d.Store.OrderOpen(ctx, id, feedmill.DiscardStep)
		if err != nil || !more {
			return err
		}
	}
}

// holdOrDiscard makes what is open of a paused subscription pending, and ends what
// is open of one that is disabled or deleted.
func (d *Dispatcher) holdOrDiscard(ctx context.Context, id feedmill.ID, t *Target) error {
	for {
		var n int
		var err error
		if t.held() {
			n, err = d.Store.HoldOpen(ctx, id, feedmill.DiscardStep)
		} else {
			n, err = d.Store.DiscardOpen(ctx, id, t.endedReason(), time.Now(), feedmill.DiscardStep)
		}
		if err != nil || n < feedmill.DiscardStep {
			return err
		}
	}
}
