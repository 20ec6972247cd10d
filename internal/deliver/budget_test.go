package deliver

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// newAttempts is a budget like that for attempts, of lanes that send no payload.
func newAttempts(count, bytes int) *budget {
	b := new(newBudget(amount{count, bytes}, func(*lane) {}))
	b.maxPast = 0
	return b
}

// testLane is a lane of a workspace, whose endpoint answers well.
func testLane(workspace string, p pace) *lane {
	l := &lane{workspace: feedmill.ID(workspace), pace: p}
	l.attempt.lane = l
	return l
}

// begin begins an attempt of a lane with a payload, and reports whether it may.
func (b *budget) begin(l *lane, payload int) bool {
	if !b.ask(&l.attempt, size{bytes: attemptBytes + payload}) {
		b.drop(&l.attempt)
		return false
	}
	l.attempt.take()
	return true
}

// fill begins attempts of new lanes of a workspace, one after the other and
// round by round, until none is allowed any more.
func fill(b *budget, workspace string, lanes int) (running int) {
	return fillWith(b, workspace, lanes, pace{trust: answersWell})
}

func fillWith(b *budget, workspace string, lanes int, p pace) (running int) {
	all := make([]*lane, lanes)
	for i := range all {
		all[i] = testLane(workspace, p)
	}
	for begun := true; begun; {
		begun = false
		for _, l := range all {
			if b.begin(l, 0) {
				running++
				begun = true
			}
		}
	}
	return running
}

// Each workspace with many lanes gets half of what those before it have left.
func TestNoWorkspaceTakesAll(t *testing.T) {
	s := newAttempts(4096, 1<<30)
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
	s := newAttempts(4096, 1<<30)
	for i, want := range []int{1756, 1003, 573} {
		workspace := fmt.Sprint("silent", i)
		if got := fillWith(s, workspace, 5000, newPace()); got != want {
			t.Errorf("silent endpoints of workspace %d hold %d, want %d", i, got, want)
		}
		if !s.begin(testLane(workspace, pace{trust: answersWell}), 0) {
			t.Errorf("an endpoint of workspace %d that answers well finds no room", i)
		}
	}
}

// Endpoints that answer badly leave room for those of which nothing is known yet, as well.
func TestNewEndpointsFindRoom(t *testing.T) {
	s := newAttempts(4096, 1<<30)
	if got := fillWith(s, "one", 5000, pace{allowed: 1, trust: answersBadly}); got != 1366 {
		t.Errorf("endpoints that answer badly hold %d, want 1366", got)
	}
	if !s.begin(testLane("one", newPace()), 0) {
		t.Error("a new endpoint finds no room")
	}
}

// Attempts are bounded by what they take, too, and those that hang leave room for
// those of the same workspace that do not, and for others.
func TestAttemptsAreBoundedByTheirBytes(t *testing.T) {
	s := newAttempts(1<<20, maxUnderWayBytes)
	for i := range 5 {
		workspace := fmt.Sprint("silent", i)
		before := maxUnderWayBytes - s.used.bytes
		held := fillWith(s, workspace, 5000, newPace()) * attemptBytes
		if want := before * 3 / 7; held < want-attemptBytes || held > want+attemptBytes {
			t.Errorf("silent endpoints of workspace %d hold %d bytes of %d, want %d", i, held, before, want)
		}
		healthy := s.begin(testLane(workspace, pace{trust: answersWell}), 1<<10)
		if !healthy || !s.begin(testLane("other", newPace()), 256<<10) {
			t.Errorf("beside %d workspaces there is no room for those that answer well, or for others", i+1)
		}
	}
}

// What is stored of former attempts counts until there is one.
func TestFormerAttemptsAreRecalled(t *testing.T) {
	long := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		target Target
		want   trust
	}{
		{Target{}, answersUnknown},
		{Target{successAt: long}, answersWell},
		{Target{successAt: long, failingSince: long}, answersBadly},
		{Target{failingSince: long}, answersBadly},
	} {
		d := bare(nil)
		l := d.lane("s", "w")
		d.setTarget(l, &c.target, time.Now())
		if l.pace.trust != c.want {
			t.Errorf("%+v: %+v", c.target, l.pace)
		}
		l.pace.learn(answered200, time.Now(), 9)
		if d.setTarget(l, &Target{failingSince: long}, time.Now()); l.pace.trust != answersWell {
			t.Error("what is stored counts more than what was learnt since")
		}
	}
}

