package deliver

import (
	"time"

	"github.com/feedmill/feedmill"
)

// beginQuery makes the query for more of the backlog, as much as there is room
// for, and one delivery where there is none.
func (b *backlog) beginQuery(subscription feedmill.ID, now time.Time) feedmill.DueQuery {
	q := feedmill.DueQuery{Subscription: subscription, Now: now, Limit: readMost, MaxBytes: readBytes}
	if !b.memory.hasRoom(readMost, readBytes) {
		n, bytes := b.memory.room()
		q.Limit, q.MaxBytes = min(n, readFew), min(bytes, readFew*b.itemSize)
	}
	q.Limit = max(min(q.Limit, q.MaxBytes/b.itemSize), 1)
	b.expected, b.expectedBytes = q.Limit, q.Limit*b.itemSize
	b.memory.expected += b.expected
	b.memory.expectedBytes += b.expectedBytes
	q.MaxBytes = max(q.MaxBytes, 1)
	if b.heads.on {
		b.askHeads(&q)
	} else {
		q.From = b.readFrom
		b.addKnown(&q)
	}
	b.rest, b.readFrom, b.checkedAt, b.abandoned = allKnown, beyondIDs, now, false
	if q.Retries || q.From == "" && q.After == nil && q.Resources == nil { // else it does not find all of them
		b.retries.pass(now)
	}
	return q
}

// addKnown makes a query ask for as much more as is known of what it will find,
// and has to be read over. In a large one behind the beginning that is little.
func (b *backlog) addKnown(q *feedmill.DueQuery) {
	switch {
	case q.From == "":
		q.Limit += len(b.known)
		q.MaxBytes += b.knownBytes
	case q.Limit <= readFew:
		for id, size := range b.known {
			if id >= q.From {
				q.Limit++
				q.MaxBytes += size
			}
		}
	}
}

// expectNothing ends the expectations of a query.
func (b *backlog) expectNothing() {
	b.memory.expected -= b.expected
	b.memory.expectedBytes -= b.expectedBytes
	b.expected, b.expectedBytes = 0, 0
}

// endQuery queues what a query has read, as far as it fits. With single, the
// first of it fits in any case.
func (b *backlog) endQuery(q feedmill.DueQuery, due []feedmill.DueDelivery, single bool) {
	if b.abandoned || q.Heads != b.heads.on {
		b.readAll() // it is not what may be sent any more
		return
	}
	if q.Heads {
		taken, cut := b.takeHeads(q, due, single)
		b.endHeads(q, taken, cut)
		return
	}
	from, cut := q.From, len(due) == q.Limit || q.IsFull(due)
	for _, item := range due {
		_, settled := b.settled[item.ID]
		if !b.has(item.ID) && !settled {
			if !b.takes(&item, single) {
				cut = true
				break
			}
			b.push(item)
		}
		b.readSeq = max(b.readSeq, item.Seq)
		if item.State == feedmill.DeliveryPending {
			from = item.ID
		}
	}
	b.readFrom = min(b.readFrom, from)
	if !cut && b.overtaken != "" {
		b.readFrom, b.overtaken, cut = min(b.readFrom, b.overtaken), "", true
	}
	if cut {
		b.rest = unread
	}
}
