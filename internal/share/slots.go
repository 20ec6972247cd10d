// Package share divides what there is little of between many, so that nobody's
// work takes the last of it from the others: [Slots] are places to work in, and
// a [Budget] is bytes.
//
// It is a leaf. Every package may import it, and it imports nothing of ours.
package share

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrCrowded says that somebody has so much waiting already that no more of it
// may wait.
var ErrCrowded = errors.New("too many requests are already waiting")

// Slots are places of which each holder may have a few at a time. Those who wait
// for one take turns: whoever has much to do waits behind himself and not in
// front of others.
type Slots struct {
	each, mostWaiting int

	mu          sync.Mutex
	total, free int
	held        map[string]int
	// queues are those who wait, by holder, and turns the holders that have
	// any, the next one first.
	queues map[string][]waiting
	turns  []string
}

// waiting is somebody who waits for places until turn is closed.
type waiting struct {
	turn   chan struct{}
	places int
}

// NewSlots makes n places. One holder may have so many of them, but never all
// where there are several, and so many more may wait for one.
func NewSlots(n, each, mostWaiting int) *Slots {
	if n > 1 {
		each = min(each, n-1)
	}
	return &Slots{each: max(each, 1), mostWaiting: mostWaiting, total: n, free: n, held: make(map[string]int), queues: make(map[string][]waiting)}
}

// Take waits for a place for the holder of ctx, which must be given back. It fails
// with [ErrCrowded] where too many of the holder's wait, unless they do so in the
// background, and with the cause of ctx when that ends.
func (s *Slots) Take(ctx context.Context) (giveBack func(), err error) { return s.TakeSome(ctx, 1) }

// TakeSome is Take for several places at once, or for as many as a holder may have
// where that is less. Those who want few do not overtake those who want many.
func (s *Slots) TakeSome(ctx context.Context, places int) (giveBack func(), err error) {
	holder := Holder(ctx)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	places = min(places, s.each)
	s.mu.Lock()
	if s.occupy(holder, places) {
		s.mu.Unlock()
		return s.giving(holder, places), nil
	}
	if len(s.queues[holder]) >= s.mostWaiting && !Background(ctx) {
		s.mu.Unlock()
		return nil, ErrCrowded
	}
	turn := make(chan struct{})
	if len(s.queues[holder]) == 0 {
		s.turns = append(s.turns, holder)
	}
	s.queues[holder] = append(s.queues[holder], waiting{turn, places})
	s.mu.Unlock()
	select {
	case <-turn:
		return s.giving(holder, places), nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaveQueue(holder, turn) {
		s.admit() // others may have waited behind it
	} else {
		s.give(holder, places) // the turn came at the same time
	}
	return nil, context.Cause(ctx)
}

// Try takes a place where one is free for the holder of ctx.
func (s *Slots) Try(ctx context.Context) (giveBack func(), ok bool) {
	holder := Holder(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.occupy(holder, 1) {
		return nil, false
	}
	return s.giving(holder, 1), true
}

// TryWithin is Try for a holder that may have only so many places.
func (s *Slots) TryWithin(ctx context.Context, most int) (giveBack func(), ok bool) {
	holder := Holder(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[holder] >= most || !s.occupy(holder, 1) {
		return nil, false
	}
	return s.giving(holder, 1), true
}

// Used is how many places are taken.
func (s *Slots) Used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total - s.free
}

// Held is how many places the holder has or waits for.
func (s *Slots) Held(holder string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[holder] + len(s.queues[holder])
}

func (s *Slots) giving(holder string, places int) func() {
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.give(holder, places)
	})
}

// occupy takes places for a holder, where they are free, the holder may have them
// and nobody waits for them.
func (s *Slots) occupy(holder string, places int) bool {
	if s.free < places || s.held[holder]+places > s.each || len(s.queues[holder]) > 0 || slices.ContainsFunc(s.turns, s.maySoon) {
		return false
	}
	s.hold(holder, places)
	return true
}

// maySoon reports whether a holder waits for nothing but places that others have.
func (s *Slots) maySoon(holder string) bool {
	return s.held[holder]+s.queues[holder][0].places <= s.each
}

func (s *Slots) hold(holder string, places int) {
	s.free -= places
	s.held[holder] += places
}

// give takes places back.
func (s *Slots) give(holder string, places int) {
	s.free += places
	if s.held[holder] -= places; s.held[holder] == 0 {
		delete(s.held, holder)
	}
	s.admit()
}

// admit gives what is free to those who wait, up to one for whom it is too little.
func (s *Slots) admit() {
	for i := 0; i < len(s.turns); {
		next := s.turns[i]
		if !s.maySoon(next) {
			i++
			continue
		}
		queue := s.queues[next]
		if queue[0].places > s.free {
			return
		}
		s.hold(next, queue[0].places)
		close(queue[0].turn)
		s.turns = slices.Delete(s.turns, i, i+1)
		if len(queue) > 1 {
			s.queues[next] = queue[1:]
			s.turns = append(s.turns, next)
		} else {
			delete(s.queues, next)
		}
	}
}

// leaveQueue takes somebody out of the queue, and reports false where he is not in
// it any more.
func (s *Slots) leaveQueue(holder string, turn chan struct{}) bool {
	queue := s.queues[holder]
	at := slices.IndexFunc(queue, func(w waiting) bool { return w.turn == turn })
	if at < 0 {
		return false
	}
	if len(queue) == 1 {
		delete(s.queues, holder)
		s.turns = slices.DeleteFunc(s.turns, func(name string) bool { return name == holder })
		return true
	}
	s.queues[holder] = slices.Delete(slices.Clone(queue), at, at+1)
	return true
}
