package postgres

import (
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/pgtest"
)

func TestASlotIsHandedOverOnlyOnceItsOwnerHasStopped(t *testing.T) {
	db := open(t, pgtest.New(t))
	lease := func(replica string, want, wantShare int) []int {
		t.Helper()
		held, share, err := db.LeaseSlots(t.Context(), replica, time.Hour)
		if err != nil || len(held) != want || share != wantShare {
			t.Fatalf("%s holds %d slots and may have %d (%v), want %d and %d", replica, len(held), share, err, want, wantShare)
		}
		slices.Sort(held)
		return held
	}
	const half = feedmill.Slots / 2
	lease("a", feedmill.Slots, feedmill.Slots)
	lease("b", 0, half)
	all := lease("a", feedmill.Slots, half)
	lease("b", 0, half)
	if err := db.ReleaseSlots(t.Context(), "a", all[:10]); err != nil {
		t.Fatal(err)
	}
	lease("b", 10, half)
	// What is not one's own cannot be given back.
	if err := db.ReleaseSlots(t.Context(), "a", all[:half]); err != nil {
		t.Fatal(err)
	}
	if taken := lease("b", half, half); !slices.Equal(taken, all[:half]) {
		t.Errorf("b holds %v, want %v", taken, all[:half])
	}
}

// Somebody who locks the row of a slot has no power over the others.
func TestASlotThatIsLocked(t *testing.T) {
	db := open(t, pgtest.New(t))
	lock, err := db.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), `SELECT slot FROM slots WHERE slot = 7 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{feedmill.Slots - 1, feedmill.Slots} {
		for range 2 {
			held, _, err := db.LeaseSlots(t.Context(), "a", time.Hour)
			if err != nil || len(held) != want {
				t.Errorf("%d slots are held (%v), want %d", len(held), err, want)
			}
		}
		if err := lock.Rollback(t.Context()); err != nil && want < feedmill.Slots {
			t.Fatal(err)
		}
	}
}