// A lane gets one attempt for each 32 that its workspace may still begin. Alone
// that is more than any endpoint is trusted with.
func TestFewLanesGetTheirFill(t *testing.T) {
	for lanes, want := range map[int]int{1: 120, 2: 226, 10: 785} {
		s := newAttempts(4096, 1<<30)
		if got := fill(s, "one", lanes); got != want {
			t.Errorf("%d lanes alone get %d attempts under way, want %d", lanes, got, want)
		}
	}
}

// Nobody passes a claim of its own line, whether there is room or not: small claims do
// not keep a large one waiting.
func TestNobodyIsPassed(t *testing.T) {
	b := newAttempts(100, 10*attemptBytes)
	first, large, small, other := testLane("a", pace{}), testLane("a", pace{}), testLane("a", pace{}), testLane("b", pace{})
	for _, c := range []struct {
		lane  *lane
		bytes int
		want  bool
	}{{first, 3, true}, {large, 5, false}, {small, 1, false}, {other, 1, true}} {
		if got := b.ask(&c.lane.attempt, size{bytes: c.bytes * attemptBytes}); got != c.want {
			t.Errorf("a lane of workspace %s has a grant: %v, want %v", c.lane.workspace, got, c.want)
		}
	}
	b.release(first.attempt.take())
	if !large.attempt.isGranted() || small.attempt.isGranted() {
		t.Error("it is not the large claim that is granted first")
	}
	b.release(large.attempt.take())
	if !small.attempt.isGranted() {
		t.Error("a claim waits although there is room for it")
	}
}

// A payload is counted once for all grants that send it, and kept until the last of
// them is released, whether it was used or not.
func TestPayloadsAreCountedOnce(t *testing.T) {
	m, b := newMemory(10, 10), newAttempts(100, 100*attemptBytes)
	due := feedmill.DueDelivery{Payload: make([]byte, attemptBytes)}
	due.ID, due.Event, due.Workspace = "d", "e", "a"
	waits := m.hold(due)
	one, two := testLane("a", pace{}), testLane("a", pace{})
	for i, l := range []*lane{one, two} {
		if !b.ask(&l.attempt, size{waits.event, attemptBytes}) || b.used.bytes != (i+1)*attemptBytes+waits.event.size() {
			t.Errorf("%d grants take %d bytes", i+1, b.used.bytes)
		}
	}
	b.release(one.attempt.take())
	m.release(waits) // as when the queue of the lane is dropped
	if len(m.events) != 1 {
		t.Error("an event is forgotten while it may be sent")
	}
	if b.drop(&two.attempt); len(m.events) != 0 || b.used != (amount{}) || len(b.portions) != 0 {
		t.Errorf("%d events are kept, and %+v held by %d workspaces", len(m.events), b.used, len(b.portions))
	}
}

// A claim that waits can ask for something else without losing its place, and gets it
// if there is room for that.
func TestAClaimCanChange(t *testing.T) {
	b := newAttempts(100, 10*attemptBytes)
	first, large, small := testLane("a", pace{}), testLane("a", pace{}), testLane("a", pace{})
	ask := func(l *lane, attempts int) bool { return b.ask(&l.attempt, size{bytes: attempts * attemptBytes}) }
	if !ask(first, 4) || ask(large, 5) || ask(small, 2) || ask(large, 6) {
		t.Error("claims are granted for which there is no room, or that are behind others")
	}
	if !ask(large, 1) {
		t.Error("a claim waits although it asks for less by now")
	}
	if b.drop(&small.attempt); small.attempt.portion != nil {
		t.Error("a claim waits that was dropped")
	}
	checkBudget(t, b)
}
