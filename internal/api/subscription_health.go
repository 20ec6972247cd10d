package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

// healths are those of subscriptions, whose backlogs are counted as far as most.
func (s *Server) healths(c *call, subscriptions []feedmill.Subscription, most int) (map[feedmill.ID]*client.SubscriptionHealth, error) {
	if len(subscriptions) == 0 {
		return nil, nil
	}
	ids := make([]feedmill.ID, len(subscriptions))
	for i, sub := range subscriptions {
		ids[i] = sub.ID
	}
	backlogs, err := s.Store.Backlogs(c.ctx(), ids, most+1)
	if err != nil {
		return nil, err
	}
	if err := s.countRetries(c, backlogs, most); err != nil {
		return nil, err
	}
	totals, err := s.Dispatcher.Totals(c.ctx(), ids, now().Add(-feedmill.HealthTime))
	if err != nil {
		return nil, err
	}
	breakers, err := s.breakers(c.ctx(), ids)
	if err != nil {
		return nil, err
	}
	found := make(map[feedmill.ID]*client.SubscriptionHealth, len(ids))
	for _, id := range ids {
		b := backlogs[id]
		v := &client.SubscriptionHealth{Backlog: min(b.Pending, most+1) + min(b.Retrying, most+1), OldestPendingAt: b.Oldest, Breaker: breakers[id]}
		if v.BacklogAtLeast = v.Backlog > most; v.BacklogAtLeast {
			v.Backlog = most
		}
		if share, tried := feedmill.SuccessShare(totals[id], b.Retrying); tried {
			v.SuccessShare = &share
		}
		found[id] = v
	}
	return found, nil
}

// countTroubles counts the subscriptions that somebody should look at.
func (s *Server) countTroubles(c *call) (map[feedmill.SubscriptionTrouble]int64, error) {
	newest, err := s.Store.SubscriptionStandings(c.ctx(), c.who.Workspace, feedmill.MaxCountedTroubles)
	if err != nil {
		return nil, err
	}
	ids := make([]feedmill.ID, len(newest))
	for i, sub := range newest {
		ids[i] = sub.ID
	}
	breakers, err := s.breakers(c.ctx(), ids)
	if err != nil {
		return nil, err
	}
	counts := make(map[feedmill.SubscriptionTrouble]int64)
	for _, sub := range newest {
		switch sub.State {
		case feedmill.SubscriptionDisabled:
			if sub.DisabledReason != feedmill.DisabledByUser {
				counts[feedmill.TroubleDisabled]++
			}
		case feedmill.SubscriptionActive:
			if b := breakers[sub.ID]; b == feedmill.BreakerOpen || b == feedmill.BreakerHalfOpen {
				counts[feedmill.TroubleFailing]++
			}
		}
	}
	return counts, nil
}

// maxRecounted bounds how many retries a list counts beyond those of its backlogs.
const maxRecounted = 5 * feedmill.MaxCountedBacklog

// countRetries counts retries as far as the answer about one subscription does where a list
// has stopped before: the share of successes that is made of them is the same in both. Where
// very many subscriptions have that many, each is counted less far.
func (s *Server) countRetries(c *call, backlogs map[feedmill.ID]feedmill.SubscriptionBacklog, most int) error {
	var over []feedmill.ID
	for id, b := range backlogs {
		if b.Retrying > most {
			over = append(over, id)
		}
	}
	if len(over) == 0 || most >= feedmill.MaxCountedBacklog {
		return nil
	}
	found, err := s.Store.Backlogs(c.ctx(), over, min(max(maxRecounted/len(over), most), feedmill.MaxCountedBacklog)+1)
	for id, b := range found {
		b.Pending = backlogs[id].Pending
		backlogs[id] = b
	}
	return err
}

// disablingAt is when failures disable a subscription that go on; zero where none do.
func disablingAt(sub feedmill.Subscription) time.Time {
	patience, ends := sub.Delivery.Patience()
	if !ends || sub.FailingSince.IsZero() || sub.State != feedmill.SubscriptionActive {
		return time.Time{}
	}
	return sub.FailingSince.Add(patience)
}

// overlapUntil is when a rotation's new secret alone signs; zero where none is under
// way.
func (s *Server) overlapUntil(c *call, sub feedmill.Subscription) (time.Time, error) {
	plain, err := s.Vault.Unseal(c.ctx(), sub.Secrets, sub.SecretsRecord())
	if err != nil {
		return time.Time{}, err
	}
	var secrets feedmill.SigningSecrets
	if err := json.Unmarshal(plain, &secrets); err != nil {
		return time.Time{}, fmt.Errorf("reading the secrets of %s: %w", sub.ID, err)
	}
	if secrets = secrets.At(now()); secrets.Next == "" {
		return time.Time{}, nil
	}
	return secrets.SwitchAt, nil
}

// hastenStep is how many deliveries are made due in one transaction.
const hastenStep = 1000

type hastenedView struct {
	Due int `json:"due"`
}

// retrySubscription makes everything due now that waits for its next attempt. To
// repeat it does no harm: what one that was broken off has done stays.
func (s *Server) retrySubscription(c *call) (answer, error) {
	sub, err := s.subscription(c)
	if err != nil {
		return answer{}, err
	}
	if err := refuseDisabled(sub); err != nil {
		return answer{}, err
	}
	at, due := now(), 0
	// The first step alone is audited: all of them are one change.
	for ctx := c.ctx(); ; ctx = feedmill.WithoutAudit(ctx) {
		n, err := s.Store.HastenRetries(ctx, sub.ID, at, hastenStep)
		if err != nil {
			return answer{}, err
		}
		if due += n; n < hastenStep {
			break
		}
	}
	// Whoever retries by hand has reason to think that the endpoint is back.
	s.Dispatcher.Changed(sub.ID)
	return jsonAnswer(http.StatusAccepted, hastenedView{due}), nil
}

func refuseDisabled(sub feedmill.Subscription) error {
	if sub.State != feedmill.SubscriptionDisabled {
		return nil
	}
	return &feedmill.Error{
		Kind: feedmill.ErrConflict, Type: "subscription-disabled",
		Detail: `The subscription is disabled. PATCH it with {"state":"active"} first.`,
	}
}
