package deliver

import (
	"container/list"

	"github.com/feedmill/feedmill"
)

// share divides the attempts that may be under way at once. An endpoint that is
// slow holds what it has taken for as long as it likes, so nobody may take the
// last of it: a workspace may have no more under way than is still free, and so
// finds room whatever the others do; and the nearer a workspace comes to that,
// the fewer each of its lanes may have, down to one. The last of it is for lanes
// whose endpoint answers well: thousands that do not would hold it for their whole
// timeout, one attempt each.
//
// What attempts take of memory for as long as an endpoint likes is divided in the same
// way: their payloads, each counted once however many it is sent to, and what an attempt takes itself.
type share struct {
	total, running  int
	maxBytes, bytes int
	// portions are those of workspaces that have attempts under way.
	portions map[feedmill.ID]*portion
	// starved has the lanes in line of all workspaces that have nothing under way because
	// nothing is free: any attempt that ends makes room for one.
	starved portion
}

// portion is what a workspace has under way, and its lanes that wait for some of
// it to end.
type portion struct {
	running int
	bytes   int
	waiting list.List
}

// maxUnderWayBytes bounds what the attempts under way take, their payloads included.
const maxUnderWayBytes = 64 << 20

// attemptBytes is about how much an attempt takes besides its payload while it waits
// for the endpoint: the stack of its goroutine and its connection.
const attemptBytes = 20 << 10

// laneShare is how many of a workspace's free attempts there must be for each
// that one lane has under way.
const laneShare = 32

// answeringShare is the part of what is free, one in so many, that a workspace leaves
// to its lanes whose endpoint answers well. Those whose endpoint does not leave as much again to
// those of which nothing is known yet.
const answeringShare = 4

// allows reports whether a lane may begin an attempt with a payload of so many
// bytes.
func (s *share) allows(l *lane, bytes int) bool {
	room, roomBytes := s.total-s.running, s.maxBytes-s.bytes
	left := 1
	switch {
	case l.pace.answersWell:
		left = 0
	case l.pace.answersBadly:
		left = 2
	}
	room -= left * (room / answeringShare)
	roomBytes -= left * (roomBytes / answeringShare)
	if p := s.portions[l.workspace]; p != nil {
		room -= p.running
		roomBytes -= p.bytes
	}
	return room > 0 && roomBytes >= attemptBytes+bytes && (l.running == 0 || l.running < room/laneShare)
}

// lineFor is the line of those that wait for the same as a lane that may not
// begin an attempt.
func (s *share) lineFor(l *lane) *list.List {
	if p := s.portions[l.workspace]; p != nil {
		return &p.waiting
	}
	return &s.starved.waiting
}

func (s *share) begin(l *lane, e *event) {
	p, ok := s.portions[l.workspace]
	if !ok {
		p = new(portion)
		s.portions[l.workspace] = p
	}
	l.running++
	s.running++
	p.running++
	s.bytes += attemptBytes
	p.bytes += attemptBytes
	if e.underWay++; e.underWay == 1 {
		s.bytes += e.size()
		p.bytes += e.size()
	}
}

// end ends an attempt of a lane and returns the lanes that it makes room for.
// They stay in line until they leave it.
func (s *share) end(l *lane, e *event) (next []*lane) {
	l.running--
	s.running--
	p := s.portions[l.workspace]
	p.running--
	s.bytes -= attemptBytes
	p.bytes -= attemptBytes
	if e.underWay--; e.underWay == 0 {
		s.bytes -= e.size()
		p.bytes -= e.size()
	}
	// The last one to end takes all along that waited for it.
	next = s.call(next, p, p.running == 0)
	next = s.call(next, &s.starved, s.running == 0)
	if p.running == 0 {
		delete(s.portions, l.workspace)
	}
	return s.callOther(next, p)
}

const (
	// maxLooked is how many lanes of a line are looked at for one that may begin now,
	// and maxLookedLines the lines of how many other workspaces.
	maxLooked      = 16
	maxLookedLines = 8
)

// call adds a lane of a line to those that are called: one that may begin now, or else
// the first, which then goes to the end; or all of them.
func (s *share) call(next []*lane, p *portion, all bool) []*lane {
	if all {
		for place := p.waiting.Front(); place != nil; place = place.Next() {
			next = append(next, place.Value.(*lane))
		}
		return next
	}
	l := s.firstAllowed(p)
	if l == nil && p.waiting.Len() > 0 {
		l = p.waiting.Front().Value.(*lane)
	}
	if l == nil {
		return next
	}
	return append(next, l)
}

// callOther adds a lane of some workspace but the one whose attempt has ended, if one
// may begin now: all that a workspace has under way may hang, while there is room.
func (s *share) callOther(next []*lane, but *portion) []*lane {
	looked := 0
	for _, p := range s.portions {
		if p == but {
			continue
		}
		if l := s.firstAllowed(p); l != nil {
			return append(next, l)
		}
		if looked++; looked == maxLookedLines {
			break
		}
	}
	return next
}

// beside is a lane of the same workspace that waits and may begin as well, nil where
// there is none: what ends may leave room for several.
func (s *share) beside(l *lane) *lane { return s.firstAllowed(s.portions[l.workspace]) }

// firstAllowed is the first of a line that may begin now, nil where none of a few may.
func (s *share) firstAllowed(p *portion) *lane {
	if s.isFull(p) {
		return nil
	}
	place := p.waiting.Front()
	for range min(p.waiting.Len(), maxLooked) {
		if l := place.Value.(*lane); s.allows(l, l.wants()) {
			return l
		}
		place = place.Next()
	}
	return nil
}

// isFull reports whether nothing may begin for a workspace, whatever it is.
func (s *share) isFull(p *portion) bool {
	return s.total-s.running-p.running <= 0 || s.maxBytes-s.bytes-p.bytes < attemptBytes
}
