package deliver

import (
	"maps"
	"slices"
	"testing"

	"github.com/feedmill/feedmill"
)

// checkInvariants holds a dispatcher that does nothing at the moment to what is
// true of it between any two things that happen.
func checkInvariants(t *testing.T, d *Dispatcher) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	inRing, inLine := make(map[*lane]int), make(map[*lane]int)
	for _, tenant := range d.ring.tenants {
		for _, l := range tenant.lanes {
			inRing[l]++
		}
		if tenant.current != nil {
			inRing[tenant.current]++
		}
	}
	for _, b := range []*budget{&d.attempts, &d.reads} {
		checkBudget(t, b)
		for _, p := range b.portions {
			for _, line := range p.waiting {
				for _, c := range line {
					inLine[c.(*claim).lane]++
				}
			}
		}
	}
	queued, expected, held, portions := 0, 0, 0, make(map[feedmill.ID]int)
	events := make(map[feedmill.ID]int)
	for _, l := range d.lanes {
		if want := count(l.state == ready); inRing[l] != want {
			t.Errorf("a lane in state %d stands %d times in the ring", l.state, inRing[l])
		}
		// A lane that waits becomes ready when something happens to it. It keeps its claim
		// until its turn, and so its place.
		if want := count(l.state == waiting); inLine[l] != want && !(l.state == ready && inLine[l] == 1) {
			t.Errorf("a lane in state %d stands %d times in a line", l.state, inLine[l])
		}
		held += l.attempt.held + l.read.held
		if l.state != ready && l.state != waiting && (l.attempt.isGranted() || l.read.isGranted()) {
			t.Errorf("a lane in state %d keeps a grant", l.state)
		}
		if owned := d.slots[l.slot]; owned == (l.state == lost) && !(l.awaited && d.leaving[l.slot]) {
			t.Errorf("a lane is in state %d, and its slot is ours: %v", l.state, owned)
		}
		waiting, first := slices.Clone(l.backlog.queue), make(map[feedmill.ID]bool)
		for _, s := range l.backlog.heads.series {
			waiting, first[s.first] = append(waiting, s.behind...), true
			if !l.backlog.has(s.first) {
				t.Errorf("%s is the first of a resource and not known", s.first)
			}
		}
		for _, q := range l.backlog.queue {
			if l.backlog.heads.on && !first[q.id] {
				t.Errorf("%s is queued and not the first of its resource", q.id)
			}
		}
		if len(waiting) != l.backlog.waiting {
			t.Errorf("%d deliveries of a lane wait, counted are %d", len(waiting), l.backlog.waiting)
		}
		queued += len(waiting)
		expected += count(l.backlog.reading)
		for _, q := range waiting {
			events[q.event.id]++
			portions[q.event.workspace] += q.size()
			if !l.backlog.has(q.id) {
				t.Errorf("%s waits and is not known", q.id)
			}
		}
		if underWay := len(l.backlog.known) - l.backlog.waiting; underWay < l.attempt.inUse() {
			t.Errorf("%d attempts of a lane are under way, of which %d are known", l.attempt.inUse(), underWay)
		}
	}
	lanesOf := make(map[feedmill.ID]int)
	for _, l := range d.lanes {
		lanesOf[l.workspace]++
	}
	if !maps.Equal(lanesOf, d.lanesOf) {
		t.Errorf("workspaces have the lanes %v, counted are %v", lanesOf, d.lanesOf)
	}
	if n := d.attempts.used.count + d.reads.used.count; n != held {
		t.Errorf("lanes hold %d grants, counted are %d", held, n)
	}
	if n := d.reads.used.count; n < expected {
		t.Errorf("%d lanes are being read, counted are %d", expected, n)
	}
	if queued != d.memory.queued || expected == 0 && d.memory.expected != 0 {
		t.Errorf("%d deliveries are queued and %d expected by %d lanes, %d of all lanes", d.memory.queued, d.memory.expected, expected, queued)
	}
	bytes, underWay := 0, d.attempts.used.count*attemptBytes
	for id, e := range d.memory.events {
		bytes += count(e.queued > 0) * e.size()
		underWay += count(e.inFlight > 0) * e.size()
		if events[id] != e.queued || e.queued == 0 && e.inFlight == 0 {
			t.Errorf("the event of %d deliveries is kept for %d, and %d under way", events[id], e.queued, e.inFlight)
		}
	}
	if bytes != d.memory.eventBytes || underWay != d.attempts.used.bytes {
		t.Errorf("events of %d bytes are kept and of %d under way, counted are %d and %d", bytes, underWay, d.memory.eventBytes, d.attempts.used.bytes)
	}
	for workspace, p := range d.memory.portions {
		if portions[workspace] != p.bytes || len(p.holders) == 0 {
			t.Errorf("a workspace has %d bytes queued in %d lanes, counted are %d", portions[workspace], len(p.holders), p.bytes)
		}
		delete(portions, workspace)
	}
	if len(portions) > 0 {
		t.Errorf("%d workspaces are not counted", len(portions))
	}
	if d.writes.outcomes < 0 || d.writes.underWay < 0 || d.writes.silent && d.writes.underWay == 0 {
		t.Errorf("what is written is counted wrong: %+v", d.writes)
	}
	if d.memory.isOver() {
		t.Errorf("%d deliveries of %d bytes wait", d.memory.queued, d.memory.bytes())
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
