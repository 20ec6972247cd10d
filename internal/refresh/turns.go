package refresh

import "github.com/feedmill/feedmill"

// turns decides whose source runs next. A workspace with thousands of due
// sources gets no more turns than one with a single one: the next turn is for
// the workspace that has the fewest under way, and of those for the one that
// waits for the longest time. Within a workspace the longest due goes first.
type turns struct {
	max, ofWorkspace, ofHost int

	running    map[feedmill.ID]bool // sources
	workspaces map[feedmill.ID]int  // how many each has under way
	// hosts counts for each workspace by itself: nobody waits for others' runs.
	hosts map[place]int
	// served says when each workspace had its last turn, counted in turns. It
	// is forgotten when nothing of the workspace is due or under way.
	served map[feedmill.ID]int64
	turn   int64
}

// place is a host as one workspace knows it.
type place struct {
	workspace feedmill.ID
	host      string
}

func placeOf(s feedmill.DueSource) place { return place{s.Workspace, s.Host} }

func newTurns(most, ofWorkspace, ofHost int) turns {
	return turns{
		max: most, ofWorkspace: ofWorkspace, ofHost: ofHost, running: make(map[feedmill.ID]bool),
		workspaces: make(map[feedmill.ID]int), hosts: make(map[place]int), served: make(map[feedmill.ID]int64),
	}
}

func (t *turns) free() int { return t.max - len(t.running) }

// choose picks among due sources, the longest due first, and counts the chosen
// as running.
func (t *turns) choose(due []feedmill.DueSource) (chosen []feedmill.DueSource) {
	waiting := make(map[feedmill.ID][]feedmill.DueSource)
	for _, s := range due {
		waiting[s.Workspace] = append(waiting[s.Workspace], s)
	}
	for w := range t.served {
		if t.workspaces[w] == 0 && waiting[w] == nil {
			delete(t.served, w)
		}
	}
	for t.free() > 0 {
		next, ok := t.next(waiting)
		if !ok {
			break
		}
		s := waiting[next][0]
		waiting[next] = waiting[next][1:]
		t.begin(s)
		chosen = append(chosen, s)
	}
	return chosen
}

// next is the workspace whose turn it is. What may not run now is taken off the
// front of the lines.
func (t *turns) next(waiting map[feedmill.ID][]feedmill.DueSource) (next feedmill.ID, ok bool) {
	for w, line := range waiting {
		if t.workspaces[w] >= t.ofWorkspace {
			line = nil
		}
		for len(line) > 0 && (t.running[line[0].ID] || t.hosts[placeOf(line[0])] >= t.ofHost) {
			line = line[1:]
		}
		if waiting[w] = line; len(line) == 0 {
			delete(waiting, w)
			continue
		}
		if !ok || t.before(w, line[0], next, waiting[next][0]) {
			next, ok = w, true
		}
	}
	return next, ok
}

// before reports whether a workspace comes before another, with the source that
// each would run.
func (t *turns) before(a feedmill.ID, of feedmill.DueSource, b feedmill.ID, than feedmill.DueSource) bool {
	switch {
	case t.workspaces[a] != t.workspaces[b]:
		return t.workspaces[a] < t.workspaces[b]
	case t.served[a] != t.served[b]:
		return t.served[a] < t.served[b]
	case !of.DueAt.Equal(than.DueAt):
		return of.DueAt.Before(than.DueAt)
	}
	return a < b
}

func (t *turns) begin(s feedmill.DueSource) {
	t.turn++
	t.served[s.Workspace] = t.turn
	t.running[s.ID] = true
	t.workspaces[s.Workspace]++
	t.hosts[placeOf(s)]++
}

func (t *turns) end(s feedmill.DueSource) {
	delete(t.running, s.ID)
	if t.workspaces[s.Workspace]--; t.workspaces[s.Workspace] == 0 {
		delete(t.workspaces, s.Workspace)
	}
	if p := placeOf(s); t.hosts[p] == 1 {
		delete(t.hosts, p)
	} else {
		t.hosts[p]--
	}
}
