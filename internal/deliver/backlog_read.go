package deliver

import (
	"time"

	"github.com/feedmill/feedmill"
)

// beginQuery makes the query for more of the backlog, as much as there is room
// for. Heads asks for the first delivery of each resource: then nothing that is
// queued stays.
func (b *backlog) beginQuery(subscription feedmill.ID, now time.Time, heads bool) feedmill.DueQuery {
	if heads {
		b.dropQueue()
	}
	q := feedmill.DueQuery{Subscription: subscription, Now: now, Heads: heads, Limit: laneFloor}
	if b.memory.room() >= readMost {
		q.Limit = min(max(readBytes/b.itemSize, laneFloor), readMost)
	}
	if b.readFrom == "" {
		q.Limit += len(b.known) // which come first, and have to be read over
	} else {
		q.From = b.readFrom
	}
	b.memory.expected += q.Limit
	b.rest, b.readFrom, b.checkedAt = allKnown, beyondIDs, now
	b.retries.pass(now)
	return q
}

// endQuery queues what a query has read, as far as it fits.
func (b *backlog) endQuery(q feedmill.DueQuery, due []feedmill.DueDelivery) {
	from, cut := q.From, len(due) == q.Limit
	for _, item := range due {
		_, settled := b.settled[item.ID]
		if !b.has(item.ID) && !settled {
			if !b.memory.fits(len(b.queue)) {
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
