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
func (db *DB) Settle(ctx context.Context, outcomes []feedmill.Outcome, maxAttempts int) ([]feedmill.DueDelivery, error) {
	var due []feedmill.DueDelivery
	err := db.writeRepeatable(ctx, func(tx *tx) error {
		due = nil
		attempts := make([]tried, 0, len(outcomes))
		if err := tx.settleDeliveries(outcomes, &attempts); err != nil {
			return err
		}
		succeeded := make(map[feedmill.ID]time.Time)
		for _, o := range outcomes {
			fresh, err := tx.settleSubscription(o, succeeded, maxAttempts)
			if err != nil {
				return err
			}
			due = append(due, fresh...)
		}
		return tx.insertAttempts(attempts)
	})
	if err != nil {
		return nil, err
	}
	return due, nil
}

// settleExpected writes an outcome of the attempt that comes next, of a delivery
// that is open: the common case, without reading it first.
const settleExpected = `UPDATE deliveries SET state = ?1, reason = ?2, attempts = ?3, at = coalesce(?4, at)
	WHERE seq = ?5 AND id = ?6 AND (state = 2 OR state = 4) AND attempts = ?3 - 1`

// settleDeliveries writes what became of deliveries and adds the attempts to
// those to write.
func (t *tx) settleDeliveries(outcomes []feedmill.Outcome, attempts *[]tried) error {
	v := &t.settling
	v.reset()
	expected := 0
	for i := range outcomes {
		o := &outcomes[i]
		if !isExpected(o) {
			continue
		}
		at := o.At
		if o.State.Open() {
			at = o.DueAt
		}
		v.int(int64(stateNumber(o.State)))
		v.text(o.Reason)
		v.int(int64(o.Attempt.Number))
		v.nullInt(toMillis(at))
		v.int(o.Seq)
		v.text(string(o.Delivery))
		expected++
	}
	changed := make([]bool, expected)
	if err := t.run(settleExpected, v, expected, changed); err != nil {
		return err
	}
	for _, o := range outcomes {
		if isExpected(&o) {
			done := changed[0]
			changed = changed[1:]
			if done {
				*attempts = append(*attempts, tried{o.Seq, int64(o.Attempt.Number), o.Attempt})
				continue
			}
		}
		if err := t.settleDelivery(o, attempts); err != nil {
			return err
		}
	}
	return nil
}

// isExpected reports whether an outcome may be that of the attempt which comes
// next: its delivery is known by its number.
func isExpected(o *feedmill.Outcome) bool { return o.Seq != 0 && o.Attempt != nil }

// settleDelivery writes what became of a delivery, where it is still open, and
// adds the attempt to those to write.
func (t *tx) settleDelivery(o feedmill.Outcome, attempts *[]tried) error {
	var (
		seq, made, at int64
		state         feedmill.DeliveryState
	)
	err := t.row(`SELECT seq, state, attempts, at FROM deliveries WHERE id = ?`, string(o.Delivery)).
		Scan(&seq, (*storedState)(&state), &made, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return translate(err)
	}
	if o.Attempt != nil {
		made++
		*attempts = append(*attempts, tried{seq, made, o.Attempt})
	}
	if o.State == feedmill.DeliveryDelivered && state == feedmill.DeliveryDiscarded {
		state = feedmill.DeliveryPending // it arrived before its subscription ended
	}
	if !state.Open() {
		_, err := t.exec(`UPDATE deliveries SET attempts = ? WHERE seq = ?`, made, seq)
		return err
	}
	if !o.State.Open() {
		at = o.At.UnixMilli()
	} else if !o.DueAt.IsZero() {
		at = o.DueAt.UnixMilli()
	}
	_, err = t.exec(`UPDATE deliveries SET state = ?, reason = ?, attempts = ?, at = ? WHERE seq = ?`,
		stateNumber(o.State), o.Reason, made, at, seq)
	return err
}

// settleSubscription writes what an outcome means for its subscription and
// accepts the notice that belongs to it. succeeded holds the successes that
// this transaction has noted.
func (t *tx) settleSubscription(o feedmill.Outcome, succeeded map[feedmill.ID]time.Time, maxAttempts int) ([]feedmill.DueDelivery, error) {
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
	_, due, err := t.accept([]feedmill.Event{*o.Notice}, maxAttempts)
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
	clear(t.matches)
	if _, err := t.exec(`UPDATE subscription_topics SET disabled = 1 WHERE subscription_id = ?`, o.Subscription); err != nil {
		return false, err
	}
	_, err = t.discardOpen(o.Subscription, becauseDisabled, o.At, feedmill.DiscardStep)
	return true, err
}
