package deliver

import (
	"container/list"

	"github.com/feedmill/feedmill"
)

// share divides the attempts that may be under way at once. An endpoint that is
// slow holds what it has taken for as long as it likes, so nobody may take the
// last of it: a workspace may have no more under way than is still free, and so
// finds room whatever the others do; and the nearer a workspace comes to that,
// the fewer each of its lanes may have, down to one.
type share struct {
	total   int
	running int
	// portions are those of workspaces that have attempts under way.
	portions map[feedmill.ID]*portion
	// starved are lanes of workspaces that have nothing under way because
	// nothing is free: any attempt that ends makes room for one.
	starved list.List
}

// portion is what a workspace has under way, and its lanes that wait for some of
// it to end.
type portion struct {
	running int
	waiting list.List
}

// laneShare is how many of a workspace's free attempts there must be for each
// that one lane has under way.
const laneShare = 32

// allows reports whether a lane may begin an attempt.
func (s *share) allows(l *lane) bool {
	room := s.total - s.running
	if p := s.portions[l.workspace]; p != nil {
		room -= p.running
	}
	return room > 0 && (l.running == 0 || l.running < room/laneShare)
}

// joinLine puts a lane that may not begin an attempt into the line of those that
// wait for the same as it.
func (s *share) joinLine(l *lane) {
	l.line = &s.starved
	if p := s.portions[l.workspace]; p != nil {
		l.line = &p.waiting
	}
	l.place = l.line.PushBack(l)
}

func (s *share) leaveLine(l *lane) {
	l.line.Remove(l.place)
	l.line, l.place = nil, nil
}

func (s *share) begin(l *lane) {
	p, ok := s.portions[l.workspace]
	if !ok {
		p = new(portion)
		s.portions[l.workspace] = p
	}
	l.running++
	s.running++
	p.running++
}

// end ends an attempt of a lane and returns the lanes that it makes room for.
// They stay in line until they leave it.
func (s *share) end(l *lane) (next []*lane) {
	l.running--
	s.running--
	p := s.portions[l.workspace]
	p.running--
	for place := p.waiting.Front(); place != nil; place = place.Next() {
		next = append(next, place.Value.(*lane))
		if p.running > 0 {
			break // else the last one to end takes all along that waited for it
		}
	}
	if place := s.starved.Front(); place != nil {
		next = append(next, place.Value.(*lane))
	}
	if p.running == 0 {
		delete(s.portions, l.workspace)
	}
	return next
}
