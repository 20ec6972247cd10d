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
	lease := func(replica string, want int) []int {
		t.Helper()
		held, err := db.LeaseSlots(t.Context(), replica, time.Hour)
		if err != nil || len(held) != want {
			t.Fatalf("%s holds %d slots (%v), want %d", replica, len(held), err, want)
		}
		return held
	}
	all := lease("a", feedmill.Slots)
	lease("b", 0)
	kept := lease("a", feedmill.Slots/2)
	lost := slices.DeleteFunc(all, func(slot int) bool { return slices.Contains(kept, slot) })
	lease("b", 0)
	lease("a", feedmill.Slots/2)
	if err := db.ReleaseSlots(t.Context(), "a", lost[:10]); err != nil {
		t.Fatal(err)
	}
	lease("b", 10)
	// What is not one's own cannot be given back.
	if err := db.ReleaseSlots(t.Context(), "a", lost); err != nil {
		t.Fatal(err)
	}
	taken := lease("b", feedmill.Slots/2)
	slices.Sort(taken)
	slices.Sort(lost)
	if !slices.Equal(taken, lost) {
		t.Errorf("b holds %v, want %v", taken, lost)
	}
}
