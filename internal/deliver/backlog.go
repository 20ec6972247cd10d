package deliver

import (
	"time"

	"github.com/feedmill/feedmill"
)

// backlog is what waits to be sent to one subscription: some of it queued in
// memory, some under way, and the rest in the store.
type backlog struct {
	memory *memory
	queue  []queued
	// waiting is how many deliveries wait in memory: the queue, and those that are
	// behind others of their resource. bytes is what they take, and place where this
	// stands among those of its workspace that have some; below zero it has none.
	waiting, bytes, place int
	// known are the deliveries that wait, are under way or being settled: those
	// that the store still calls open although they are taken care of.
	// The value is what each takes, and knownBytes what all do.
	known      map[feedmill.ID]int
	knownBytes int

	// rest is what the store may hold beyond these.
	rest rest
	// readFrom is where the next read for pending deliveries begins: what
	// stands before it is known. Where it is empty that is the beginning.
	readFrom feedmill.ID
	// overtaken is the first delivery that was offered after the store was
	// read beyond it. Most of these were read before; whether all of them were
	// is seen to when there is nothing more to read.
	overtaken feedmill.ID
	// readSeq is the highest Seq that was read from the store. A delivery up
	// to it that is offered later may have been read, sent and settled by
	// then: the store knows.
	readSeq int64
	// checkedAt is when the store was last read for deliveries, or seen to
	// have none; retries are when those that failed here come due.
	checkedAt time.Time
	retries   dueTimes
	// settledAt is when the last outcome was written.
	settledAt time.Time
	// heads is how far it was read where the subscription is ordered, and asking
	// the pass during which that is being read.
	heads  heads
	asking int
	batch  batch
	// itemSize is about how many bytes a delivery takes.
	itemSize int
	// expected and expectedBytes are what is taken to be read.
	expected, expectedBytes int

	// reading says that a worker reads the subscription or its deliveries.
	// What is queued goes on meanwhile, unless it is ordered. settled are
	// those whose outcome was written meanwhile: what is being read may still
	// show them as they were. abandoned says that the lane was given up meanwhile:
	// what is being read may be what another has sent since.
	reading   bool
	settled   map[feedmill.ID]struct{}
	abandoned bool
}

// rest is what the store may hold of a backlog beyond what is known.
type rest uint8

const (
	// allKnown says that there is nothing.
	allKnown rest = iota
	// unsure says that the store called some due since it was read, which may
	// be those that are known.
	unsure
	// unread says that there may be more, to be read.
	unread
)

const (
	// firstItemSize is what a delivery is taken to need before one is seen.
	firstItemSize = 16 << 10
	// fewQueued is how many deliveries of a lane are few.
	fewQueued = 8
	// readBytes is about how much one read of a lane's deliveries brings.
	readBytes = 4 << 20
	// readMost is how many deliveries it brings at most, and readFew how many
	// where there is little room.
	readMost = 500
	readFew  = 32
	// recheckAfter is how long a backlog with deliveries in hand takes them
	// for all that the store calls due, and recheckManyAfter how long where they are
	// more than fewQueued and nobody says otherwise: to look means to read all of
	// them again, and what is found would stand behind them.
	recheckAfter     = 5 * time.Second
	recheckManyAfter = 15 * time.Second
	// beyondIDs is behind every id: while the store is read, what is to be
	// read from next time is as far as nobody says otherwise meanwhile.
	beyondIDs feedmill.ID = "~"
)

func newBacklog(m *memory) backlog {
	return backlog{memory: m, place: -1, itemSize: firstItemSize}
}

// offer takes a delivery that is due now. It is queued, unless only the store
// knows its place: where there is no room, where others wait there, and where
// it may have been read before.
func (b *backlog) offer(due feedmill.DueDelivery, mayQueue bool) {
	switch {
	case b.heads.on:
		b.wantOffered(due)
	case due.Seq <= b.readSeq:
		b.rest = unread
		if b.overtaken == "" || due.ID < b.overtaken {
			b.overtaken = due.ID
		}
	case !mayQueue, b.rest == unread, !b.memory.fits(b, due.Workspace, sizeOf(&due)):
		b.leaveToStore(due)
	default:
		b.push(due)
		if b.rest != unread { // else it has let go of its own queue to make room
			b.readFrom = max(b.readFrom, due.ID)
		}
	}
}

// leaveToStore leaves a delivery to be read. Offers that come at once have no
// order among them: some behind it may be queued already.
func (b *backlog) leaveToStore(due feedmill.DueDelivery) {
	if b.heads.on {
		b.wantOffered(due)
		return
	}
	b.rest = unread
	b.readFrom = min(b.readFrom, due.ID)
}

// has reports whether a delivery is taken care of.
func (b *backlog) has(id feedmill.ID) bool {
	_, ok := b.known[id]
	return ok
}

// push queues a delivery.
func (b *backlog) push(due feedmill.DueDelivery) { b.queue = append(b.queue, b.hold(due)) }

