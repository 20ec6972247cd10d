package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// SubscriptionForDelivery finds one in any workspace, deleted or not.
func (db *DB) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	return db.often.SubscriptionForDelivery(ctx, id)
}

// SetTopics makes events find a subscription, in place of what found the old one.
func (t recordTx) SetTopics(ctx context.Context, old *feedmill.Subscription, s feedmill.Subscription) error {
	wasDisabled := old != nil && old.State == feedmill.SubscriptionDisabled
	if old != nil && s.ResourceID == old.ResourceID && slices.Equal(s.Events, old.Events) && (!wasDisabled || s.State == feedmill.SubscriptionDisabled) {
		return nil
	}
	if old != nil {
		if err := t.tx.keepFormerTopics(ctx, s.ID, wasDisabled); err != nil {
			return err
		}
	}
	names, resources := []string{}, []string{}
	for name, resource := range s.Topics() {
		names, resources = append(names, name), append(resources, resource)
	}
	return t.tx.send(ctx, func(b *pgx.Batch) error {
		b.Queue(`DELETE FROM subscription_topics WHERE subscription_id = $1`, s.ID)
		b.Queue(`INSERT INTO subscription_topics (workspace_id, topic, resource_id, subscription_id)
			SELECT DISTINCT $1, t.topic, t.resource, $2 FROM unnest($3::text[], $4::text[]) t (topic, resource)`, s.Workspace, s.ID, names, resources)
		return nil
	})
}

// ForgetSubscription makes no event find a subscription that is deleted, and discards the
// first of its open deliveries.
func (t recordTx) ForgetSubscription(ctx context.Context, id feedmill.ID, at time.Time) error {
	if err := t.tx.keepFormerTopics(ctx, id, false); err != nil {
		return err
	}
	if _, err := t.tx.exec(ctx, `DELETE FROM subscription_topics WHERE subscription_id = $1`, id); err != nil {
		return err
	}
	_, err := t.tx.discardOpen(ctx, id, reasonDeleted, at, feedmill.DiscardStep)
	return err
}
