package api

import (
	"context"

	"github.com/feedmill/feedmill"
)

// breakers are those of subscriptions: as they are where this replica sends to them, else
// as the one that does has reported them.
func (s *Server) breakers(ctx context.Context, subscriptions []feedmill.ID) (map[feedmill.ID]feedmill.BreakerState, error) {
	found := make(map[feedmill.ID]feedmill.BreakerState, len(subscriptions))
	ours := true
	for _, id := range subscriptions {
		found[id] = s.Dispatcher.Breaker(id)
		ours = ours && found[id] != feedmill.BreakerUnknown
	}
	if ours {
		return found, nil
	}
	others, err := s.otherProcesses(ctx, processGone)
	if err != nil {
		return nil, err
	}
	reported, whole := make(map[feedmill.ID]feedmill.BreakerState), len(others) > 0
	for _, p := range others {
		whole = whole && len(p.Breakers) < maxReportedBreakers
		for _, b := range p.Breakers {
			reported[b.Subscription] = b.State
		}
	}
	for id, state := range found {
		if state != feedmill.BreakerUnknown {
			continue
		}
		if other, ok := reported[id]; ok {
			found[id] = other
		} else if whole { // all that are open were told of
			found[id] = feedmill.BreakerClosed
		}
	}
	return found, nil
}
