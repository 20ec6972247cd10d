package deliver

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// A workspace leaves room for the lanes of others, and so do polls for those of
// whoever has just accepted something.
func TestLanesHaveABound(t *testing.T) {
	d := bare(nil)
	d.slots, d.maxLanes = allSlots(), 100
	fill := func(workspace feedmill.ID) (made int) {
		for i := range 1000 {
			l := d.laneWithin(feedmill.ID(fmt.Sprint("sub_", workspace, i)), workspace)
			if l == nil {
				break
			}
			l.state = tripped // it has something to wait for
			made++
		}
		return made
	}
	for _, c := range []struct {
		workspace feedmill.ID
		want      int
	}{{"ws_1", 50}, {"ws_2", 25}, {"", 0}, {"ws_3", 13}, {"ws_4", 6}, {"ws_1", 50}} {
		if got := fill(c.workspace); got != c.want {
			t.Errorf("workspace %q has %d lanes, want %d", c.workspace, got, c.want)
		}
	}
	d = bare(nil)
	d.maxLanes = 100
	if got := fill(""); got != 75 {
		t.Errorf("polls make %d lanes, want 75", got)
	}
}

// Lanes that rest give way, unless they are few, have rested for no more than a moment or hold
// their endpoint to something.
func TestLanesThatRestGiveWay(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		change func(*Dispatcher, *lane)
		want   bool
	}{
		"resting":   {func(*Dispatcher, *lane) {}, true},
		"just used": {func(_ *Dispatcher, l *lane) { l.usedAt = now }, false},
		"ready":     {func(_ *Dispatcher, l *lane) { l.state = ready }, false},
		"open":      {func(_ *Dispatcher, l *lane) { l.pace.opened = 1 }, false},
		"of few":    {func(d *Dispatcher, _ *lane) { d.lanesOf["ws_1"] = 2 }, false},
		"of another that has many": {func(d *Dispatcher, l *lane) {
			l.workspace, d.lanesOf["ws_2"] = "ws_2", 10
		}, true},
	} {
		d := bare(nil)
		d.maxLanes = 8
		d.lane("sub_1", "ws_1").usedAt = now.Add(-minRest)
		d.lanesOf["ws_1"] = 10
		c.change(d, d.lanes["sub_1"])
		if dropped := d.dropResting(now); dropped != c.want || (d.lanes["sub_1"] == nil) != c.want {
			t.Errorf("%s: it is forgotten: %v", name, dropped)
		}
	}
}

// With many more failing subscriptions than there may be lanes, all of them are sent
// to and tried again, and what another workspace publishes meanwhile is sent at once.
func TestLanesThatFindNoRoomAreSentTo(t *testing.T) {
	const subs, lanes = 200, 20
	var most atomic.Int64
	var h *harness
	to := func(_ context.Context, target feedmill.Subscription, m feedmill.Message) feedmill.Result {
		h.dispatcher.mu.Lock()
		most.Store(max(most.Load(), int64(len(h.dispatcher.lanes))))
		h.dispatcher.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
		if target.Workspace == h.ws || m.Attempt > 2 {
			return answered200
		}
		return answered500
	}
	runDispatcher(t, Options{}, to, func(made *harness) {
		h = made
		h.dispatcher.mu.Lock()
		h.dispatcher.maxLanes = lanes
		h.dispatcher.mu.Unlock()
		for range subs {
			h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		}
		due := h.accept(1, "")
		h.newWorkspace()
		other := h.subscribe(feedmill.DeliverySettings{Concurrency: 1})
		h.dispatcher.Offer(due)
		for i := range 5 {
			h.dispatcher.Offer(h.accept(1, ""))
			if time.Sleep(time.Second); h.sentTo(other) != i+1 {
				h.Errorf("after %d events %d were sent to the other workspace", i+1, h.sentTo(other))
			}
		}
		time.Sleep(time.Hour)
		if n, open := h.sentSince(time.Time{}), h.open(); n != 3*subs+5 || open != 0 {
			h.Errorf("%d were sent, want %d, and %d are open", n, 3*subs+5, open)
		}
		if n := most.Load(); n > lanes {
			h.Errorf("there were %d lanes, of %d that may be", n, lanes)
		}
	})
}
