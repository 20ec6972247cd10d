package deliver

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedmill/feedmill"
)

// Subscriptions that cannot be read are all named in the log, a few in a minute
// and each once until it changes.
func TestEachSubscriptionIsComplainedOfOnce(t *testing.T) {
	var log bytes.Buffer
	runDispatcher(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, slow(time.Millisecond), func(h *harness) {
		const n = maxComplaints + 5
		subs := make(map[feedmill.ID]bool)
		var sub feedmill.ID
		for range n {
			sub = h.subscribe(feedmill.DeliverySettings{}, func(s *feedmill.Subscription) { s.Secrets = []byte("not to be read") })
			subs[sub] = true
		}
		lines := func() int {
			synctest.Wait()
			return bytes.Count(log.Bytes(), []byte("\n"))
		}
		h.dispatcher.Offer(h.accept(3, ""))
		time.Sleep(30 * time.Second)
		if got := lines(); got != maxComplaints {
			h.Errorf("%d lines are logged in the first minute, want %d", got, maxComplaints)
		}
		time.Sleep(2 * time.Minute)
		if got := lines(); got != n {
			h.Errorf("%d lines are logged of %d subscriptions", got, n)
		}
		for id := range subs {
			if !bytes.Contains(log.Bytes(), []byte(id)) {
				h.Errorf("nothing is logged of %s", id)
			}
		}
		h.dispatcher.Changed(sub)
		time.Sleep(2 * time.Minute)
		if got := lines(); got != n+1 {
			h.Errorf("%d lines are logged after a change, want one more than %d", got, n)
		}
	})
}