// hold keeps a delivery in memory.
func (b *backlog) hold(due feedmill.DueDelivery) queued {
	q := b.memory.hold(due)
	b.waiting++
	b.memory.account(b, q.event.workspace, q.size())
	if b.known == nil {
		b.known = make(map[feedmill.ID]int)
	}
	b.known[due.ID] = q.size()
	b.knownBytes += q.size()
	b.itemSize += (q.size() - b.itemSize) / 8
	return q
}

// letGo ends that a delivery waits in memory.
func (b *backlog) letGo(q queued) {
	b.waiting--
	b.memory.account(b, q.event.workspace, -q.size())
	b.memory.release(q)
}

// drop forgets a delivery that waits in memory; the store still has it.
func (b *backlog) drop(q queued) {
	b.notKnown(q.id)
	b.letGo(q)
}

// pop takes the first delivery of the queue. It stays known.
func (b *backlog) pop() queued {
	q := b.queue[0]
	b.queue[0] = queued{}
	if b.queue = b.queue[1:]; len(b.queue) == 0 {
		b.queue = nil
	}
	b.letGo(q)
	return q
}

// forget lets go of a delivery whose outcome is written, or that was not sent
// after all.
func (b *backlog) forget(id feedmill.ID) {
	b.notKnown(id)
	b.settledAt = time.Now()
	if b.reading {
		if b.settled == nil {
			b.settled = make(map[feedmill.ID]struct{})
		}
		b.settled[id] = struct{}{}
	}
}

func (b *backlog) notKnown(id feedmill.ID) {
	b.knownBytes -= b.known[id]
	if delete(b.known, id); len(b.known) == 0 {
		b.known = nil // most lanes know of nothing for most of the time
	}
}

// dropQueue forgets what waits in memory; the store still has it.
func (b *backlog) dropQueue() {
	queue := b.queue
	b.queue, b.batch.until = nil, time.Time{}
	b.dropSeries(queue)
	for _, q := range queue {
		b.drop(q)
	}
	b.readAll()
}

// abandon leaves everything to whoever sends for the subscription now.
func (b *backlog) abandon() {
	b.dropQueue()
	b.rest, b.abandoned = allKnown, b.reading
}

// readOn makes the store be read where it may hold more.
func (b *backlog) readOn() {
	if b.heads.on {
		b.readAll()
	}
	b.rest = unread
}

// readAll makes the store be read from the beginning.
func (b *backlog) readAll() {
	b.rest = unread
	b.readFrom, b.overtaken = "", ""
	b.heads.beginPass()
}

// found notes that the store called deliveries due at a time, and reports whether it
// is to be read. They may be known already: then that waits until those are worked
// off, or where nobody asked for it until they are found again.
func (b *backlog) found(now time.Time, how hint, at time.Time) bool {
	if b.heads.on && how != told && b.retries.hasCome(now) && now.Sub(b.heads.passedAt) < recheckAfter {
		b.heads.retries, b.rest = true, unread
		return true
	}
	after, checkedAt := recheckAfter, b.checkedAt
	if b.heads.on {
		// To look at some resources says nothing of the others.
		checkedAt = b.heads.passedAt
	}
	if how == seen && len(b.known) > fewQueued && !b.heads.on {
		after = recheckManyAfter
	}
	if !b.retries.hasCome(now) && now.Sub(checkedAt) < after {
		switch {
		case how == seen && (len(b.known) > 0 || !b.settledAt.Before(at)):
			return false
		case len(b.known) > 0:
			b.rest = max(b.rest, unsure)
			return false
		}
	}
	b.readAll() // what has come due meanwhile may stand before the rest
	return true
}

// hasWork reports whether there is something to send or to read.
func (b *backlog) hasWork() bool {
	if b.rest == unsure && len(b.known) == 0 {
		b.readAll()
	}
	return len(b.queue) > 0 || b.rest == unread && !b.reading
}

// wantsRead reports whether more of the rest should be queued: where none is, or
// few are and there is room for some, or not many and there is room for all that a
// read may bring. It is false where nothing of it could be: what did not fit would
// be read over and over.
func (b *backlog) wantsRead() bool {
	if b.rest != unread || b.waiting >= b.memory.maxLane {
		return false
	}
	switch n := len(b.queue); {
	case n == 0:
		return true
	case n < fewQueued:
		return b.memory.hasRoom(fewQueued, fewQueued*b.itemSize)
	default:
		return n < min(readMost, b.memory.maxLane)/2 && b.memory.hasRoom(readMost, readBytes)
	}
}

// takes reports whether a delivery that was read may wait in memory, or with single
// the first one in any case. One that may not says how much room there must be before
// it is read again.
func (b *backlog) takes(due *feedmill.DueDelivery, single bool) bool {
	size := sizeOf(due)
	if b.memory.fits(b, due.Workspace, size) {
		return true
	}
	b.itemSize = max(b.itemSize, size)
	return single && len(b.queue) == 0
}

// wantsSingle reports whether a read can only bring a single delivery, past the
// bound on memory.
func (b *backlog) wantsSingle(workspace feedmill.ID) bool {
	if len(b.queue) > 0 || b.memory.hasRoom(1, b.itemSize) {
		return false
	}
	deliveries, bytes := b.memory.shareOf(b, workspace)
	return deliveries == 0 || bytes < b.itemSize || !b.memory.makeRoom(workspace, b.itemSize)
}
