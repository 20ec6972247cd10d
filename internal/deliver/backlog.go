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
	// known are the deliveries that are queued, under way or being settled:
	// those that the store still calls due although they are taken care of.
	known map[feedmill.ID]struct{}

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
	// itemSize is about how many bytes a delivery takes.
	itemSize int

	// reading says that a worker reads the subscription or its deliveries.
	// What is queued goes on meanwhile, unless it is ordered. settled are
	// those whose outcome was written meanwhile: what is being read may still
	// show them as they were.
	reading bool
	settled map[feedmill.ID]struct{}
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
	// readBytes is about how much one read of a lane's deliveries brings.
	readBytes = 4 << 20
	// readMost is how many deliveries it brings at most.
	readMost = 500
	// recheckAfter is how long a backlog with deliveries in hand takes them
	// for all that the store calls due.
	recheckAfter = 5 * time.Second
	// beyondIDs is behind every id: while the store is read, what is to be
	// read from next time is as far as nobody says otherwise meanwhile.
	beyondIDs feedmill.ID = "~"
)

func newBacklog(m *memory) backlog {
	return backlog{memory: m, known: make(map[feedmill.ID]struct{}), itemSize: firstItemSize}
}

// offer takes a delivery that is due now. It is queued, unless only the store
// knows its place: where there is no room, where others wait there, and where
// it may have been read before.
func (b *backlog) offer(due feedmill.DueDelivery, mayQueue bool) {
	switch {
	case due.Seq <= b.readSeq:
		b.rest = unread
		if b.overtaken == "" || due.ID < b.overtaken {
			b.overtaken = due.ID
		}
	case !mayQueue, b.rest == unread, !b.memory.fits(len(b.queue)):
		b.leaveToStore(due.ID)
	default:
		b.push(due)
		b.readFrom = max(b.readFrom, due.ID)
	}
}

// leaveToStore leaves a delivery to be read. Offers that come at once have no
// order among them: some behind it may be queued already.
func (b *backlog) leaveToStore(id feedmill.ID) {
	b.rest = unread
	b.readFrom = min(b.readFrom, id)
}

// has reports whether a delivery is taken care of.
func (b *backlog) has(id feedmill.ID) bool {
	_, ok := b.known[id]
	return ok
}

// push queues a delivery.
func (b *backlog) push(due feedmill.DueDelivery) {
	b.queue = append(b.queue, b.memory.hold(due))
	b.known[due.ID] = struct{}{}
	b.itemSize += (len(due.Payload) + itemBytes - b.itemSize) / 8
}

// pop takes the first delivery of the queue. It stays known.
func (b *backlog) pop() queued {
	q := b.queue[0]
	b.queue[0] = queued{}
	b.queue = b.queue[1:]
	b.memory.release(q)
	return q
}

// forget lets go of a delivery whose outcome is written, or that was not sent
// after all.
func (b *backlog) forget(id feedmill.ID) {
	delete(b.known, id)
	if b.reading {
		if b.settled == nil {
			b.settled = make(map[feedmill.ID]struct{})
		}
		b.settled[id] = struct{}{}
	}
}

// dropQueue forgets what waits in memory; the store still has it.
func (b *backlog) dropQueue() {
	for _, q := range b.queue {
		delete(b.known, q.id)
		b.memory.release(q)
	}
	b.queue = nil
	b.readAll()
}

// abandon leaves everything to whoever sends for the subscription now.
func (b *backlog) abandon() {
	b.dropQueue()
	b.rest = allKnown
}

// readAll makes the store be read from the beginning.
func (b *backlog) readAll() {
	b.rest = unread
	b.readFrom, b.overtaken = "", ""
}

// found notes that the store calls deliveries due, and reports whether it is to be
// read. They may be known already: then that waits until those are worked off.
func (b *backlog) found(now time.Time) bool {
	if len(b.known) > 0 && !b.retries.hasCome(now) && now.Sub(b.checkedAt) < recheckAfter {
		b.rest = max(b.rest, unsure)
		return false
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

// wantsRead reports whether more of the rest should be queued: where few
// deliveries are, or not many and memory has room for all that a read may bring.
func (b *backlog) wantsRead() bool {
	n := len(b.queue)
	return b.rest == unread && (n < laneFloor/4 || (n < min(readMost, b.memory.maxLane)/2 && b.memory.room() >= readMost))
}
