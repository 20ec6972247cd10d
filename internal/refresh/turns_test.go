package refresh

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/feedmill/feedmill"
)

// TestTurnsLaws holds that no limit is ever passed, that nothing is chosen twice,
// and that whoever is left waiting could not have run.
func TestTurnsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 6
		turns := newTurns(most, rapid.IntRange(1, most).Draw(t, "of a workspace"), rapid.IntRange(1, 3).Draw(t, "of a host"))
		var running []feedmill.DueSource
		for round := range 10 {
			due := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) feedmill.DueSource {
				n := rapid.IntRange(0, 40).Draw(t, "source")
				return feedmill.DueSource{
					ID: feedmill.ID(fmt.Sprint("ds_", n)), Workspace: feedmill.ID(fmt.Sprint("ws_", n%3)), Host: fmt.Sprint("h", n%5), DueAt: time.Unix(int64(n), 0),
				}
			}), 0, 20, func(s feedmill.DueSource) feedmill.ID { return s.ID }).Draw(t, "due")
			running = append(running, turns.choose(due)...)

			sources, workspaces, hosts := make(map[feedmill.ID]bool), make(map[feedmill.ID]int), make(map[place]int)
			for _, s := range running {
				if sources[s.ID] {
					t.Fatalf("%s runs twice", s.ID)
				}
				sources[s.ID] = true
				workspaces[s.Workspace]++
				hosts[placeOf(s)]++
				if len(running) > most || workspaces[s.Workspace] > turns.ofWorkspace || hosts[placeOf(s)] > turns.ofHost {
					t.Fatalf("too many run: %v", running)
				}
			}
			for _, s := range due {
				if !sources[s.ID] && len(running) < most && workspaces[s.Workspace] < turns.ofWorkspace && hosts[placeOf(s)] < turns.ofHost {
					t.Fatalf("round %d: %+v could run beside %v", round, s, running)
				}
			}
			ends := rapid.IntRange(0, len(running)).Draw(t, "ends")
			for _, s := range running[:ends] {
				turns.end(s)
			}
			running = running[ends:]
		}
	})
}

func TestTurnsGoAroundTheWorkspaces(t *testing.T) {
	var due []feedmill.DueSource
	for i := range 30 {
		due = append(due, feedmill.DueSource{ID: feedmill.ID(fmt.Sprint("a", i)), Workspace: "busy", Host: fmt.Sprint("a", i)})
	}
	due = append(due, feedmill.DueSource{ID: "b1", Workspace: "small", Host: "b1", DueAt: time.Unix(9, 0)}, feedmill.DueSource{ID: "b2", Workspace: "small", Host: "b2", DueAt: time.Unix(9, 0)})
	turns := newTurns(1, 1, 1)
	var order []feedmill.ID
	for range 5 {
		next := turns.choose(due)
		if len(next) != 1 {
			t.Fatalf("%v were chosen", next)
		}
		order = append(order, next[0].Workspace)
		turns.end(next[0])
		for i := range due {
			if due[i].ID == next[0].ID {
				due = append(due[:i:i], due[i+1:]...)
				break
			}
		}
	}
	if got, want := fmt.Sprint(order), "[busy small busy small busy]"; got != want {
		t.Errorf("the turns went to %v, want %v", got, want)
	}
}

// Of workspaces that have had no turn the one that has waited longest comes first,
// whatever it is called.
func TestTurnsBeginWithTheLongestDue(t *testing.T) {
	for _, first := range []feedmill.ID{"a", "b"} {
		var due []feedmill.DueSource
		for _, w := range []feedmill.ID{"a", "b"} {
			at := time.Unix(2, 0)
			if w == first {
				at = time.Unix(1, 0)
			}
			due = append(due, feedmill.DueSource{ID: "ds_" + w, Workspace: w, DueAt: at})
		}
		turns := newTurns(1, 1, 1)
		if chosen := turns.choose(due); len(chosen) != 1 || chosen[0].Workspace != first {
			t.Errorf("%s is due first, and %v is chosen", first, chosen)
		}
	}
}

// When a workspace had its turn is remembered while it has something under way,
// and no longer.
func TestTurnsForgetWhoIsGone(t *testing.T) {
	turns := newTurns(3, 3, 3)
	gone := feedmill.DueSource{ID: "ds_1", Workspace: "a"}
	turns.choose([]feedmill.DueSource{gone})
	turns.choose(nil)
	if turns.served["a"] == 0 {
		t.Error("a turn is forgotten while the run is under way")
	}
	turns.end(gone)
	turns.choose(nil)
	if len(turns.served) > 0 {
		t.Errorf("remembered are %v", turns.served)
	}
}

// The next turn is for the workspace that has the fewest under way, then for the one
// whose last turn is longest ago, then for the one that is due the longest.
func TestWhoseTurnComesFirst(t *testing.T) {
	type side struct {
		underWay int
		served   int64
		due      int64
	}
	for _, c := range []struct {
		a, b side
		want bool
	}{
		{side{underWay: 1, served: 9, due: 9}, side{underWay: 2, served: 1, due: 1}, true},
		{side{underWay: 2, served: 1, due: 1}, side{underWay: 1, served: 9, due: 9}, false},
		{side{underWay: 1, served: 1, due: 9}, side{underWay: 1, served: 2, due: 1}, true},
		{side{underWay: 1, served: 2, due: 1}, side{underWay: 1, served: 1, due: 9}, false},
		{side{due: 1}, side{due: 2}, true},
		{side{due: 2}, side{due: 1}, false},
		{side{due: 1}, side{due: 1}, true}, // by their names
	} {
		turns := newTurns(9, 9, 9)
		turns.workspaces["a"], turns.workspaces["b"] = c.a.underWay, c.b.underWay
		turns.served["a"], turns.served["b"] = c.a.served, c.b.served
		of, than := feedmill.DueSource{DueAt: time.Unix(c.a.due, 0)}, feedmill.DueSource{DueAt: time.Unix(c.b.due, 0)}
		if got := turns.before("a", of, "b", than); got != c.want {
			t.Errorf("%+v before %+v: %v", c.a, c.b, got)
		}
	}
}

// Of runs that have ended nothing is remembered, however many there were.
func TestTurnsForgetRunsThatEnded(t *testing.T) {
	turns := newTurns(4, 4, 4)
	chosen := turns.choose([]feedmill.DueSource{{ID: "1", Workspace: "a", Host: "h"}, {ID: "2", Workspace: "a", Host: "h"}, {ID: "3", Workspace: "b", Host: "h"}})
	for _, s := range chosen {
		turns.end(s)
	}
	if len(chosen) != 3 || len(turns.running)+len(turns.workspaces)+len(turns.hosts) > 0 {
		t.Errorf("%d ran, and %v, %v and %v are remembered", len(chosen), turns.running, turns.workspaces, turns.hosts)
	}
}
