package deliver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// TestRing takes turns with lanes that always have more to do: one workspace
// with two lanes and one with a single lane.
func TestRing(t *testing.T) {
	var r ring
	for _, name := range []string{"a1", "a2", "b1"} {
		r.push(&lane{id: feedmill.ID(name), workspace: feedmill.ID(name[:1])})
	}
	var first, second []string
	for i := range 6 * turnLength {
		l := r.pop()
		r.push(l)
		if i%2 == 0 {
			first = append(first, string(l.id))
		} else {
			second = append(second, string(l.id))
		}
	}
	var want []string
	for turn := range 3 {
		want = append(want, slices.Repeat([]string{fmt.Sprint("a", 1+turn%2)}, turnLength)...)
	}
	if !slices.Equal(first, want) {
		t.Errorf("the lanes of the first workspace had their turns as %v", first)
	}
	if slices.ContainsFunc(second, func(id string) bool { return id != "b1" }) {
		t.Errorf("the other workspace had its turns as %v", second)
	}
	// A lane that leaves in its turn makes room for the next.
	r.pop()
	if l := r.pop(); l.id != "b1" {
		t.Errorf("%s came next, want b1", l.id)
	}
	if l := r.pop(); l == nil || l.workspace != "a" {
		t.Errorf("%v came next, want the other lane", l)
	}
	if l := r.pop(); l != nil {
		t.Errorf("%s came next, want none", l.id)
	}
}

func TestRingTakesTurns(t *testing.T) {
	var r ring
	push := func(workspace, id string) { r.push(&lane{workspace: feedmill.ID(workspace), id: feedmill.ID(id)}) }
	for _, id := range []string{"a1", "a2", "a3", "a4"} {
		push("a", id)
	}
	push("b", "b1")
	push("c", "c1")
	var order []string
	for l := r.pop(); l != nil; l = r.pop() {
		order = append(order, string(l.id))
	}
	if got, want := strings.Join(order, " "), "a1 b1 c1 a2 a3 a4"; got != want {
		t.Errorf("order is %s, want %s", got, want)
	}
	if r.pop() != nil || len(r.byWorkspace) != 0 {
		t.Error("the empty ring is not empty")
	}
}

// A lane that is new does not overtake those that wait.
func TestRingNewLanesGoLast(t *testing.T) {
	var r ring
	for _, id := range []feedmill.ID{"a1", "a2"} {
		r.push(&lane{id: id, workspace: "a"})
	}
	r.pop()
	r.push(&lane{id: "a3", workspace: "a"})
	if l := r.pop(); l.id != "a2" {
		t.Errorf("%s came next, want a2", l.id)
	}
}

func TestRingRemove(t *testing.T) {
	var r ring
	lanes := make(map[string]*lane)
	push := func(names ...string) {
		for _, name := range names {
			if lanes[name] == nil {
				lanes[name] = &lane{id: feedmill.ID(name), workspace: feedmill.ID(name[:1])}
			}
			r.push(lanes[name])
		}
	}
	push("a1", "a2", "a3", "b1", "c1")
	r.push(r.pop()) // a1 goes on with its turn
	r.remove(lanes["a1"])
	r.remove(lanes["a3"])
	r.remove(lanes["b1"])
	var order []string
	for l := r.pop(); l != nil; l = r.pop() {
		order = append(order, string(l.id))
	}
	if got, want := strings.Join(order, " "), "c1 a2"; got != want || len(r.byWorkspace) != 0 {
		t.Errorf("left are %s, want %s; %d workspaces are remembered", got, want, len(r.byWorkspace))
	}
	push("b1") // who was taken out can come back
	if l := r.pop(); l != lanes["b1"] {
		t.Errorf("%v came back, want b1", l)
	}
	push("a2")
	r.push(r.pop())
	if r.remove(lanes["a2"]); !r.isEmpty() || len(r.byWorkspace) != 0 {
		t.Error("the last one is taken out and the ring is not empty")
	}
}
