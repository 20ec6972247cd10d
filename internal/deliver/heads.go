package deliver

import (
	"maps"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// heads is how far the store was read for an ordered subscription. Of each
// resource only the head may be sent, its oldest delivery that is open, and only
// the store knows which that is. A pass looks at the resources one after the
// other, from where it stopped the last time. Behind it those are looked at of
// which something was offered or has ended: their heads are others by now.
type heads struct {
	on bool // the subscription is ordered
	// passing says that a pass is under way, and after is the resource that it
	// came to; nil at the beginning. passes counts those that were begun.
	passing bool
	after   *string
	passes  int
	// passedAt is when one was last gone on with.
	passedAt time.Time
	// wanted are resources to look at, and retries says that some head's next
	// attempt has come due.
	wanted  map[string]struct{}
	retries bool
	// asked says that it is the pass's turn: resources were asked for last.
	asked bool
	// series are the resources of which something is in memory.
	series map[string]*series
	// orderedAt is when the subscription was read for which the store was last asked to
	// put its backlog in order. It is asked again once the subscription was read again.
	orderedAt time.Time
}

// maxWanted is how many resources are noted; where there are more, a pass finds
// them.
const maxWanted = 4096

// setOrdered says whether the subscription is ordered. What is queued of one that
// becomes so may be sent by nobody but the first of each resource.
func (b *backlog) setOrdered(ordered bool) {
	if b.heads.on != ordered {
		b.dropQueue()
		b.heads = heads{on: ordered, passes: b.heads.passes}
		b.readAll()
	}
}

// want makes the store be read for the head of a resource.
func (b *backlog) want(resource string) {
	h := &b.heads
	b.rest = unread
	if h.wanted == nil {
		h.wanted = make(map[string]struct{})
	}
	if h.wanted[resource] = struct{}{}; len(h.wanted) > maxWanted {
		b.readAll()
	}
}

// beginPass begins a pass from the first resource on. It comes to those that are
// wanted, too.
func (h *heads) beginPass() {
	h.passing, h.after, h.wanted, h.retries = true, nil, nil, false
	h.passes++
}

// askHeads makes a query ask for heads: those whose next attempt is due before
// all others, and then in turn those of resources that are wanted and of the next
// that the pass comes to.
func (b *backlog) askHeads(q *feedmill.DueQuery) {
	h := &b.heads
	q.Heads = true
	switch {
	case h.retries:
		h.retries, q.Retries = false, true
		q.Limit += len(b.known)
		q.MaxBytes += b.knownBytes
	case len(h.wanted) > 0 && !(h.passing && h.asked):
		q.Resources = make([]string, 0, min(len(h.wanted), q.Limit))
		for r := range maps.Keys(h.wanted) {
			if len(q.Resources) == cap(q.Resources) {
				break
			}
			q.Resources = append(q.Resources, r)
			delete(h.wanted, r)
		}
		n := len(q.Resources)
		q.Each = min(q.Limit/n, 1+(maxBehind-b.behind())/n, maxSeries)
		h.asked = true
		b.batch.offered = 0
	default:
		if !h.passing {
			h.beginPass()
		}
		q.After, h.asked, h.passedAt = h.after, false, q.Now
		b.batch.offered = 0
	}
	b.asking = h.passes
}

// endHeads notes what a query for heads came to: taken is the last head that is done
// with, nil where there is none, and cut says that there are more.
func (b *backlog) endHeads(q feedmill.DueQuery, taken *feedmill.DueDelivery, cut bool) {
	h := &b.heads
	switch {
	case b.asking != h.passes: // a new pass has begun, which comes to all of them
	case q.Retries:
		h.retries = h.retries || cut
	case q.Resources != nil:
		if cut {
			first := 0
			if taken != nil {
				first = slices.Index(q.Resources, taken.ResourceID) + 1
			}
			for _, r := range q.Resources[first:] {
				b.want(r)
			}
		}
	case !cut:
		h.passing, h.after = false, nil
	case taken != nil:
		h.after = new(taken.ResourceID)
	}
	if h.passing || h.retries || len(h.wanted) > 0 {
		b.rest = unread
	}
}
