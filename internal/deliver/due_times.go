package deliver

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// dueTimes are moments at which something in the store comes due, the earliest
// first. Beyond a number they are not noted: what comes due then is found by the
// poll that looks in any case.
type dueTimes []time.Time

const (
	// dueStep is how finely times are told apart. They are rounded up, so that
	// what was due before is due then.
	dueStep = 10 * time.Millisecond
	// maxDueLanes is how many are noted for all lanes, and maxLaneRetries those of
	// one.
	maxDueLanes    = 1024
	maxLaneRetries = 64
)

// add notes a time, and reports whether it is the earliest.
func (d *dueTimes) add(t time.Time, most int) (first bool) {
	t = roundUp(t)
	i, found := slices.BinarySearchFunc(*d, t, time.Time.Compare)
	if !found && i < most {
		*d = slices.Insert((*d)[:min(len(*d), most-1)], i, t)
	}
	return i == 0 && !found
}

func roundUp(t time.Time) time.Time {
	if rounded := t.Truncate(dueStep); rounded.Before(t) {
		return rounded.Add(dueStep)
	}
	return t
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

// dueLanes are the lanes in whose store something comes due, and when, the earliest
// first. As with the times of a lane, those beyond a number are found by the poll.
type dueLanes []dueLane

type dueLane struct {
	at   time.Time
	lane feedmill.ID
}

// add notes a time of a lane, and reports whether it is the earliest of all.
func (d *dueLanes) add(t time.Time, lane feedmill.ID) (first bool) {
	next := dueLane{roundUp(t), lane}
	i, found := slices.BinarySearchFunc(*d, next, func(a, b dueLane) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.lane, b.lane))
	})
	if !found && i < maxDueLanes {
		*d = slices.Insert((*d)[:min(len(*d), maxDueLanes-1)], i, next)
	}
	return i == 0 && !found
}

// pass takes out the lanes of which a time has come.
func (d *dueLanes) pass(now time.Time) (lanes []feedmill.ID) {
	n := 0
	for ; n < len(*d) && !(*d)[n].at.After(now); n++ {
		lanes = append(lanes, (*d)[n].lane)
	}
	*d = slices.Delete(*d, 0, n)
	if len(*d) == 0 {
		*d = nil
	}
	return lanes
}
