package sqlite

import (
	"context"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

const subscriptionColumns = `id, workspace_id, name, url, events, method, resource_id, state, disabled_reason,
	timeout_ms, rate_limit, rate_per_ms, concurrency, ordered, secrets, headers, header_names,
	created_at, updated_at, deleted_at, last_success_at, warned_at, listen_until`

var scanSubscription = scanner(record.Subscription)

// setTopics makes events find the subscription, in place of what found it before.
func (t *tx) setTopics(s feedmill.Subscription) error {
	clear(t.matches)
	if _, err := t.exec(`DELETE FROM subscription_topics WHERE subscription_id = ?`, s.ID); err != nil {
		return err
	}
	for topic, resource := range s.Topics() {
		if _, err := t.exec(`INSERT INTO subscription_topics (workspace_id, topic, resource_id, subscription_id, disabled, ordered)
			VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			s.Workspace, topic, resource, s.ID, s.State == feedmill.SubscriptionDisabled, s.Delivery.Ordered); err != nil {
			return err
		}
	}
	return nil
}

// CreateSubscriptions adds all of them or none. With most, which is for
// subscriptions or for listeners and not for both together, their workspace has
// no more than that in the end; else that is a feedmill.QuotaError.
func (db *DB) CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.keepResponse(response); err != nil {
			return err
		}
		if err := tx.checkQuota(subs, most); err != nil {
			return err
		}
		for _, s := range subs {
			if _, err := tx.exec(`INSERT INTO subscriptions (`+subscriptionColumns+`)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, record.Subscription(&s, kinds{})...); err != nil {
				return err
			}
			if err := tx.setTopics(s); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) checkQuota(subs []feedmill.Subscription, most int) error {
	if most <= 0 || len(subs) == 0 {
		return nil
	}
	kind := `listen_until IS NULL`
	if subs[0].Listening() {
		kind = `listen_until IS NOT NULL`
	}
	var n int
	err := t.row(`SELECT count(*) FROM subscriptions WHERE workspace_id = ? AND deleted_at IS NULL AND `+kind, subs[0].Workspace).Scan(&n)
	if err == nil && n+len(subs) > most {
		return &feedmill.QuotaError{Left: max(most-n, 0)}
	}
	return translate(err)
}

const liveSubscription = `SELECT ` + subscriptionColumns + ` FROM subscriptions
	WHERE id = ? AND workspace_id = ? AND deleted_at IS NULL AND listen_until IS NULL`

// Subscription finds one that is not deleted.
func (db *DB) Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error) {
	return scanSubscription(db.row(ctx, liveSubscription, id, workspace))
}

// SubscriptionForDelivery finds one in any workspace, deleted or not.
func (db *DB) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	return scanSubscription(db.row(ctx, `SELECT `+subscriptionColumns+` FROM subscriptions WHERE id = ?`, id))
}

// Subscriptions lists those that are not deleted, newest first.
func (db *DB) Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error) {
	rows, err := db.rows(ctx, `SELECT `+subscriptionColumns+` FROM subscriptions
		WHERE workspace_id = ? AND deleted_at IS NULL AND listen_until IS NULL AND id < ? ORDER BY id DESC LIMIT ?`,
		workspace, before(p, feedmill.PrefixSubscription), p.Limit)
	return all(rows, err, scanSubscription)
}

// ChangeSubscription changes one that is not deleted, alone with it.
func (db *DB) ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (feedmill.Subscription, error) {
	var s feedmill.Subscription
	err := db.write(ctx, func(tx *tx) error {
		old, err := scanSubscription(tx.row(liveSubscription, id, workspace))
		if err != nil {
			return err
		}
		s = old
		response, err := change(&s)
		if err != nil {
			return err
		}
		record.KeepSubscription(&s, old)
		if err := tx.keepResponse(response); err != nil {
			return err
		}
		if _, err := tx.exec(`UPDATE subscriptions SET name = ?, url = ?, events = ?, method = ?, resource_id = ?, state = ?, disabled_reason = ?,
			timeout_ms = ?, rate_limit = ?, rate_per_ms = ?, concurrency = ?, ordered = ?, secrets = ?, headers = ?, header_names = ?,
			updated_at = ?, last_success_at = ?, warned_at = ? WHERE id = ?`,
			s.Name, s.URL, strings.Join(s.Events, " "), s.Method, s.ResourceID, s.State, s.DisabledReason,
			s.Delivery.Timeout.Milliseconds(), s.Delivery.RateLimit, s.Delivery.RatePer.Milliseconds(), s.Delivery.Concurrency, s.Delivery.Ordered,
			s.Secrets, s.Headers, strings.Join(s.HeaderNames, " "),
			toMillis(s.UpdatedAt), toMillis(s.LastSuccessAt), toMillis(s.WarnedAt), s.ID); err != nil {
			return err
		}
		if err := tx.setTopics(s); err != nil {
			return err
		}
		if s.Delivery.Ordered && !old.Delivery.Ordered {
			if err := tx.orderFrom(s.ID); err != nil {
				return err
			}
		}
		if s.State != feedmill.SubscriptionDisabled || old.State == feedmill.SubscriptionDisabled {
			return nil
		}
		_, err = tx.discardOpen(s.ID, reasonDisabled, s.UpdatedAt, feedmill.DiscardStep)
		return err
	})
	if err != nil {
		return feedmill.Subscription{}, err
	}
	return s, nil
}

// DeleteSubscription deletes one and discards up to feedmill.DiscardStep of
// its open deliveries.
func (db *DB) DeleteSubscription(ctx context.Context, workspace, id feedmill.ID, at time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`UPDATE subscriptions SET deleted_at = ? WHERE id = ? AND workspace_id = ? AND deleted_at IS NULL AND listen_until IS NULL`,
			toMillis(at), id, workspace)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedmill.ErrNotFound
		}
		return tx.forgetSubscription(id, at)
	})
}

// forgetSubscription makes no event find a subscription that is deleted, and discards the
// first of its open deliveries.
func (t *tx) forgetSubscription(id feedmill.ID, at time.Time) error {
	clear(t.matches)
	if _, err := t.exec(`DELETE FROM subscription_topics WHERE subscription_id = ?`, id); err != nil {
		return err
	}
	_, err := t.discardOpen(id, reasonDeleted, at, feedmill.DiscardStep)
	return err
}
