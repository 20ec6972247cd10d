package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// AddTopics makes events find new subscriptions.
func (t recordTx) AddTopics(ctx context.Context, subs []feedmill.Subscription) error {
	for _, s := range subs {
		if err := t.SetTopics(ctx, nil, s); err != nil {
			return err
		}
	}
	return nil
}

// SetTopics makes events find the subscription, in place of what found the old
// one, and puts its open deliveries in order where they have not been before.
func (t recordTx) SetTopics(_ context.Context, old *feedmill.Subscription, s feedmill.Subscription) error {
	if old != nil && s.Delivery.Ordered && !old.Delivery.Ordered {
		if err := t.orderFrom(s.ID); err != nil {
			return err
		}
	}
	if record.SameTopics(old, s) {
		t.forgetMatches()
		_, err := t.exec(`UPDATE subscription_topics SET disabled = ?, ordered = ?, attempts = ? WHERE subscription_id = ?`,
			s.State == feedmill.SubscriptionDisabled, s.Delivery.Ordered, s.Delivery.Attempts(0), s.ID)
		return err
	}
	filter := ""
	if old != nil {
		filter = old.Filter
	}
	if err := t.removeTopics(s.ID, filter); err != nil {
		return err
	}
	if old != nil && old.State == feedmill.SubscriptionDisabled {
		if err := t.wasDisabled(s.ID); err != nil {
			return err
		}
	}
	since, err := t.moment()
	if err != nil {
		return err
	}
	for topic, resource := range s.Topics() {
		if _, err := t.exec(`INSERT INTO subscription_topics (workspace_id, topic, resource_id, subscription_id, disabled, ordered, attempts, since)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			s.Workspace, topic, resource, s.ID, s.State == feedmill.SubscriptionDisabled, s.Delivery.Ordered, s.Delivery.Attempts(0), since); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) removeTopics(subscription feedmill.ID, filter string) error {
	t.forgetMatches()
	if err := t.keepFormerTopics(subscription, filter); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM subscription_topics WHERE subscription_id = ?`, subscription)
	return err
}

// ForgetSubscription makes no event find a subscription that is deleted, and discards the
// first of its open deliveries.
func (t recordTx) ForgetSubscription(_ context.Context, id feedmill.ID, at time.Time) error {
	var filter string
	if err := t.row(`SELECT filter FROM subscriptions WHERE id = ?`, id).Scan(&filter); err != nil {
		return translate(err)
	}
	if err := t.removeTopics(id, filter); err != nil {
		return err
	}
	_, err := t.discardOpen(id, feedmill.DiscardedDeleted, at, feedmill.DiscardStep)
	return err
}
