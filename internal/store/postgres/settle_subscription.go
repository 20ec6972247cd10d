package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
)

// lockSubscriptions locks the subscriptions of outcomes in the order of their ids.
func (t tx) lockSubscriptions(ctx context.Context, outcomes []feedmill.Outcome) error {
	var ids []string
	for _, o := range outcomes {
		ids = append(ids, string(o.Subscription))
	}
	_, err := t.exec(ctx, `SELECT id FROM subscriptions WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`, ids)
	return err
}

// settleSubscription writes what an outcome means for its subscription, and adds
// the notice of that to those to accept where it changed anything.
func (t tx) settleSubscription(ctx context.Context, o feedmill.Outcome, notices *acceptCall) error {
	if o.Succeeded {
		if err := t.send(ctx, func(b *pgx.Batch) error { new(successes).queue(b, []feedmill.Outcome{o}); return nil }); err != nil {
			return err
		}
	}
	if o.Failed {
		_, countFailure := queueFailures([]feedmill.Outcome{o})
		if err := t.send(ctx, func(b *pgx.Batch) error { countFailure(b); return nil }); err != nil {
			return err
		}
	}
	changed := !o.Warn && o.Disable == ""
	if o.Warn {
		n, err := t.exec(ctx, `UPDATE subscriptions SET warned_at = $1 WHERE id = $2 AND warned_at IS NULL AND deleted_at IS NULL`, o.At, o.Subscription)
		if err != nil {
			return err
		}
		changed = n == 1
	}
	if o.Disable != "" {
		n, err := t.exec(ctx, `UPDATE subscriptions SET state = 'disabled', disabled_reason = $1, updated_at = $2
			WHERE id = $3 AND state <> 'disabled' AND deleted_at IS NULL AND updated_at <= $2
			AND ($1 <> '`+feedmill.DisabledFailing+`' OR (state = 'active' AND failures >= $4 AND disable_after >= 0
				AND failing_since + CASE disable_after WHEN 0 THEN $5::interval ELSE disable_after / 1000 * interval '1 microsecond' END <= $2))`,
			o.Disable, o.At, o.Subscription, feedmill.FailuresToDisable, feedmill.DisableAfter)
		if err != nil {
			return err
		}
		if changed = n == 1; changed {
			if _, err := t.discardOpen(ctx, o.Subscription, feedmill.DiscardedDisabled, o.At, feedmill.DiscardStep); err != nil {
				return err
			}
		}
	}
	if changed && o.Notice != nil {
		notices.events = append(notices.events, *o.Notice)
	}
	return nil
}
