package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

const subscriptionColumns = `id, workspace_id, name, url, events, method, resource_id, state, disabled_reason,
	timeout, rate_limit, rate_per, concurrency, ordered, secrets, headers, header_names,
	created_at, updated_at, deleted_at, last_success_at, warned_at, listen_until`

var scanSubscription = scanner(record.Subscription)

// subscriptionValues are the values of subscriptionColumns.
func subscriptionValues(s feedmill.Subscription) []any {
	s.Events = notNil(s.Events)
	return record.Subscription(&s, kinds{})
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// CreateSubscriptions adds all of them or none. A workspace that is not there
// is feedmill.ErrNotFound. With most, which is for subscriptions or for listeners
// and not for both together, their workspace has no more than that in the end;
// else that is a feedmill.QuotaError.
func (db *DB) CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx tx) error {
		if err := tx.keepResponse(ctx, response); err != nil {
			return err
		}
		if err := tx.checkQuota(ctx, subs, most); err != nil {
			return err
		}
		return tx.send(ctx, func(b *pgx.Batch) error {
			for _, s := range subs {
				b.Queue(`INSERT INTO subscriptions (`+subscriptionColumns+`) VALUES
					($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
					subscriptionValues(s)...)
				insertTopics(b, s)
			}
			return nil
		})
	})
}

func (t tx) checkQuota(ctx context.Context, subs []feedmill.Subscription, most int) error {
	if most <= 0 || len(subs) == 0 {
		return nil
	}
	// Whoever counts after this lock sees what was added under it. It stands in
	// the way of nobody who only refers to the workspace, as every event does.
	if _, err := t.exec(ctx, `SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE`, subs[0].Workspace); err != nil {
		return err
	}
	kind := `listen_until IS NULL`
	if subs[0].Listening() {
		kind = `listen_until IS NOT NULL`
	}
	var n int
	err := t.QueryRow(ctx, `SELECT count(*) FROM subscriptions WHERE workspace_id = $1 AND deleted_at IS NULL AND `+kind, subs[0].Workspace).Scan(&n)
	if err == nil && n+len(subs) > most {
		return &feedmill.QuotaError{Left: max(most-n, 0)}
	}
	return translate(err)
}

// insertTopics writes what a subscription is matched by.
func insertTopics(b *pgx.Batch, s feedmill.Subscription) {
	names, resources := []string{}, []string{}
	for name, resource := range s.Topics() {
		names, resources = append(names, name), append(resources, resource)
	}
	b.Queue(`INSERT INTO subscription_topics (workspace_id, topic, resource_id, subscription_id)
		SELECT DISTINCT $1, t.topic, t.resource, $2 FROM unnest($3::text[], $4::text[]) t (topic, resource)`, s.Workspace, s.ID, names, resources)
}

// Subscription finds one that is not deleted.
func (db *DB) Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error) {
	return scanSubscription(db.pool.QueryRow(ctx, `SELECT `+subscriptionColumns+` FROM subscriptions
		WHERE id = $1 AND workspace_id = $2 AND deleted_at IS NULL AND listen_until IS NULL`, id, workspace))
}

// SubscriptionForDelivery finds one in any workspace, deleted or not.
func (db *DB) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	return scanSubscription(db.steady.QueryRow(ctx, `SELECT `+subscriptionColumns+` FROM subscriptions WHERE id = $1`, id))
}

// Subscriptions lists those that are not deleted, newest first.
func (db *DB) Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error) {
	rows, err := db.rows(ctx, `SELECT `+subscriptionColumns+` FROM subscriptions
		WHERE workspace_id = $1 AND deleted_at IS NULL AND listen_until IS NULL AND ($2 = '' OR id < $2) ORDER BY id DESC LIMIT $3`,
		workspace, p.Before, p.Limit)
	return all(rows, err, scanSubscription)
}

// ChangeSubscription changes one that is not deleted, alone with it. An error
// of change leaves everything as it was. One that becomes disabled has the
// first of its open deliveries discarded with it.
func (db *DB) ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (s feedmill.Subscription, err error) {
	err = db.write(ctx, func(tx tx) error {
		old, err := scanSubscription(tx.QueryRow(ctx, `SELECT `+subscriptionColumns+` FROM subscriptions
			WHERE id = $1 AND workspace_id = $2 AND deleted_at IS NULL AND listen_until IS NULL FOR UPDATE`, id, workspace))
		if err != nil {
			return err
		}
		s = old
		s.Events = slices.Clone(old.Events)
		response, err := change(&s)
		if err != nil {
			return err
		}
		record.KeepSubscription(&s, old)
		if err := tx.keepResponse(ctx, response); err != nil {
			return err
		}
		if err := tx.updateSubscription(ctx, old, s); err != nil {
			return err
		}
		if s.State != feedmill.SubscriptionDisabled || old.State == feedmill.SubscriptionDisabled {
			return nil
		}
		_, err = tx.discardOpen(ctx, s.ID, reasonDisabled, s.UpdatedAt, feedmill.DiscardStep)
		return err
	})
	return s, err
}

// updateSubscription writes a subscription that was changed.
func (t tx) updateSubscription(ctx context.Context, old, s feedmill.Subscription) error {
	return t.send(ctx, func(b *pgx.Batch) error {
		b.Queue(`UPDATE subscriptions SET (`+subscriptionColumns+`) =
			($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) WHERE id = $1`,
			subscriptionValues(s)...)
		if s.ResourceID != old.ResourceID || !slices.Equal(s.Events, old.Events) {
			b.Queue(`DELETE FROM subscription_topics WHERE subscription_id = $1`, s.ID)
			insertTopics(b, s)
		}
		return nil
	})
}

// DeleteSubscription deletes one and discards the first of its open deliveries.
// The record stays for its deliveries. An event that is being accepted at the
// same moment may still find the subscription; its delivery is open until
// [DB.DiscardOpen] is called again.
func (db *DB) DeleteSubscription(ctx context.Context, workspace, id feedmill.ID, at time.Time) error {
	return db.write(ctx, func(tx tx) error {
		n, err := tx.exec(ctx, `UPDATE subscriptions SET deleted_at = $1
			WHERE id = $2 AND workspace_id = $3 AND deleted_at IS NULL AND listen_until IS NULL`, at, id, workspace)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedmill.ErrNotFound
		}
		return tx.forgetSubscription(ctx, id, at)
	})
}

// forgetSubscription makes no event find a subscription that is deleted, and discards the
// first of its open deliveries.
func (t tx) forgetSubscription(ctx context.Context, id feedmill.ID, at time.Time) error {
	if _, err := t.exec(ctx, `DELETE FROM subscription_topics WHERE subscription_id = $1`, id); err != nil {
		return err
	}
	_, err := t.discardOpen(ctx, id, reasonDeleted, at, feedmill.DiscardStep)
	return err
}
