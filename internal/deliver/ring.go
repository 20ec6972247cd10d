package deliver

import (
	"slices"

	"github.com/feedmill/feedmill"
)

// ring is the order in which lanes get their turn: workspaces take turns, and
// within a workspace its lanes do. A workspace with a thousand busy lanes gets
// no more turns than one with a single lane.
//
// A lane's turn is up to turnLength tasks. The store keeps the deliveries of a
// subscription together, and so outcomes of one cost less to write than as many
// of many.
type ring struct {
	tenants     []*tenant
	byWorkspace map[feedmill.ID]*tenant
}

// tenant is a workspace that has lanes in the ring.
type tenant struct {
	workspace feedmill.ID
	lanes     []*lane
	// current is the lane that goes on with its turn, nil where none does.
	current *lane
}

const turnLength = 8

func (r *ring) isEmpty() bool { return len(r.tenants) == 0 }

// push puts a lane that is not in the ring at the end of its workspace's line, or
// lets it go on with its turn.
func (r *ring) push(l *lane) {
	t, ok := r.byWorkspace[l.workspace]
	if !ok {
		if r.byWorkspace == nil {
			r.byWorkspace = make(map[feedmill.ID]*tenant)
		}
		t = &tenant{workspace: l.workspace}
		r.byWorkspace[l.workspace] = t
		r.tenants = append(r.tenants, t)
	}
	l.tenant = t
	if t.current == nil && l.turn > 0 && l.turn < turnLength {
		t.current = l
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
	l := t.current
	if l != nil {
		t.current = nil
	} else {
		l = t.lanes[0]
		t.lanes[0] = nil
		t.lanes = t.lanes[1:]
	}
	l.turn++
	if len(t.lanes) > 0 {
		r.tenants = append(r.tenants, t)
	} else {
		delete(r.byWorkspace, t.workspace)
	}
	return l
}

// remove takes a lane out of the ring before its turn.
func (r *ring) remove(l *lane) {
	t := l.tenant
	if t.current == l {
		t.current = nil
	} else {
		t.lanes = slices.DeleteFunc(t.lanes, func(other *lane) bool { return other == l })
	}
	if t.current == nil && len(t.lanes) == 0 {
		delete(r.byWorkspace, t.workspace)
		r.tenants = slices.DeleteFunc(r.tenants, func(other *tenant) bool { return other == t })
	}
}
