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
