package record

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
)

// subscriptions reads those that where finds.
func (s Store) subscriptions(where string) string {
	return `SELECT ` + s.d.SubscriptionColumns + ` FROM subscriptions WHERE ` + where
}

// live are subscriptions that are not deleted and no listeners, and listening
// are listeners.
const (
	live      = `deleted_at IS NULL AND listen_until IS NULL`
	listening = `deleted_at IS NULL AND listen_until IS NOT NULL`
)

// subscriptionValues are the values of a subscription. A list without elements
// is not NULL.
func (s Store) subscriptionValues(sub feedmill.Subscription) []any {
	if sub.Events == nil {
		sub.Events = []string{}
	}
	sub.FilterKey = feedmill.FilterKey(sub.Filter)
	return Subscription(&sub, s.d)
}

// CreateSubscriptions adds all of them or none. A workspace that is not there
// is feedmill.ErrNotFound. With most, which is for subscriptions or for listeners
// and not for both together, their workspace has no more than that in the end;
// else that is a feedmill.QuotaError. A quota of the workspace replaces most for subscriptions.
func (s Store) CreateSubscriptions(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) error {
	return s.CreateAll(ctx, []Creation{s.NewCreation(ctx, subs, most, response)})
}

// Creation is a call of [Store.CreateSubscriptions].
type Creation struct {
	subs     []feedmill.Subscription
	most     int
	response *feedmill.IdempotentResponse
	audit    []Statement
}

// Len is how many subscriptions are created.
func (c Creation) Len() int { return len(c.subs) }

// NewCreation is a call that is audited as ctx says.
func (s Store) NewCreation(ctx context.Context, subs []feedmill.Subscription, most int, response *feedmill.IdempotentResponse) Creation {
	c := Creation{subs: subs, most: most, response: response}
	for _, sub := range subs {
		c.audit = append(c.audit, Audited(ctx, s.d, sub.Workspace, sub.ID)...)
	}
	return c
}

// CreateAll does all calls in one transaction, or none of them.
func (s Store) CreateAll(ctx context.Context, calls []Creation) error {
	// Everybody locks workspaces in this order.
	calls = slices.DeleteFunc(slices.Clone(calls), func(c Creation) bool { return len(c.subs) == 0 })
	slices.SortStableFunc(calls, func(a, b Creation) int { return cmp.Compare(a.subs[0].Workspace, b.subs[0].Workspace) })
	return s.db.Write(ctx, func(tx Tx) error {
		var subs []feedmill.Subscription
		var made []Statement
		for _, c := range calls {
			if err := tx.KeepResponse(ctx, c.response); err != nil {
				return err
			}
			for _, sub := range c.subs {
				made = append(made, insert("subscriptions", s.d.SubscriptionColumns, s.subscriptionValues(sub)...))
			}
			subs, made = append(subs, c.subs...), append(made, c.audit...)
		}
		if err := s.checkQuotas(ctx, tx, calls); err != nil {
			return err
		}
		if err := tx.Send(ctx, made...); err != nil {
			return err
		}
		return tx.AddTopics(ctx, subs)
	})
}

// checkQuotas counts what the workspaces of calls have, each once.
func (s Store) checkQuotas(ctx context.Context, tx Tx, calls []Creation) error {
	type counted struct {
		workspace feedmill.ID
		kind      string
	}
	counts := make(map[counted]int)
	for _, c := range calls {
		of, most, limited := counted{c.subs[0].Workspace, live}, c.most, false
		if c.subs[0].Listening() {
			of.kind = listening
		} else if own, err := s.subscriptionQuota(ctx, tx, of.workspace); err != nil {
			return err
		} else if own != nil {
			most, limited = *own, true
		}
		if most <= 0 && !limited {
			continue
		}
		n, known := counts[of]
		if !known {
			var err error
			if n, err = s.countSubscriptions(ctx, tx, of.workspace, of.kind); err != nil {
				return err
			}
		}
		if counts[of] = n + len(c.subs); counts[of] > most {
			return &feedmill.QuotaError{Left: max(most-n, 0), Most: most}
		}
	}
	return nil
}

