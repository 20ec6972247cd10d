package deliver

import (
	"container/list"
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
	lines, running := []*list.List{&d.share.starved.waiting}, 0
	for _, p := range d.share.portions {
		lines = append(lines, &p.waiting)
		running += p.running
	}
	lines = slices.AppendSeq(lines, maps.Values(d.reads.waiting))
	for _, line := range lines {
		for place := line.Front(); place != nil; place = place.Next() {
			inLine[place.Value.(*lane)]++
		}
	}
	if running != d.share.running {
		t.Errorf("%d attempts are under way, and %d of all workspaces", d.share.running, running)
	}
	for place := d.memory.hungry.Front(); place != nil; place = place.Next() {
		inLine[place.Value.(*lane)]++
	}
	queued, expected, portions := 0, 0, make(map[feedmill.ID]int)
	events := make(map[feedmill.ID]int)
	for _, l := range d.lanes {
		if want := count(l.state == ready); inRing[l] != want {
			t.Errorf("a lane in state %d stands %d times in the ring", l.state, inRing[l])
		}
		if want := count(l.state == crowded || l.state == hungry || l.state == unfed); inLine[l] != want {
			t.Errorf("a lane in state %d stands %d times in a line", l.state, inLine[l])
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
		if underWay := len(l.backlog.known) - l.backlog.waiting; underWay < l.running {
			t.Errorf("%d attempts of a lane are under way, of which %d are known", l.running, underWay)
		}
	}
	lanesOf := make(map[feedmill.ID]int)
	for _, l := range d.lanes {
		lanesOf[l.workspace]++
	}
	if !maps.Equal(lanesOf, d.lanesOf) {
		t.Errorf("workspaces have the lanes %v, counted are %v", lanesOf, d.lanesOf)
	}
	if d.reads.running != expected {
		t.Errorf("%d lanes are being read, counted are %d", expected, d.reads.running)
	}
	if queued != d.memory.queued || expected == 0 && d.memory.expected != 0 {
		t.Errorf("%d deliveries are queued and %d expected by %d lanes, %d of all lanes", d.memory.queued, d.memory.expected, expected, queued)
	}
	bytes, underWay := 0, d.share.running*attemptBytes
	for id, e := range d.memory.events {
		bytes += count(e.queued > 0) * e.size()
		underWay += count(e.underWay > 0) * e.size()
		if events[id] != e.queued || e.queued == 0 && e.underWay == 0 {
			t.Errorf("the event of %d deliveries is kept for %d, and %d under way", events[id], e.queued, e.underWay)
		}
	}
	if bytes != d.memory.eventBytes || underWay != d.share.bytes {
		t.Errorf("events of %d bytes are kept and of %d under way, counted are %d and %d", bytes, underWay, d.memory.eventBytes, d.share.bytes)
	}
	for workspace, p := range d.memory.portions {
		if portions[workspace] != p.bytes || len(p.holders) == 0 {
			t.Errorf("a workspace has %d bytes queued in %d lanes, counted are %d", portions[workspace], len(p.holders), p.bytes)
		}
		delete(portions, workspace)
	}
	if len(portions) > 0 || d.memory.singles != 0 && expected == 0 {
		t.Errorf("%d workspaces are not counted, and %d lanes read past the bound", len(portions), d.memory.singles)
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
