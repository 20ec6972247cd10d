package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
)

// successStep is how far LastSuccessAt may trail, so that a busy subscription
// is not written for each of its deliveries.
const successStep = time.Minute

// Settle writes outcomes, each with its attempt, and what they mean for their
// subscriptions.
func (db *DB) Settle(ctx context.Context, outcomes []feedmill.Outcome, budget int) ([]feedmill.DueDelivery, error) {
	var due []feedmill.DueDelivery
	err := db.writeRepeatable(ctx, func(tx *tx) error {
		due = nil
		succeeded := make(map[feedmill.ID]time.Time)
		for _, o := range outcomes {
			if err := tx.settleDelivery(o); err != nil {
				return err
			}
			fresh, err := tx.settleSubscription(o, succeeded, budget)
			if err != nil {
				return err
			}
			due = append(due, fresh...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return due, nil
}

// settleDelivery writes the attempt and, where the delivery is still open, what
// became of it.
func (t *tx) settleDelivery(o feedmill.Outcome) error {
	if done, err := t.settleExpected(o); done || err != nil {
		return err
	}
	var (
		seq, attempts, due int64
		state              feedmill.DeliveryState
	)
	err := t.row(`SELECT seq, state, attempts, due_at FROM deliveries WHERE id = ?`, string(o.Delivery)).
		Scan(&seq, (*storedState)(&state), &attempts, &due)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return translate(err)
	}
	if o.Attempt != nil {
		attempts++
		if err := t.insertAttempt(seq, attempts, *o.Attempt); err != nil {
			return err
		}
	}
	if o.State == feedmill.DeliveryDelivered && state == feedmill.DeliveryDiscarded {
		state = feedmill.DeliveryPending // it arrived before its subscription ended
	}
	if !state.Open() {
		_, err := t.exec(`UPDATE deliveries SET attempts = ? WHERE seq = ?`, attempts, seq)
		return err
	}
	var ended sql.NullInt64
	if !o.State.Open() {
		ended = toMillis(o.At)
	} else if !o.DueAt.IsZero() {
		due = o.DueAt.UnixMilli()
	}
	_, err = t.exec(`UPDATE deliveries SET state = ?, reason = ?, attempts = ?, due_at = ?, ended_at = ? WHERE seq = ?`,
		stateNumber(o.State), o.Reason, attempts, due, ended, seq)
	return err
}

// settleExpected writes an outcome of the attempt that comes next, of a delivery
// that is open: the common case, without reading it first. It reports whether
// that was the case.
func (t *tx) settleExpected(o feedmill.Outcome) (bool, error) {
	if o.Seq == 0 || o.Attempt == nil {
		return false, nil
	}
	var ended sql.NullInt64
	if !o.State.Open() {
		ended = toMillis(o.At)
	}
	n, err := t.exec(`UPDATE deliveries SET state = ?1, reason = ?2, attempts = ?3, due_at = coalesce(?4, due_at), ended_at = ?5
		WHERE seq = ?6 AND id = ?7 AND state <= 1 AND attempts = ?3 - 1`,
		stateNumber(o.State), o.Reason, o.Attempt.Number, toMillis(o.DueAt), ended, o.Seq, string(o.Delivery))
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.insertAttempt(o.Seq, int64(o.Attempt.Number), *o.Attempt)
}

// settleSubscription writes what an outcome means for its subscription and
// accepts the notice that belongs to it. succeeded holds the successes that
// this transaction has noted.
func (t *tx) settleSubscription(o feedmill.Outcome, succeeded map[feedmill.ID]time.Time, budget int) ([]feedmill.DueDelivery, error) {
	if noted, ok := succeeded[o.Subscription]; o.Succeeded && (!ok || o.At.Sub(noted) >= successStep) {
		if _, err := t.exec(`UPDATE subscriptions SET last_success_at = max(coalesce(last_success_at, ?1), ?1), warned_at = NULL
			WHERE id = ?2 AND (last_success_at IS NULL OR last_success_at <= ?3 OR warned_at IS NOT NULL)`,
			o.At.UnixMilli(), string(o.Subscription), o.At.Add(-successStep).UnixMilli()); err != nil {
			return nil, err
		}
		succeeded[o.Subscription] = o.At
	}
	changed := true
	if o.Warn {
		n, err := t.exec(`UPDATE subscriptions SET warned_at = ? WHERE id = ? AND warned_at IS NULL AND deleted_at IS NULL`,
			toMillis(o.At), o.Subscription)
		if err != nil {
			return nil, err
		}
		changed = n == 1
		delete(succeeded, o.Subscription)
	}
	if o.Disable != "" {
		var err error
		if changed, err = t.disable(o); err != nil {
			return nil, err
		}
	}
	if o.Notice == nil || !changed {
		return nil, nil
	}
	_, due, err := t.accept([]feedmill.Event{*o.Notice}, budget)
	return due, err
}

// disable disables the subscription of an outcome and reports whether it was
// not at its end already.
func (t *tx) disable(o feedmill.Outcome) (bool, error) {
	n, err := t.exec(`UPDATE subscriptions SET state = ?1, disabled_reason = ?2, updated_at = ?3
		WHERE id = ?4 AND state <> ?1 AND deleted_at IS NULL
		AND (?2 <> ?5 OR (state = ?6 AND max(coalesce(last_success_at, 0), created_at) <= ?7))`,
		string(feedmill.SubscriptionDisabled), o.Disable, toMillis(o.At), o.Subscription,
		feedmill.DisabledFailing, string(feedmill.SubscriptionActive), toMillis(o.At.Add(-feedmill.DisableAfter)))
	if err != nil || n == 0 {
		return false, err
	}
	if _, err := t.exec(`UPDATE subscription_topics SET disabled = 1 WHERE subscription_id = ?`, o.Subscription); err != nil {
		return false, err
	}
	_, err = t.discardOpen(o.Subscription, becauseDisabled, o.At, feedmill.DiscardStep)
	return true, err
}
