package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// SubscriptionForDelivery finds one in any workspace, deleted or not.
func (db *DB) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	return db.often.SubscriptionForDelivery(ctx, id)
}

// SubscriptionsForDelivery are those of some ids that are there, in any workspace,
// deleted or not.
func (db *DB) SubscriptionsForDelivery(ctx context.Context, ids []feedmill.ID) ([]feedmill.Subscription, error) {
	return db.often.SubscriptionsForDelivery(ctx, ids)
}

// CreateSubscriptions adds all of them or none, as [record.Store.CreateSubscriptions] does.
// Calls that come together share a transaction: a workspace has one that creates
// subscriptions at a time.
func (db *DB) CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) error {
	return db.creations.do(ctx, db.NewCreation(ctx, subs, most, response))
}

// AddTopics makes events find new subscriptions.
func (t recordTx) AddTopics(ctx context.Context, subs []feedmill.Subscription) error {
	return t.tx.send(ctx, func(b *pgx.Batch) error {
		for _, s := range subs {
			b.Queue(changeTopics, s.Workspace)
			addTopics(b, s)
		}
		return nil
	})
}

// SetTopics makes events find a subscription, in place of what found the old one, and
// has its open deliveries put in order where they have not been before.
func (t recordTx) SetTopics(ctx context.Context, old *feedmill.Subscription, s feedmill.Subscription) error {
	if s.Delivery.Ordered && !old.Delivery.Ordered {
		if err := t.tx.orderFrom(ctx, s.ID); err != nil {
			return err
		}
	}
	if record.SameTopics(old, s) {
		return nil
	}
	return t.tx.send(ctx, func(b *pgx.Batch) error {
		b.Queue(changeTopics, s.Workspace)
		removeTopics(b, s.ID, old.State == feedmill.SubscriptionDisabled, old.Filter)
		addTopics(b, s)
		return nil
	})
}

func addTopics(b *pgx.Batch, s feedmill.Subscription) {
	names, resources := []string{}, []string{}
	for name, resource := range s.Topics() {
		names, resources = append(names, name), append(resources, resource)
	}
	b.Queue(`INSERT INTO subscription_topics (workspace_id, topic, resource_id, subscription_id)
		SELECT DISTINCT $1, t.topic, t.resource, $2 FROM unnest($3::text[], $4::text[]) t (topic, resource)`, s.Workspace, s.ID, names, resources)
}

// ForgetSubscription makes no event find a subscription that is deleted, and discards the
// first of its open deliveries.
func (t recordTx) ForgetSubscription(ctx context.Context, id feedmill.ID, at time.Time) error {
	var workspace feedmill.ID
	var filter string
	if err := t.One(ctx, `SELECT workspace_id, filter FROM subscriptions WHERE id = ?1`, []any{id}, &workspace, &filter); err != nil {
		return err
	}
	err := t.tx.send(ctx, func(b *pgx.Batch) error {
		b.Queue(changeTopics, workspace)
		removeTopics(b, id, false, filter)
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.tx.discardOpen(ctx, id, feedmill.DiscardedDeleted, at, feedmill.DiscardStep)
	return err
}
