package deliver

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/feedmill/feedmill"
)

// An ordered backlog costs what it holds: its resources are not all looked at for
// each part that is read.
func TestAnOrderedBacklogIsReadOnce(t *testing.T) {
	const each = 2
	resources := 3000
	if os.Getenv("FEEDMILL_LONG") != "" {
		resources = 100_000
	}
	tried := make(map[feedmill.ID]bool)
	to := func(_ context.Context, _ feedmill.Subscription, m feedmill.Message) feedmill.Result {
		if m.Type == "metric.failing" && !tried[m.Delivery] {
			tried[m.Delivery] = true
			return answered500
		}
		return answered200
	}
	runDispatcher(t, Options{PollEvery: 24 * time.Hour, TargetAge: 24 * time.Hour}, to, func(h *harness) {
		sub := h.subscribe(feedmill.DeliverySettings{Ordered: true, Concurrency: 1}, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionPaused })
		var all []feedmill.DueDelivery // resource by resource, each time
		for range each {
			for first := 0; first < resources; first += 1000 {
				events := make([]feedmill.Event, 1000)
				for i := range events {
					events[i] = h.newEvent(fmt.Sprint("r", first+i), `{}`)
					if i%100 == 0 && first < 3000 { // a pass may be made for each
						events[i].Type = "metric.failing"
					}
				}
				due := h.acceptEvents(events...)
				all = append(all, due...)
				h.dispatcher.Offer(due)
			}
		}
		time.Sleep(time.Second)
		h.change(sub, func(s *feedmill.Subscription) { s.State = feedmill.SubscriptionActive })
		h.dispatcher.Changed(sub)
		time.Sleep(time.Hour)
		if n := h.open(); n != 0 {
			h.Errorf("%d deliveries are left", n)
		}
		last := make(map[feedmill.ID]int)
		for i, s := range h.attempts() {
			last[s.delivery] = i
		}
		for i, d := range all {
			if i >= resources && last[d.ID] < last[all[i-resources].ID] {
				h.Fatalf("one of %s was sent before the one before it", d.ResourceID)
			}
		}
		// A pass that is begun anew for what cannot be noted comes to what is left.
		if n := h.store.passes.Load(); n > int64(5+each*resources/maxWanted) {
			h.Errorf("all resources were looked at %d times", n)
		}
	})
}
