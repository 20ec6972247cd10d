package storetest

import (
	"context"
	"slices"
	"testing"
	"time"
)

// Slots are divided among the replicas.
type Slots interface {
	// LeaseSlots renews the slots that a replica holds, for ttl, takes others
	// up to its fair share of the replicas that are alive, and returns all of
	// them and that share. What it holds beyond it is to be given back.
	// A store that has one process at a time gives it all of them.
	LeaseSlots(ctx context.Context, replica string, ttl time.Duration) (held []int, share int, err error)
	// LeaveReplicas takes a replica out of those that have a share, so that the
	// others may have what it gives back. What it holds still stays its own.
	LeaveReplicas(ctx context.Context, replica string) error
	// ReleaseSlots gives slots back; nil means all that the replica holds, and
	// that it goes away.
	ReleaseSlots(ctx context.Context, replica string, slots []int) error
}

// lease leases slots as a replica does: what is beyond its share it gives back.
func lease(t *testing.T, s Store, replica string) []int {
	t.Helper()
	got, share, err := s.LeaseSlots(t.Context(), replica, time.Hour)
	must(t, err)
	slices.Sort(got)
	if len(got) > share {
		must(t, s.ReleaseSlots(t.Context(), replica, got[share:]))
		got = got[:share]
	}
	return got
}

var slotCases = []testCase{
	{name: "a lone replica holds all of them, again and again", run: func(t *testing.T, open func(*testing.T) Store) {
		s := open(t)
		for range 3 {
			equal(t, "held", allSlots(), lease(t, s, "a"))
		}
		must(t, s.ReleaseSlots(t.Context(), "a", nil))
		equal(t, "held", allSlots(), lease(t, s, "a"))
	}},
	{name: "a slot has one owner at a time, and replicas come to fair shares", shared: true, run: func(t *testing.T, open func(*testing.T) Store) {
		replicas := []string{"a", "b", "c"}
		handles, held := make(map[string]Store), make(map[string][]int)
		for _, r := range replicas {
			handles[r] = open(t)
		}
		for range 6 {
			for _, r := range replicas {
				held[r] = lease(t, handles[r], r)
				owner := make(map[int]string)
				for _, r := range replicas {
					for _, slot := range held[r] {
						if other, ok := owner[slot]; ok {
							t.Fatalf("slot %d is held by %s and %s", slot, other, r)
						}
						owner[slot] = r
					}
				}
			}
		}
		var all []int
		for _, r := range replicas {
			if n := len(held[r]); n < 85 || n > 86 {
				t.Errorf("%s holds %d slots, want a third", r, n)
			}
			all = append(all, held[r]...)
		}
		slices.Sort(all)
		equal(t, "held by all", allSlots(), all)
	}},
	{name: "who leaves gives back one by one", shared: true, run: func(t *testing.T, open func(*testing.T) Store) {
		a, b := open(t), open(t)
		for range 3 {
			lease(t, a, "a")
			lease(t, b, "b")
		}
		left, own := lease(t, a, "a"), len(lease(t, b, "b"))
		if len(left)+own != len(allSlots()) || own != len(left) {
			t.Fatalf("they have %d and %d", len(left), own)
		}
		must(t, a.LeaveReplicas(t.Context(), "a"))
		equal(t, "before it gives back any", own, len(lease(t, b, "b")))
		must(t, a.ReleaseSlots(t.Context(), "a", left[:10]))
		equal(t, "after ten", own+10, len(lease(t, b, "b")))
		must(t, a.ReleaseSlots(t.Context(), "a", nil))
		equal(t, "in the end", allSlots(), lease(t, b, "b"))
	}},
	{name: "what a replica leaves behind is taken over", shared: true, run: func(t *testing.T, open func(*testing.T) Store) {
		a, b := open(t), open(t)
		// This lease has ended by the time it is given.
		_, _, err := a.LeaseSlots(t.Context(), "a", -time.Second)
		must(t, err)
		equal(t, "after a death", allSlots(), lease(t, b, "b"))
		must(t, b.ReleaseSlots(t.Context(), "b", nil))
		equal(t, "after a goodbye", allSlots(), lease(t, a, "c"))
	}},
}
