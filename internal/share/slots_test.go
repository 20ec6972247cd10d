package share_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/feedmill/feedmill/internal/share"
)

func TestOneHolderNeverHasAllPlaces(t *testing.T) {
	s := share.NewSlots(3, 9, 0)
	for range 2 {
		if _, ok := s.Try(share.For(t.Context(), "a")); !ok {
			t.Fatal("a gets no place although there are free ones")
		}
	}
	if _, ok := s.Try(share.For(t.Context(), "a")); ok {
		t.Error("a has all places")
	}
	if _, err := s.Take(share.For(t.Context(), "a")); !errors.Is(err, share.ErrCrowded) {
		t.Errorf("one more of a's waits: %v", err)
	}
	ctx, cancel := context.WithCancel(share.InBackground(t.Context(), "a"))
	cancel()
	if _, err := s.Take(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("what is done in the background does not wait: %v", err)
	}
	if _, ok := s.Try(share.For(t.Context(), "b")); !ok {
		t.Error("the last place is not free for b")
	}
}

func TestHoldersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := share.NewSlots(1, 1, 10)
		give, _ := s.Try(share.For(t.Context(), "z"))
		var mu sync.Mutex
		var order string
		wait := func(holder string) {
			go func() {
				give, err := s.Take(share.For(t.Context(), holder))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order += holder
				mu.Unlock()
				give()
				give() // a second time changes nothing
			}()
			synctest.Wait()
		}
		for _, holder := range []string{"a", "a", "a", "b", "c", "b"} {
			wait(holder)
		}
		give()
		synctest.Wait()
		if order != "abcaba" {
			t.Errorf("the order is %s", order)
		}
		if _, ok := s.Try(share.For(t.Context(), "d")); !ok {
			t.Error("the place was lost")
		}
	})
}

func TestWhoeverLeavesLosesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := share.NewSlots(2, 1, 2)
		give, _ := s.Try(share.For(t.Context(), "a"))
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			go func() {
				if _, err := s.Take(share.For(ctx, "a")); !errors.Is(err, context.Canceled) {
					t.Errorf("left with %v", err)
				}
			}()
		}
		synctest.Wait()
		if n := s.Held("a"); n != 3 {
			t.Errorf("a has and waits for %d places", n)
		}
		cancel()
		synctest.Wait()
		give()
		if n := s.Held("a"); n != 0 {
			t.Errorf("a still has or waits for %d places", n)
		}
		if _, err := s.Take(share.For(t.Context(), "a")); err != nil {
			t.Error(err)
		}
	})
}

func TestPlacesUnderLoad(t *testing.T) {
	s := share.NewSlots(3, 2, 100)
	var mu sync.Mutex
	held := make(map[string]int)
	total := 0
	var group sync.WaitGroup
	for _, holder := range []string{"a", "b", "c"} {
		for range 20 {
			group.Go(func() {
				for range 50 {
					give, err := s.Take(share.For(context.Background(), holder))
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					held[holder]++
					total++
					if held[holder] > 2 || total > 3 {
						t.Errorf("%s has %d of %d places", holder, held[holder], total)
					}
					mu.Unlock()
					mu.Lock()
					held[holder]--
					total--
					mu.Unlock()
					give()
				}
			})
		}
	}
	group.Wait()
}

func TestBudget(t *testing.T) {
	b := share.NewBudget(10, 6)
	if !b.Take("a", 6) || b.Take("a", 1) {
		t.Error("a has more or less than its share")
	}
	if !b.Take("b", 4) || b.Take("b", 1) {
		t.Error("b has more than there is")
	}
	b.Give("a", 6)
	if b.Used() != 4 || !b.Take("b", 2) {
		t.Errorf("%d bytes are used", b.Used())
	}
}

// Whoever wants many places gets them although others come who want few.
func TestManyPlacesAreNotOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := share.NewSlots(10, 6, 10)
		first, _ := s.TakeSome(share.For(t.Context(), "a"), 5)
		var mu sync.Mutex
		var order string
		var given []func()
		wait := func(ctx context.Context, holder string, places int) {
			go func() {
				give, err := s.TakeSome(share.For(ctx, holder), places)
				if err != nil {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				order += holder
				given = append(given, give)
			}()
			synctest.Wait()
		}
		wait(t.Context(), "b", 100) // as many as it may have, which are 6
		wait(t.Context(), "c", 5)
		wait(t.Context(), "a", 1)
		if order != "" || s.Used() != 5 {
			t.Errorf("%q came before b, %d places are taken", order, s.Used())
		}
		first()
		synctest.Wait()
		if order != "b" || s.Used() != 6 {
			t.Errorf("%q have places, %d are taken: c waits for more than is free", order, s.Used())
		}
		given[0]()
		synctest.Wait()
		if s.Used() != 6 { // c and a at once, in any order
			t.Errorf("%q have places, %d are taken", order, s.Used())
		}
		order = ""
		ctx, leave := context.WithCancel(t.Context())
		wait(ctx, "d", 6)
		wait(t.Context(), "e", 1)
		if order != "" {
			t.Errorf("%q: d is overtaken", order)
		}
		leave()
		synctest.Wait()
		if order != "e" || s.Used() != 7 {
			t.Errorf("%q have places, %d are taken after d has left", order, s.Used())
		}
	})
}
