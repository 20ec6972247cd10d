package deliver

import "github.com/feedmill/feedmill"

// share divides the attempts that may be under way at once. An endpoint that is
// slow holds what it has taken for as long as it likes, so nobody may take the
// last of it: a workspace may have no more under way than is still free, and so
// finds room whatever the others do; and the nearer a workspace comes to that,
// the fewer each of its lanes may have, down to one.
type share struct {
	total   int
	running int
	of      map[feedmill.ID]*portion
	// starved are lanes of workspaces that have nothing under way because
	// nothing is free: any attempt that ends makes room for one.
	starved []*lane
}

// portion is what a workspace has under way, and its lanes that wait for some of
// it to end.
type portion struct {
	running int
	waiting []*lane
}

// laneShare is how many of a workspace's free attempts there must be for each
// that one lane has under way.
const laneShare = 32

// allows reports whether a lane may begin an attempt. A lane that may not because
// of others is remembered, and ready again when one of them ends.
func (s *share) allows(l *lane) bool {
	p := s.of[l.workspace] // nil where it has nothing under way
	room := s.total - s.running
	if p != nil {
		room -= p.running
	}
	if room > 0 && (l.running == 0 || l.running < room/laneShare) {
		return true
	}
	if l.crowded {
		return false
	}
	l.crowded = true
	if p == nil {
		s.starved = append(s.starved, l)
	} else {
		p.waiting = append(p.waiting, l)
	}
	return false
}

func (s *share) begin(l *lane) {
	p, ok := s.of[l.workspace]
	if !ok {
		p = new(portion)
		s.of[l.workspace] = p
	}
	l.running++
	s.running++
	p.running++
}

// end ends an attempt of a lane and answers the lanes that it makes room for.
func (s *share) end(l *lane) []*lane {
	l.running--
	s.running--
	p := s.of[l.workspace]
	p.running--
	ready := first(nil, &p.waiting)
	ready = first(ready, &s.starved)
	if p.running == 0 {
		// The last one to end takes all along that waited for it.
		for len(p.waiting) > 0 {
			ready = first(ready, &p.waiting)
		}
		delete(s.of, l.workspace)
	}
	return ready
}

// first moves the first lane of a line, where there is one, to those that are ready.
func first(ready []*lane, line *[]*lane) []*lane {
	if len(*line) == 0 {
		return ready
	}
	l := (*line)[0]
	(*line)[0] = nil
	*line = (*line)[1:]
	l.crowded = false
	return append(ready, l)
}
