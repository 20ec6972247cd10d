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
var ErrCrowded = errors.New("too much waits for its turn already")

// Slots are places of which each holder may have a few at a time. Those who wait
// for one take turns: whoever has much to do waits behind himself and not in
// front of others.
type Slots struct {
	each, waiting int

	mu   sync.Mutex
	free int
	held map[string]int
	// queues are those who wait, by holder, and turns the holders that have
	// any, the next one first.
	queues map[string][]chan struct{}
	turns  []string
}

// NewSlots makes n places. One holder may have so many of them, but never all
// where there are several, and so many more may wait for one.
func NewSlots(n, each, waiting int) *Slots {
	if n > 1 {
		each = min(each, n-1)
	}
	return &Slots{each: max(each, 1), waiting: waiting, free: n, held: make(map[string]int), queues: make(map[string][]chan struct{})}
}

// Take waits for a place for the holder of ctx, which must be given back. It fails
// with [ErrCrowded] where too many of the holder's wait, unless they do so in the
// background, and with the cause of ctx when that ends.
func (s *Slots) Take(ctx context.Context) (giveBack func(), err error) {
	holder := Holder(ctx)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.occupy(holder) {
		s.mu.Unlock()
		return s.giving(holder), nil
	}
	if len(s.queues[holder]) >= s.waiting && !Background(ctx) {
		s.mu.Unlock()
		return nil, ErrCrowded
	}
	turn := make(chan struct{})
	if len(s.queues[holder]) == 0 {
		s.turns = append(s.turns, holder)
	}
	s.queues[holder] = append(s.queues[holder], turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return s.giving(holder), nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leaveQueue(holder, turn) {
		// The turn came at the same time.
		s.give(holder)
	}
	return nil, context.Cause(ctx)
}

// Try takes a place where one is free for the holder of ctx.
func (s *Slots) Try(ctx context.Context) (giveBack func(), ok bool) {
	holder := Holder(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.occupy(holder) {
		return nil, false
	}
	return s.giving(holder), true
}

// Held is how many places the holder has or waits for.
func (s *Slots) Held(holder string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[holder] + len(s.queues[holder])
}

func (s *Slots) giving(holder string) func() {
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.give(holder)
	})
}

// occupy takes a place for a holder, where one is free and the holder may have it.
func (s *Slots) occupy(holder string) bool {
	if s.free == 0 || s.held[holder] >= s.each {
		return false
	}
	s.free--
	s.held[holder]++
	return true
}

// give takes a place back, and gives it to the next who may have one.
func (s *Slots) give(holder string) {
	s.free++
	if s.held[holder]--; s.held[holder] == 0 {
		delete(s.held, holder)
	}
	for i := 0; i < len(s.turns); i++ {
		next := s.turns[i]
		if !s.occupy(next) {
			continue
		}
		queue := s.queues[next]
		close(queue[0])
		s.turns = slices.Delete(s.turns, i, i+1)
		if len(queue) > 1 {
			s.queues[next] = queue[1:]
			s.turns = append(s.turns, next)
		} else {
			delete(s.queues, next)
		}
		return
	}
}

// leaveQueue takes somebody out of the queue, and reports false where he is not in
// it any more.
func (s *Slots) leaveQueue(holder string, turn chan struct{}) bool {
	queue := s.queues[holder]
	at := slices.Index(queue, turn)
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
