package sqlite

import (
	"time"

	"github.com/feedmill/feedmill"
)

// successStep is how far LastSuccessAt may trail, so that a busy subscription
// is not written for each of its deliveries.
const successStep = time.Minute

// settleSubscription writes what an outcome means for its subscription and
// accepts the notice that belongs to it. succeeded holds the successes that
// this transaction has noted.
func (t *tx) settleSubscription(o feedmill.Outcome, succeeded map[feedmill.ID]time.Time) ([]feedmill.DueDelivery, error) {
	if noted, ok := succeeded[o.Subscription]; o.Succeeded && (!ok || o.At.Sub(noted) >= successStep) {
		if _, err := t.exec(`UPDATE subscriptions SET last_success_at = max(coalesce(last_success_at, ?1), ?1), warned_at = NULL, failing_since = NULL, failures = 0
			WHERE id = ?2 AND (last_success_at IS NULL OR last_success_at <= ?3 OR warned_at IS NOT NULL OR failing_since IS NOT NULL)`,
			o.At.UnixMilli(), string(o.Subscription), o.At.Add(-successStep).UnixMilli()); err != nil {
			return nil, err
		}
		succeeded[o.Subscription] = o.At
	}
	if o.Failed {
		if _, err := t.exec(`UPDATE subscriptions SET failing_since = coalesce(failing_since, ?1), failures = min(failures + 1, ?2) WHERE id = ?3`,
			o.At.UnixMilli(), feedmill.FailuresToDisable, string(o.Subscription)); err != nil {
			return nil, err
		}
		delete(succeeded, o.Subscription)
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
	_, due, err := t.accept([]feedmill.Event{*o.Notice})
	return due, err
}

// disable disables the subscription of an outcome and reports whether it was
// not at its end already.
func (t *tx) disable(o feedmill.Outcome) (bool, error) {
	n, err := t.exec(`UPDATE subscriptions SET state = ?1, disabled_reason = ?2, updated_at = ?3
		WHERE id = ?4 AND state <> ?1 AND deleted_at IS NULL AND updated_at <= ?3
		AND (?2 <> ?5 OR (state = ?6 AND failures >= ?7 AND disable_after >= 0
			AND failing_since + CASE disable_after WHEN 0 THEN ?8 ELSE disable_after END <= ?3))`,
		string(feedmill.SubscriptionDisabled), o.Disable, toMillis(o.At), o.Subscription,
		feedmill.DisabledFailing, string(feedmill.SubscriptionActive), feedmill.FailuresToDisable, feedmill.DisableAfter.Milliseconds())
	if err != nil || n == 0 {
		return false, err
	}
	t.forgetMatches()
	if _, err := t.exec(`UPDATE subscription_topics SET disabled = 1 WHERE subscription_id = ?`, o.Subscription); err != nil {
		return false, err
	}
	_, err = t.discardOpen(o.Subscription, feedmill.DiscardedDisabled, o.At, feedmill.DiscardStep)
	return true, err
}
