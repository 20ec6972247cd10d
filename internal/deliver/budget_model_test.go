package deliver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/feedmill/feedmill"
)

// checkBudget holds a budget to what is true of it whenever nobody changes it.
func checkBudget(t *testing.T, b *budget) {
	t.Helper()
	if fault := b.fault(); fault != "" {
		t.Error(fault)
	}
}

// fault says what is wrong with a budget.
func (b *budget) fault() string {
	var used amount
	waits, free := 0, b.max.minus(b.used)
	for workspace, p := range b.portions {
		used = used.plus(p.total())
		if p.held != p.total().count {
			return fmt.Sprintf("workspace %s holds %d grants, counted are %d", workspace, p.total().count, p.held)
		}
		if p.total() == (amount{}) && !p.waits() {
			return fmt.Sprintf("workspace %s is remembered for nothing", workspace)
		}
		if p.waits() != (p.place >= 0) || p.place >= 0 && b.queue[p.place] != p {
			return fmt.Sprintf("workspace %s waits: %v, and has place %d in the queue", workspace, p.waits(), p.place)
		}
		waits += count(p.waits())
		for _, line := range p.waiting {
			for i, waits := range line {
				if c := waits.(*claim); c.portion != p || c.place != i || c.isGranted() {
					return fmt.Sprintf("a claim of workspace %s has place %d, %d is noted; granted: %v", workspace, i, c.place, c.isGranted())
				}
			}
			if len(line) > 0 && b.fits(p, line[0].(*claim)) {
				return fmt.Sprintf("a claim of workspace %s waits although there is room for it: %+v are free", workspace, free)
			}
		}
	}
	switch {
	case used != b.used:
		return fmt.Sprintf("workspaces hold %+v, counted are %+v", used, b.used)
	case waits != len(b.queue):
		return fmt.Sprintf("%d workspaces wait, and %d are in the queue", waits, len(b.queue))
	case free.count < 0 || b.past == 0 && free.bytes < 0 || b.past < 0 || b.past > b.maxPast:
		return fmt.Sprintf("%+v of %+v are held, %d grants past the bound", b.used, b.max, b.past)
	}
	return ""
}

// modelLane is a lane of the model: what it asks for, and what it holds.
type modelLane struct {
	workspace string
	bytes     int
	trust     trust
	most      int // grants that it holds at a time
}

// model is a budget with a few lanes that ask, use, end and leave in any order.
type model struct {
	budget
	lanes []*lane
	most  []int
	sizes []size
	held  [][]grant
}

func newModel(most amount, specs []modelLane) *model {
	m := &model{held: make([][]grant, len(specs))}
	m.budget = newBudget(most, func(*lane) {})
	m.large, m.maxPast, m.laneShare = most.bytes/2, 1, 1
	for _, s := range specs {
		l := &lane{workspace: feedmill.ID(s.workspace), pace: pace{trust: s.trust}}
		l.attempt.lane = l
		m.lanes, m.most, m.sizes = append(m.lanes, l), append(m.most, s.most), append(m.sizes, size{bytes: s.bytes})
	}
	return m
}

// step is something that a lane does.
type step struct {
	lane int
	do   string
}

// steps are those that may be made.
func (m *model) steps() (steps []step) {
	for i, l := range m.lanes {
		c := &l.attempt
		switch {
		case c.portion != nil:
			steps = append(steps, step{i, "leave"})
		case c.isGranted():
			steps = append(steps, step{i, "use"}, step{i, "leave"})
		case len(m.held[i]) < m.most[i]:
			steps = append(steps, step{i, "ask"})
		}
		if len(m.held[i]) > 0 {
			steps = append(steps, step{i, "end"})
		}
	}
	return steps
}

func (m *model) make(s step) {
	l := m.lanes[s.lane]
	switch s.do {
	case "ask":
		m.ask(&l.attempt, m.sizes[s.lane])
	case "use":
		m.held[s.lane] = append(m.held[s.lane], l.attempt.take())
	case "leave":
		m.drop(&l.attempt)
	case "end":
		g := m.held[s.lane][0]
		m.held[s.lane] = m.held[s.lane][1:]
		m.release(g)
	}
}

// key is the same for two models that cannot be told apart by what they do next.
func (m *model) key() string {
	var numbers []uint64
	for _, l := range m.lanes {
		if l.attempt.portion != nil {
			numbers = append(numbers, l.attempt.asked, l.attempt.portion.asked)
		}
	}
	slices.Sort(numbers)
	rank := func(n uint64) int { i, _ := slices.BinarySearch(numbers, n); return i }
	var key strings.Builder
	for i, l := range m.lanes {
		c := &l.attempt
		fmt.Fprintf(&key, "%v", c.isGranted() && c.grant.past)
		for _, g := range m.held[i] {
			fmt.Fprintf(&key, " %v", g.past)
		}
		switch {
		case c.isGranted():
			key.WriteString(" granted")
		case c.portion != nil:
			fmt.Fprintf(&key, " waits %d %d", rank(c.asked), rank(c.portion.asked))
		}
		key.WriteByte(';')
	}
	return key.String()
}

