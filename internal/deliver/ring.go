package deliver

import "github.com/feedmill/feedmill"

// ring is the order in which lanes get their turn: workspaces take turns, and
// within a workspace its lanes do. A workspace with a thousand busy lanes gets
// no more turns than one with a single lane.
//
// A lane's turn is up to turnLength tasks. The store keeps the deliveries of a
// subscription together, and so outcomes of one cost less to write than as many
// of many.
type ring struct {
	tenants []*tenant
	of      map[feedmill.ID]*tenant
}

type tenant struct {
	workspace feedmill.ID
	lanes     []*lane
	// turn is the lane that goes on with its turn, nil where none does.
	turn *lane
}

const turnLength = 8

// push puts a lane at the end of its workspace's line, or lets it go on with its
// turn.
func (r *ring) push(l *lane) {
	if l.inRing {
		return
	}
	l.inRing = true
	t, ok := r.of[l.workspace]
	if !ok {
		if r.of == nil {
			r.of = make(map[feedmill.ID]*tenant)
		}
		t = &tenant{workspace: l.workspace}
		r.of[l.workspace] = t
		r.tenants = append(r.tenants, t)
	}
	if t.turn == nil && l.turn > 0 && l.turn < turnLength {
		t.turn = l
		return
	}
	l.turn = 0
	t.lanes = append(t.lanes, l)
}

// pop takes the lane whose turn it is, nil where there is none, and puts its
// workspace at the end of the line.
func (r *ring) pop() *lane {
	if len(r.tenants) == 0 {
		return nil
	}
	t := r.tenants[0]
	r.tenants[0] = nil
	r.tenants = r.tenants[1:]
	l := t.turn
	if l != nil {
		t.turn = nil
	} else {
		l = t.lanes[0]
		t.lanes[0] = nil
		t.lanes = t.lanes[1:]
	}
	l.turn++
	l.inRing = false
	if len(t.lanes) > 0 {
		r.tenants = append(r.tenants, t)
	} else {
		delete(r.of, t.workspace)
	}
	return l
}

// makeReady gives a lane with something to do a place in the ring, if its slot
// is ours.
func (d *Dispatcher) makeReady(l *lane) {
	if d.disowned(l) {
		return
	}
	if l.recheck && len(l.known) == 0 {
		l.recheck, l.more, l.from, l.late = false, true, "", ""
	}
	if !l.held && !l.waiting && (len(l.queue) > 0 || l.more && !l.busy) {
		d.ring.push(l)
	}
}

// disowned reports whether a lane's slot belongs to another replica, and then
// lets go of what waits in it. Whatever makes a lane ready passes here, so that
// nothing is sent for a slot that was lost.
func (d *Dispatcher) disowned(l *lane) bool {
	if d.slots.has(l.id) {
		return false
	}
	d.dropQueue(l)
	l.more = false
	return true
}