// subscriptionQuota is how many subscriptions a workspace may have by a quota of its own, nil
// without one.
func (s Store) subscriptionQuota(ctx context.Context, tx Tx, workspace feedmill.ID) (*int, error) {
	var q feedmill.Quotas
	err := tx.One(ctx, `SELECT quotas FROM workspaces WHERE id = ?1`, []any{workspace}, JSON(&q))
	if errors.Is(err, feedmill.ErrNotFound) {
		return nil, nil // what the insert reports
	}
	return q.Subscriptions, err
}

// countSubscriptions counts those of a workspace that are of a kind.
func (s Store) countSubscriptions(ctx context.Context, tx Tx, workspace feedmill.ID, kind string) (n int, err error) {
	// Whoever counts after this lock sees what was added under it.
	if s.d.LockWorkspace != "" {
		if _, err := tx.Run(ctx, s.d.LockWorkspace, workspace); err != nil {
			return 0, err
		}
	}
	err = tx.One(ctx, `SELECT count(*) FROM subscriptions WHERE workspace_id = ?1 AND `+kind, []any{workspace}, &n)
	return n, err
}

// Subscription finds one that is not deleted.
func (s Store) Subscription(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error) {
	return one(ctx, s.db, s, Subscription, s.subscriptions(`id = ?1 AND workspace_id = ?2 AND `+live), id, workspace)
}

// Listener finds a listener that is not deleted.
func (s Store) Listener(ctx context.Context, workspace, id feedmill.ID) (feedmill.Subscription, error) {
	return one(ctx, s.db, s, Subscription, s.subscriptions(`id = ?1 AND workspace_id = ?2 AND `+listening), id, workspace)
}

// SubscriptionForDelivery finds one in any workspace, deleted or not.
func (s Store) SubscriptionForDelivery(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	return one(ctx, s.db, s, Subscription, s.subscriptions(`id = ?1`), id)
}

// SubscriptionsForDelivery are those of some ids that are there, in any workspace,
// deleted or not.
func (s Store) SubscriptionsForDelivery(ctx context.Context, ids []feedmill.ID) ([]feedmill.Subscription, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	places, args := placesOf(ids, nil)
	return list(ctx, s.db, s, Subscription, s.subscriptions(`id IN (`+places+`)`), args...)
}

// Subscriptions lists those that are not deleted, newest first.
func (s Store) Subscriptions(ctx context.Context, workspace feedmill.ID, p feedmill.Page) ([]feedmill.Subscription, error) {
	return list(ctx, s.db, s, Subscription, s.subscriptions(`workspace_id = ?1 AND `+live+` AND id < ?2 ORDER BY id DESC LIMIT ?3`),
		workspace, before(p, feedmill.PrefixSubscription), p.Limit)
}

// FilteredSubscriptions are up to limit of a workspace that have a filter and are not deleted.
func (s Store) FilteredSubscriptions(ctx context.Context, workspace feedmill.ID, limit int) ([]feedmill.Subscription, error) {
	return list(ctx, s.db, s, Subscription, s.subscriptions(`workspace_id = ?1 AND filter_key <> 0 AND deleted_at IS NULL ORDER BY id LIMIT ?2`), workspace, limit)
}

// SubscriptionStandings are those of the newest subscriptions that are not deleted, up to limit.
func (s Store) SubscriptionStandings(ctx context.Context, workspace feedmill.ID, limit int) ([]feedmill.SubscriptionStanding, error) {
	fields := func(v *feedmill.SubscriptionStanding, _ Kinds) []any {
		return []any{&v.ID, &v.State, &v.DisabledReason}
	}
	return list(ctx, s.db, s, fields, `SELECT id, state, disabled_reason FROM subscriptions WHERE workspace_id = ?1 AND `+live+` ORDER BY id DESC LIMIT ?2`, workspace, limit)
}

// StoredSubscriptions are up to limit of all workspaces, deleted ones and listeners
// among them, behind an id and in the order of their ids.
func (s Store) StoredSubscriptions(ctx context.Context, after feedmill.ID, limit int) ([]feedmill.Subscription, error) {
	return list(ctx, s.db, s, Subscription, s.subscriptions(`id > ?1 ORDER BY id LIMIT ?2`), after, limit)
}

