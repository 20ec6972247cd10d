package storetest

import (
	"testing"

	"github.com/feedmill/feedmill"
)

// settleAgainCases are about deliveries of which more than one outcome comes.
var settleAgainCases = []testCase{
	{name: "a delivery that has ended keeps its state, and the attempt is written", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
		settle(t, s, due[0], feedmill.DeliveryDelivered)
		wanted := deliveries(t, s, sub)[0]
		// Both senders thought that theirs was the first attempt.
		settle(t, s, due[0], feedmill.DeliveryRetrying)
		wanted.Attempts = 2
		equal(t, "delivery", wanted, deliveries(t, s, sub)[0])
		attempts, err := s.DeliveryAttempts(ctx, due[0].ID)
		must(t, err)
		if len(attempts) != 2 || attempts[0].Number != 1 || attempts[0].Status != 204 || attempts[1].Number != 2 || attempts[1].Status != 500 {
			t.Errorf("attempts are %+v", attempts)
		}
	}},
	{name: "an attempt that is settled again is written once", run: func(t *testing.T, open func(*testing.T) Store) {
		s, ctx := open(t), t.Context()
		w := newWorkspace(t, s)
		sub := subscribe(t, s, w.ID, "metric.*")
		for _, state := range []feedmill.DeliveryState{feedmill.DeliveryDelivered, feedmill.DeliveryExhausted, feedmill.DeliveryRetrying} {
			_, due := accept(t, s, newEvent(w.ID, "metric.created", ""))
			outcomes := []feedmill.Outcome{newOutcome(due[0], state)}
			for range 3 {
				_, err := s.Settle(ctx, outcomes)
				must(t, err)
			}
			all := deliveries(t, s, sub)
			attempts, err := s.DeliveryAttempts(ctx, due[0].ID)
			must(t, err)
			if d := all[len(all)-1]; len(attempts) != 1 || d.Attempts != 1 || d.State != state {
				t.Errorf("%s: delivery is %+v with attempts %+v", state, d, attempts)
			}
		}
	}},
}
