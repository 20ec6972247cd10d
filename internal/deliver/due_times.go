package deliver

import (
	"cmp"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// dueTimes are moments at which something of lanes comes due in the store, the earliest
// first. Beyond a number they are not noted: what comes due then is found by the
// poll that looks in any case.
type dueTimes []dueTime

type dueTime struct {
	at   time.Time
	lane feedmill.ID
}

const (
	// dueStep is how finely times are told apart. They are rounded up, so that
	// what was due before is due then.
	dueStep = 10 * time.Millisecond
	// maxDueLanes is how many are noted for all lanes, and maxLaneRetries those of
	// one.
	maxDueLanes    = 1024
	maxLaneRetries = 64
)

// add notes a time of a lane, at most so many, and reports whether it is the earliest.
func (d *dueTimes) add(t time.Time, lane feedmill.ID, most int) (first bool) {
	next := dueTime{t.Add(dueStep - 1).Truncate(dueStep), lane}
	i, found := slices.BinarySearchFunc(*d, next, func(a, b dueTime) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.lane, b.lane))
	})
	if !found && i < most {
		*d = slices.Insert((*d)[:min(len(*d), most-1)], i, next)
	}
	return i == 0 && !found
}

// pass takes out the times that have come, and returns their lanes.
func (d *dueTimes) pass(now time.Time) (lanes []feedmill.ID) {
	for d.hasCome(now) {
		lanes = append(lanes, (*d)[0].lane)
		*d = (*d)[1:]
	}
	if len(*d) == 0 {
		*d = nil
	}
	return lanes
}

// hasCome reports whether a time has.
func (d dueTimes) hasCome(now time.Time) bool { return len(d) > 0 && !d[0].at.After(now) }