// ReplaceURLs writes URLs in another form, where they are what they were. The
// changes are in the order of their ids, as everybody locks subscriptions.
func (s Store) ReplaceURLs(ctx context.Context, changes []feedmill.URLChange) error {
	return s.db.Write(ctx, func(tx Tx) error {
		statements := make([]Statement, len(changes))
		for i, c := range changes {
			statements[i] = Statement{`UPDATE subscriptions SET url = ?1 WHERE id = ?2 AND url = ?3`, []any{c.To, c.Subscription, c.From}}
		}
		return tx.Send(ctx, statements...)
	})
}

// ChangeSubscription changes one that is not deleted, alone with it. An error
// of change leaves everything as it was. One that becomes disabled has the
// first of its open deliveries discarded with it.
func (s Store) ChangeSubscription(ctx context.Context, workspace, id feedmill.ID, change func(*feedmill.Subscription) (*feedmill.IdempotentResponse, error)) (sub feedmill.Subscription, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		old, err := one(ctx, tx, s, Subscription, s.subscriptions(`id = ?1 AND workspace_id = ?2 AND `+live+s.d.ForUpdate), id, workspace)
		if err != nil {
			return err
		}
		sub = old
		sub.Events = slices.Clone(old.Events)
		response, err := change(&sub)
		if err != nil {
			return err
		}
		KeepSubscription(&sub, old)
		if err := tx.KeepResponse(ctx, response); err != nil {
			return err
		}
		// A change of the id, even to itself, would be looked for in all that refers to it.
		_, columns, _ := strings.Cut(s.d.SubscriptionColumns, ",")
		changed := []Statement{update("subscriptions", columns, s.subscriptionValues(sub)[1:], sub.Workspace, id)}
		if err := tx.Send(ctx, append(changed, Audited(ctx, s.d, workspace, id)...)...); err != nil {
			return err
		}
		if err := tx.SetTopics(ctx, &old, sub); err != nil {
			return err
		}
		if sub.State != feedmill.SubscriptionDisabled || old.State == feedmill.SubscriptionDisabled {
			return nil
		}
		return tx.DiscardDisabled(ctx, sub)
	})
	if err != nil {
		return feedmill.Subscription{}, err
	}
	return sub, nil
}

// SameTopics reports whether events find a subscription as they found the old one,
// nil where there was none. One that is active again is found anew: what was
// promised before is not for it, as it has been disabled since.
func SameTopics(old *feedmill.Subscription, s feedmill.Subscription) bool {
	if old == nil || s.ResourceID != old.ResourceID || s.Filter != old.Filter || !slices.Equal(s.Events, old.Events) {
		return false
	}
	return old.State != feedmill.SubscriptionDisabled || s.State == feedmill.SubscriptionDisabled
}

// DeleteSubscription deletes one and discards the first of its open deliveries.
// The record stays for its deliveries. An event that is being accepted at the
// same moment may still find the subscription; its delivery is open until
// DiscardOpen is called again.
func (s Store) DeleteSubscription(ctx context.Context, workspace, id feedmill.ID, at time.Time) error {
	return s.deleteSubscription(ctx, live, workspace, id, at)
}

// DeleteListener deletes one as DeleteSubscription does.
func (s Store) DeleteListener(ctx context.Context, workspace, id feedmill.ID, at time.Time) error {
	return s.deleteSubscription(ctx, listening, workspace, id, at)
}

func (s Store) deleteSubscription(ctx context.Context, kind string, workspace, id feedmill.ID, at time.Time) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE subscriptions SET deleted_at = ?1 WHERE id = ?2 AND workspace_id = ?3 AND `+kind, s.time(at), id, workspace)
		if err := orNone(n, err, feedmill.ErrNotFound); err != nil {
			return err
		}
		if err := tx.Send(ctx, Audited(ctx, s.d, workspace, id)...); err != nil {
			return err
		}
		return tx.ForgetSubscription(ctx, id, at)
	})
}

// ExtendListener moves the end of a listener, never to an earlier time.
func (s Store) ExtendListener(ctx context.Context, id feedmill.ID, until time.Time) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE subscriptions SET listen_until = CASE WHEN listen_until < ?1 THEN ?1 ELSE listen_until END
			WHERE id = ?2 AND `+listening, s.time(until), id)
		return orNone(n, err, feedmill.ErrNotFound)
	})
}
