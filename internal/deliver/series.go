package deliver

import "github.com/feedmill/feedmill"

// series are the deliveries of one resource of an ordered subscription that are in
// memory. The first is queued, under way or being settled. Those behind it were read
// with it and are the next ones in the store; each becomes the first when the one
// before it has ended there, and not earlier, so that nothing has to be read in
// between. Where anything else happens to the first they are let go.
//
// The first was read, sent and settled under one lease: with a slot that is lost, what
// is behind goes, too. Where the clocks are wrong about the lease, the store is not: it
// says when it was not this replica's to settle the first.
type series struct {
	first  feedmill.ID
	seq    int64 // of the first
	behind []queued
	// changed says that the store has another head, such as a delivery that somebody
	// retries by hand. It is sent after this one.
	changed bool
}

const (
	// maxSeries is how many deliveries of a resource are in memory, and maxBehind
	// how many of a lane may be behind others.
	maxSeries = 64
	maxBehind = readMost
)

// lastSeq is that of the last delivery in memory.
func (s *series) lastSeq() int64 {
	if n := len(s.behind); n > 0 {
		return s.behind[n-1].seq
	}
	return s.seq
}

// behind is how many deliveries are behind others of their resource.
func (b *backlog) behind() int { return b.waiting - len(b.queue) }

// wantOffered makes the store be read for a delivery of an ordered subscription. One
// whose turn comes after those in memory is found when these have ended.
func (b *backlog) wantOffered(due feedmill.DueDelivery) {
	switch s := b.heads.series[due.ResourceID]; {
	case s == nil:
		b.want(due.ResourceID)
	case due.Seq < s.lastSeq():
		b.readAfterFirst(s)
	default:
		b.batch.offered++
	}
}

// readAfterFirst makes the store be read for a resource when its first delivery has
// had its attempt, whatever comes of it.
func (b *backlog) readAfterFirst(s *series) {
	s.changed = true
	b.dropBehind(s)
}

// beginSeries queues the head of a resource.
func (b *backlog) beginSeries(due feedmill.DueDelivery) *series {
	s := &series{first: due.ID, seq: due.Seq}
	if b.heads.series == nil {
		b.heads.series = make(map[string]*series)
	}
	b.heads.series[due.ResourceID] = s
	b.push(due)
	return s
}

// addBehind keeps the next delivery of a series, and reports whether it could: it must
// not be one that is known, and takes nobody's room.
func (b *backlog) addBehind(s *series, due feedmill.DueDelivery) bool {
	_, settled := b.settled[due.ID]
	if settled || b.has(due.ID) || due.Seq <= s.lastSeq() || len(s.behind) >= maxSeries-1 ||
		b.behind() >= maxBehind || b.waiting >= b.memory.maxLane || !b.memory.hasRoom(1, sizeOf(&due)) {
		return false
	}
	s.behind = append(s.behind, b.hold(due))
	return true
}

// dropBehind forgets what is behind the first; the store still has it.
func (b *backlog) dropBehind(s *series) {
	behind := s.behind
	s.behind = nil
	for _, q := range behind {
		b.drop(q)
	}
}

// endFirst notes that a delivery is not under way any more. Where it has ended in the
// store, the next of its resource is queued, or read; where it has not, that waits.
func (b *backlog) endFirst(resource string, id feedmill.ID, ended bool) {
	s := b.heads.series[resource]
	if s == nil || s.first != id {
		// It was begun before the subscription was ordered.
		if ended {
			b.want(resource)
		}
		return
	}
	if ended && len(s.behind) > 0 {
		next := s.behind[0]
		s.behind[0] = queued{}
		s.first, s.seq, s.behind = next.id, next.seq, s.behind[1:]
		b.queue = append(b.queue, next)
		return
	}
	b.dropBehind(s)
	delete(b.heads.series, resource)
	if ended || s.changed {
		b.want(resource)
	}
}

// dropSeries lets go of those of which nothing is under way but what was queued, and of
// what is behind the others.
func (b *backlog) dropSeries(queue []queued) {
	for _, q := range queue {
		if s := b.heads.series[q.event.resource]; s != nil && s.first == q.id {
			b.dropBehind(s)
			delete(b.heads.series, q.event.resource)
		}
	}
	for _, s := range b.heads.series {
		b.dropBehind(s)
	}
}

// takeHeads queues the heads that a query has read, as far as they fit, with what is
// behind them. It returns the last head that is done with, nil where there is none, and
// whether there are more. With single, the first fits in any case.
func (b *backlog) takeHeads(q feedmill.DueQuery, due []feedmill.DueDelivery, single bool) (taken *feedmill.DueDelivery, cut bool) {
	cut = len(due) == q.Limit || q.IsFull(due)
	looked := make(map[string]*series) // nil for those of which nothing more is taken
	for i := range due {
		item := &due[i]
		resource := item.ResourceID
		if begun, ok := looked[resource]; ok {
			// All heads come before what is behind any of them.
			cut = false
			if begun != nil && b.batch.toppedUp && item.Seq <= begun.lastSeq() {
				continue // it is in memory
			}
			if begun != nil && (begun != b.heads.series[resource] || !b.addBehind(begun, *item)) {
				looked[resource] = nil
			}
			continue
		}
		looked[resource] = nil
		s := b.heads.series[resource]
		_, settled := b.settled[item.ID]
		switch {
		case b.batch.toppedUp && s != nil && s.first == item.ID:
			looked[resource] = s
		case b.has(item.ID), settled:
		case s != nil:
			b.readAfterFirst(s)
		case !b.takes(item, single):
			return taken, true
		default:
			looked[resource] = b.beginSeries(*item)
		}
		taken = item
		b.readSeq = max(b.readSeq, item.Seq)
	}
	return taken, cut
}
