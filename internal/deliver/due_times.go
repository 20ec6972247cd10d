package deliver

import (
	"slices"
	"time"
)

// dueTimes are moments at which something in the store comes due, the earliest
// first. Beyond a number they are not noted: what comes due then is found by the
// poll that looks in any case.
type dueTimes []time.Time

const (
	// dueStep is how finely times are told apart. They are rounded up, so that
	// what was due before is due then.
	dueStep = 10 * time.Millisecond
	// maxDueTimes is how many are noted for all lanes, and maxLaneRetries those of
	// one.
	maxDueTimes    = 1024
	maxLaneRetries = 64
)

// add notes a time, and reports whether it is the earliest.
func (d *dueTimes) add(t time.Time, most int) (first bool) {
	if rounded := t.Truncate(dueStep); rounded.Before(t) {
		t = rounded.Add(dueStep)
	}
	i, found := slices.BinarySearchFunc(*d, t, time.Time.Compare)
	if !found && i < most {
		*d = slices.Insert((*d)[:min(len(*d), most-1)], i, t)
	}
	return i == 0 && !found
}

// pass forgets the times that have come.
func (d *dueTimes) pass(now time.Time) {
	n := 0
	for n < len(*d) && !(*d)[n].After(now) {
		n++
	}
	*d = slices.Delete(*d, 0, n)
	if len(*d) == 0 {
		*d = nil
	}
}

// hasCome reports whether a time has.
func (d dueTimes) hasCome(now time.Time) bool { return len(d) > 0 && !d[0].After(now) }