// node is a state of the model.
type node struct {
	path    []step
	next    map[step]string // the states that steps lead to
	waits   []bool          // of the lanes
	holds   []bool
	visited int // for the search of cycles
	low     int
}

// explore visits every state of a model.
func explore(t *testing.T, fresh func() *model) map[string]*node {
	t.Helper()
	replay := func(path []step) *model {
		m := fresh()
		for _, s := range path {
			m.make(s)
		}
		return m
	}
	start := replay(nil)
	nodes := map[string]*node{start.key(): {}}
	for queue := []string{start.key()}; len(queue) > 0; queue = queue[1:] {
		n := nodes[queue[0]]
		m := replay(n.path)
		n.next = make(map[step]string)
		for i, l := range m.lanes {
			n.waits = append(n.waits, l.attempt.portion != nil)
			n.holds = append(n.holds, len(m.held[i]) > 0 || l.attempt.isGranted())
		}
		for _, s := range m.steps() {
			after := replay(n.path)
			after.make(s)
			path := append(slices.Clip(n.path), s)
			if fault := after.fault(); fault != "" {
				t.Fatalf("after %v: %s", path, fault)
			}
			key := after.key()
			n.next[s] = key
			if nodes[key] == nil {
				nodes[key] = &node{path: path}
				queue = append(queue, key)
			}
		}
	}
	return nodes
}

// starves looks for a way to let a lane wait for ever although every other one ends
// what it holds, and returns it.
func starves(nodes map[string]*node, waiting, lanes int) []step {
	for _, group := range cycles(nodes, func(n *node) bool { return n.waits[waiting] }) {
		in := make(map[string]bool)
		for _, key := range group {
			in[key] = true
		}
		fair := func(lane int) bool { // it ends what it holds, or holds nothing
			for _, key := range group {
				n := nodes[key]
				if !n.holds[lane] || in[n.next[step{lane, "end"}]] && n.next[step{lane, "end"}] != "" {
					return true
				}
			}
			return false
		}
		all := true
		for lane := range lanes {
			all = all && fair(lane)
		}
		if all {
			return nodes[group[0]].path
		}
	}
	return nil
}

// cycles are the groups of states, among those of which something is true, in which each
// can be reached from each (Tarjan's algorithm).
func cycles(nodes map[string]*node, is func(*node) bool) (groups [][]string) {
	var stack []string
	onStack, number := make(map[string]bool), 0
	for _, n := range nodes {
		n.visited, n.low = 0, 0
	}
	var visit func(string)
	visit = func(key string) {
		n := nodes[key]
		number++
		n.visited, n.low = number, number
		stack = append(stack, key)
		onStack[key] = true
		for _, next := range n.next {
			switch m := nodes[next]; {
			case !is(m):
			case m.visited == 0:
				visit(next)
				n.low = min(n.low, m.low)
			case onStack[next]:
				n.low = min(n.low, m.visited)
			}
		}
		if n.low != n.visited {
			return
		}
		i := slices.Index(stack, key)
		group := slices.Clone(stack[i:])
		stack = stack[:i]
		for _, k := range group {
			delete(onStack, k)
		}
		if len(group) > 1 {
			groups = append(groups, group)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(nodes)) {
		if nodes[key].visited == 0 && is(nodes[key]) {
			visit(key)
		}
	}
	return groups
}

// TestBudgetModel tries all that a few lanes can do with a budget, in every order.
// Nobody waits for what is free, no bound is passed, and nobody waits for ever while
// the others end what they begin.
func TestBudgetModel(t *testing.T) {
	for name, c := range map[string]struct {
		max   amount
		lanes []modelLane
	}{
		"small and large": {amount{4, 8}, []modelLane{
			{"a", 1, answersWell, 2}, {"a", 5, answersWell, 1}, {"b", 1, answersWell, 2}, {"b", 4, answersUnknown, 1},
		}},
		"a large one among small ones": {amount{6, 6}, []modelLane{
			{"a", 1, answersWell, 2}, {"a", 2, answersWell, 2}, {"a", 6, answersBadly, 1},
		}},
		"trust": {amount{4, 100}, []modelLane{
			{"a", 1, answersWell, 2}, {"a", 1, answersUnknown, 1}, {"a", 1, answersBadly, 1}, {"b", 1, answersBadly, 1},
		}},
		"many workspaces": {amount{2, 4}, []modelLane{
			{"a", 1, answersWell, 1}, {"b", 1, answersWell, 1}, {"c", 2, answersWell, 1}, {"d", 3, answersWell, 1},
		}},
		"one for all": {amount{1, 3}, []modelLane{
			{"a", 1, answersWell, 1}, {"a", 3, answersBadly, 1}, {"b", 1, answersUnknown, 1}, {"c", 2, answersWell, 1},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := explore(t, func() *model { return newModel(c.max, c.lanes) })
			t.Logf("%d states", len(nodes))
			for i := range c.lanes {
				if path := starves(nodes, i, len(c.lanes)); path != nil {
					t.Errorf("lane %d can wait for ever: %v", i, path)
				}
			}
		})
	}
}
