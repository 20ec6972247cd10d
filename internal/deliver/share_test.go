package deliver

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// fill begins attempts of new lanes of a workspace, one after the other and
// round by round, until none is allowed any more.
func fill(s *share, workspace string, lanes int) (running int) {
	return fillWith(s, workspace, lanes, pace{answersWell: true})
}

func fillWith(s *share, workspace string, lanes int, p pace) (running int) {
	all := make([]*lane, lanes)
	for i := range all {
		all[i] = &lane{id: feedmill.ID(fmt.Sprint(workspace, i)), workspace: feedmill.ID(workspace), pace: p}
	}
	for begun := true; begun; {
		begun = false
		for _, l := range all {
			if s.allows(l, 0) {
				s.begin(l, &event{underWay: 1})
				running++
				begun = true
			}
		}
	}
	return running
}

// Each workspace with many lanes gets half of what those before it have left.
func TestNoWorkspaceTakesAll(t *testing.T) {
	s := &share{total: 4096, maxBytes: 1 << 30, portions: make(map[feedmill.ID]*portion)}
	for i, want := range []int{2048, 1024, 512, 256} {
		if got := fill(s, fmt.Sprint("greedy", i), 5000); got != want {
			t.Errorf("greedy workspace %d got %d, want %d", i, got, want)
		}
	}
	if got := fill(s, "modest", 1); got != 7 {
		t.Errorf("the one that comes last got %d of the 256 that are left, want 7", got)
	}
}

// Endpoints that do not answer well, or have not yet, leave room for those of the same
// workspace that do, however many they are and whatever is left.
func TestEndpointsThatAnswerWellFindRoom(t *testing.T) {
	s := &share{total: 4096, maxBytes: 1 << 30, portions: make(map[feedmill.ID]*portion)}
	for i, want := range []int{1756, 1003, 573} {
		workspace := fmt.Sprint("silent", i)
		if got := fillWith(s, workspace, 5000, newPace()); got != want {
			t.Errorf("silent endpoints of workspace %d hold %d, want %d", i, got, want)
		}
		healthy := &lane{workspace: feedmill.ID(workspace), pace: pace{answersWell: true}}
		if !s.allows(healthy, 0) {
			t.Errorf("an endpoint of workspace %d that answers well finds no room", i)
		}
	}
}

// Endpoints that answer badly leave room for those of which nothing is known yet, as well.
func TestNewEndpointsFindRoom(t *testing.T) {
	s := &share{total: 4096, maxBytes: 1 << 30, portions: make(map[feedmill.ID]*portion)}
	if got := fillWith(s, "one", 5000, pace{allowed: 1, answersBadly: true}); got != 1366 {
		t.Errorf("endpoints that answer badly hold %d, want 1366", got)
	}
	if unknown := (&lane{workspace: "one", pace: newPace()}); !s.allows(unknown, 0) {
		t.Error("a new endpoint finds no room")
	}
}

// Attempts are bounded by what they take, too, and those that hang leave room for
// those of the same workspace that do not, and for others.
func TestAttemptsAreBoundedByTheirBytes(t *testing.T) {
	s := &share{total: 1 << 20, maxBytes: maxUnderWayBytes, portions: make(map[feedmill.ID]*portion)}
	for i := range 5 {
		workspace := fmt.Sprint("silent", i)
		before := maxUnderWayBytes - s.bytes
		held := fillWith(s, workspace, 5000, newPace()) * attemptBytes
		if want := before * 3 / 7; held < want-attemptBytes || held > want+attemptBytes {
			t.Errorf("silent endpoints of workspace %d hold %d bytes of %d, want %d", i, held, before, want)
		}
		healthy := &lane{workspace: feedmill.ID(workspace), pace: pace{answersWell: true}}
		if other := (&lane{workspace: "other", pace: newPace()}); !s.allows(healthy, 1<<10) || !s.allows(other, 256<<10) {
			t.Errorf("beside %d workspaces there is no room for those that answer well, or for others", i+1)
		}
	}
}

// What is stored of former attempts counts until there is one.
func TestFormerAttemptsAreRecalled(t *testing.T) {
	long := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		target      Target
		well, badly bool
	}{
		{Target{}, false, false},
		{Target{successAt: long}, true, false},
		{Target{successAt: long, failingSince: long}, false, true},
		{Target{failingSince: long}, false, true},
	} {
		l := &lane{pace: newPace()}
		l.setTarget(&c.target, time.Now())
		if l.pace.answersWell != c.well || l.pace.answersBadly != c.badly {
			t.Errorf("%+v: %+v", c.target, l.pace)
		}
		l.pace.learn(answered200, time.Now(), 9)
		if l.setTarget(&Target{failingSince: long}, time.Now()); !l.pace.answersWell {
			t.Error("what is stored counts more than what was learnt since")
		}
	}
}

// A lane gets one attempt for each 32 that its workspace may still begin. Alone
// that is more than any endpoint is trusted with.
func TestFewLanesGetTheirFill(t *testing.T) {
	for lanes, want := range map[int]int{1: 120, 2: 226, 10: 785} {
		s := &share{total: 4096, maxBytes: 1 << 30, portions: make(map[feedmill.ID]*portion)}
		if got := fill(s, "one", lanes); got != want {
			t.Errorf("%d lanes alone get %d attempts under way, want %d", lanes, got, want)
		}
	}
}

func TestWhoWaitsIsCalled(t *testing.T) {
	s, e := &share{total: 2, maxBytes: 1 << 20, portions: make(map[feedmill.ID]*portion)}, new(event)
	a1, a2, a3, b1 := &lane{id: "a1", workspace: "a"}, &lane{id: "a2", workspace: "a"}, &lane{id: "a3", workspace: "a"}, &lane{id: "b1", workspace: "b"}
	c1, c2 := &lane{id: "c1", workspace: "c"}, &lane{id: "c2", workspace: "c"}
	for _, l := range []*lane{a1, b1} {
		if !s.allows(l, 0) {
			t.Fatalf("%s is not allowed", l.id)
		}
		s.begin(l, e)
	}
	for _, l := range []*lane{a2, a3, c1, c2} {
		if s.allows(l, 0) {
			t.Fatalf("%s is allowed although nothing is free", l.id)
		}
		l.joinLine(s.lineFor(l))
	}
	// One of all that starve, and all that waited for the last of a workspace.
	if next := s.end(a1, e); !slices.Equal(next, []*lane{a2, a3, c1}) {
		t.Errorf("called are %v, want a2, a3 and c1", next)
	}
	for _, l := range []*lane{a2, a3, c1} {
		l.leaveLine()
	}
	s.begin(a2, e)
	s.begin(a2, e)
	a1.joinLine(s.lineFor(a1))
	a3.joinLine(s.lineFor(a3))
	if next := s.end(a2, e); !slices.Equal(next, []*lane{a1, c2}) {
		t.Errorf("called are %v, want the first of each line", next)
	}
	a1.leaveLine()
	c2.leaveLine()
	if next := s.end(b1, e); len(next) != 0 {
		t.Errorf("called are %v, want nobody of another workspace", next)
	}
	if next := s.end(a2, e); !slices.Equal(next, []*lane{a3}) || s.running != 0 || len(s.portions) != 0 {
		t.Errorf("called are %v, %d are running, %d workspaces are remembered", next, s.running, len(s.portions))
	}
}
