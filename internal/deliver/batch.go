package deliver

import (
	"context"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// A subscription with batches is sent arrays of events. Its lane waits until an array is full,
// or until the first event of it has waited long enough, and takes the deliveries of an array
// as one task. An array that fails counts as an attempt of each of its deliveries. Those that
// were tried before go alone, as arrays of one, so that one event cannot fail the others again.
//
// The outcomes of an array are written in one transaction: none of an ordered subscription is
// sent again after a later one has ended.

// batch is how far the next array of a backlog is.
type batch struct {
	// until is when the array is sent at the latest; zero until an event waits.
	until time.Time
	// offered counts the events of an ordered subscription that were left to the store since
	// it was read, because others of their resource were in memory. They are read before the
	// array is sent: toppedUp says that this has begun.
	offered  int
	toppedUp bool
	// fits is the limit on the events of an array after one was too large; zero is none.
	fits int
}

// limit is the maximum number of events in the next array.
func (b *batch) limit(s feedmill.Batch) int {
	if b.fits > 0 {
		return min(b.fits, s.MaxEvents)
	}
	return s.MaxEvents
}

// learn adapts the limit after an array: some of its events did not fit, or all did.
func (b *batch) learn(sent int, cut bool, s feedmill.Batch) {
	switch {
	case cut:
		b.fits = sent
	case b.fits > 0 && sent >= b.fits:
		if b.fits *= 2; b.fits >= s.MaxEvents {
			b.fits = 0
		}
	}
}

// fills reports whether a lane with something queued should wait for more of it.
func (d *Dispatcher) fills(l *lane, now time.Time) bool {
	b, s := &l.backlog, l.subscription.target.Settings.Batch
	if len(b.queue) == 0 {
		return false
	}
	if b.batch.until.IsZero() {
		age := max(now.Sub(b.queue[0].createdAt()), 0)
		b.batch.until = now.Add(max(s.MaxWait-age, 0))
	}
	limit := b.batch.limit(s)
	if b.firstTried(limit) >= 0 {
		return false // it goes alone
	}
	// What memory has no room for is not waited for.
	grows := !d.memory.isOver() && (b.rest != unread || b.reading || b.wantsRead())
	if now.Before(b.batch.until) && grows && !b.fillsArray(limit) {
		return true
	}
	if b.heads.on && b.waiting < limit && !b.batch.toppedUp {
		b.batch.toppedUp = true
		for _, q := range b.queue[:min(limit, len(b.queue))] {
			b.want(q.event.resource)
		}
	}
	return b.batch.toppedUp && b.reading
}

// waitToFill makes a lane wait until its array is sent. The end of a read wakes it, too.
func (d *Dispatcher) waitToFill(l *lane, now time.Time) {
	if !l.backlog.reading {
		d.wait(l, filling, l.backlog.batch.until.Sub(now))
	}
}

// fillingEnds reports whether a lane has no reason to wait for more any more, or should read
// the store.
func (l *lane) fillingEnds() bool {
	b, t := &l.backlog, l.subscription.target
	return !t.batches() || b.rest == unread && !b.reading || b.fillsArray(b.batch.limit(t.Settings.Batch))
}

// fillsArray reports whether what waits fills an array.
func (b *backlog) fillsArray(limit int) bool {
	return b.waiting+b.batch.offered >= limit || b.payloadBytes() >= feedmill.MaxBatchBytes
}

// payloadBytes is what the payloads take that wait.
func (b *backlog) payloadBytes() int { return b.bytes - b.waiting*(itemBytes+eventOverhead) }

// firstTried is the first of so many queued deliveries that was tried before, -1 if none was.
func (b *backlog) firstTried(limit int) int {
	return slices.IndexFunc(b.queue[:min(limit, len(b.queue))], func(q queued) bool { return q.attempts > 0 })
}

// popBatch takes the deliveries of the next array. They stay known.
func (b *backlog) popBatch(s feedmill.Batch) (first queued, more []queued) {
	limit := b.batch.limit(s)
	b.batch.until, b.batch.offered, b.batch.toppedUp = time.Time{}, 0, false
	if i := b.firstTried(limit); i >= 0 {
		first = b.queue[i]
		b.queue = slices.Delete(b.queue, i, i+1)
		b.letGo(first)
		return first, nil
	}
	bytes := len("[]")
	fits := func(q queued) bool {
		bytes += len(q.event.payload) + len(",")
		return bytes <= feedmill.MaxBatchBytes
	}
	first = b.pop()
	fits(first)
	more = b.popBehind(first, nil, limit, fits)
	for len(b.queue) > 0 && len(more) < limit-1 && fits(b.queue[0]) {
		q := b.pop()
		more = b.popBehind(q, append(more, q), limit, fits)
	}
	return first, more
}

// popBehind takes what is behind the first of a resource, as far as it fits into the array.
func (b *backlog) popBehind(first queued, more []queued, limit int, fits func(queued) bool) []queued {
	s := b.heads.series[first.event.resource]
	if s == nil || s.first != first.id {
		return more
	}
	for len(s.behind) > 0 && len(more) < limit-1 && s.behind[0].attempts == 0 && fits(s.behind[0]) {
		next := s.behind[0]
		s.behind[0] = queued{}
		s.first, s.seq, s.behind = next.id, next.seq, s.behind[1:]
		b.letGo(next)
		more = append(more, next)
	}
	return more
}

// arrayMember is a delivery of an array.
type arrayMember struct {
	queued
	result feedmill.Result // if it was not sent
	failed bool
}

// attemptBatch sends deliveries as an array, and hands on what comes of each.
func (d *Dispatcher) attemptBatch(ctx context.Context, t task) {
	at := time.Now()
	ctx, end, held := d.underLease(ctx, t, at)
	defer end()
	if !held {
		d.finished(t, at, feedmill.Result{}, at, false)
		return
	}
	members, elements := d.shapeAll(ctx, &t)
	if ctx.Err() != nil {
		d.finished(t, at, feedmill.Result{}, at, false)
		return
	}
	body, fits := feedmill.BatchBody(elements)
	t, members = d.cutArray(t, members, fits, fits < len(elements))
	r := feedmill.Result{Verdict: feedmill.VerdictRejected}
	if fits > 0 {
		r = d.sendArray(ctx, &t.target, members, body, at)
	}
	now := time.Now()
	if ctx.Err() != nil && !r.Delivered() || r.Verdict == feedmill.VerdictWait {
		d.finished(t, at, r, now, false)
		return
	}
	outcomes := make([]settling, len(members))
	seen := make(map[string]bool)
	said := false // the effect on the subscription
	for i := len(members) - 1; i >= 0; i-- {
		resource := members[i].event.resource
		outcomes[i] = settling{lane: t.lane, resource: resource, followed: seen[resource]}
		seen[resource] = true
	}
	for i := range members {
		o := d.decideMember(t, members[i], r, at, now)
		if said {
			o.Succeeded, o.Failed, o.Warn, o.Disable, o.Notice = false, false, false, "", nil
		}
		said = said || !members[i].failed
		outcomes[i].outcome = o
	}
	d.finished(t, at, r, now, true)
	outcomes[0].more = outcomes[1:]
	d.outcomes <- outcomes[0]
}

// shapeAll makes the elements of an array. A delivery whose element cannot be made is not in
// it, and ends as if it was alone.
func (d *Dispatcher) shapeAll(ctx context.Context, t *task) (members []arrayMember, elements [][]byte) {
	members = make([]arrayMember, 1+len(t.more))
	members[0].queued = t.due
	for i, q := range t.more {
		members[1+i].queued = q
	}
	for i := range members {
		body := feedmill.Body{Bytes: members[i].event.payload}
		if !t.target.Shape.IsZero() {
			var err error
			if body, err = d.Shape(ctx, t.target.Workspace, t.target.Shape, body.Bytes); err != nil {
				members[i].failed, members[i].result = true, unshaped(err)
				continue
			}
		}
		elements = append(elements, body.Element())
	}
	return members, elements
}

// cutArray leaves the deliveries to be read again that do not fit into an array any more,
// once they have their elements.
func (d *Dispatcher) cutArray(t task, members []arrayMember, fits int, cut bool) (task, []arrayMember) {
	keep := len(members)
	if cut {
		sent := 0
		keep = slices.IndexFunc(members, func(m arrayMember) bool {
			if !m.failed {
				sent++
			}
			return sent > fits
		})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if fits > 0 {
		t.lane.backlog.batch.learn(fits, cut, t.target.Settings.Batch)
	}
	for _, m := range members[keep:] {
		d.giveBack(t.lane, m.queued)
	}
	t.more = t.more[:keep-1]
	return t, members[:keep]
}

// sendArray makes the attempt.
func (d *Dispatcher) sendArray(ctx context.Context, t *Target, members []arrayMember, body []byte, at time.Time) feedmill.Result {
	var ids []feedmill.ID
	var m feedmill.Message
	for _, member := range members {
		if !member.failed {
			if len(ids) == 0 {
				m = member.message(at)
			}
			ids = append(ids, member.id)
		}
	}
	m.Payload, m.BatchID, m.Events = body, feedmill.BatchID(ids), len(ids)
	m.Timeout, m.Header = t.Settings.Timeout, d.header(t, &m)
	return t.endpoint.Send(ctx, m)
}

// decideMember says what the attempt means for a delivery of the array.
func (d *Dispatcher) decideMember(t task, member arrayMember, r feedmill.Result, at, now time.Time) feedmill.Outcome {
	if member.failed {
		r = member.result
	}
	if member.attempts == 0 {
		d.count.firstAttempt.Observe(at.Sub(member.createdAt()).Seconds())
	}
	m := member.message(at)
	t.due = member.queued
	o := d.decide(t, &m, r, now)
	d.count.attempt(r, o, member.createdAt(), now)
	d.tally.count(o, r, m.Attempt, now)
	return o
}
