package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// CreateReplay begins a replay, as far as it has been counted.
func (db *DB) CreateReplay(ctx context.Context, r feedmill.Replay, response *feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx tx) error {
		if err := tx.keepResponse(ctx, response); err != nil {
			return err
		}
		if err := (recordTx{reader{tx}, tx}).Send(ctx, record.Audited(ctx, kinds{}, r.Workspace, r.Subscription)...); err != nil {
			return err
		}
		var counting *feedmill.ID
		if r.State == feedmill.ReplayCounting {
			counting = &r.Counted
		}
		_, err := tx.exec(ctx, `INSERT INTO replays (id, workspace_id, subscription_id, since, until, selection, rate, dry_run, total, counting, reached, bound,
				created_at, made, done_at, stepped_at, before_seq)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $13, nextval('delivery_seq') << $16)`,
			r.ID, r.Workspace, r.Subscription, orNull(r.Since), orNull(r.Until), r.Selection, r.Rate, r.DryRun, r.Total, counting, r.First(), r.Bound,
			r.CreatedAt, r.Made, orNull(r.EndedAt), blockBits)
		return err
	})
}

// storedReplay is a replay with what its steps go by. It covers the deliveries
// before beforeSeq, so that it never meets those that it makes itself, whatever
// the clocks of others say.
type storedReplay struct {
	feedmill.Replay
	reached   feedmill.ID
	beforeSeq int64
	// filter opens the payloads of events for the subscription's filter.
	filter func(payload []byte) feedmill.EventFilter
}

const replayColumns = `id, workspace_id, subscription_id, since, until, selection, rate, dry_run, greatest(total, made), counting, reached, bound, made,
	created_at, done_at, cancelled, reason, before_seq`

func scanReplay(row record.Row) (r storedReplay, err error) {
	var since, until, done *time.Time
	var counting *feedmill.ID
	var cancelled bool
	err = row.Scan(&r.ID, &r.Workspace, &r.Subscription, &since, &until, &r.Selection, &r.Rate, &r.DryRun, &r.Total, &counting, &r.reached, &r.Bound, &r.Made,
		&r.CreatedAt, &done, &cancelled, &r.Reason, &r.beforeSeq)
	r.Since, r.Until, r.EndedAt, r.CreatedAt = orZero(since), orZero(until), orZero(done), r.CreatedAt.UTC()
	if r.Bound == "" { // it was begun before there were bounds
		r.reached, r.Bound = max(r.reached, r.First()), feedmill.FirstID(feedmill.PrefixDelivery, r.CreatedAt.Add(aDay))
		if until != nil {
			r.Bound = min(r.Bound, feedmill.FirstID(feedmill.PrefixDelivery, r.Until))
		}
	}
	if counting != nil {
		r.Counted = *counting
	}
	r.SetState(cancelled, counting != nil)
	return r, translate(err)
}

// Replay finds a replay of a subscription.
func (db *DB) Replay(ctx context.Context, workspace, subscription, id feedmill.ID) (feedmill.Replay, error) {
	r, err := scanReplay(db.pool.QueryRow(ctx, `SELECT `+replayColumns+` FROM replays WHERE id = $1 AND workspace_id = $2 AND subscription_id = $3`,
		id, workspace, subscription))
	return r.Replay, err
}

// CancelReplay ends a replay that goes on; one that has ended is
// feedmill.ErrConflict. A step that is under way is waited for.
func (db *DB) CancelReplay(ctx context.Context, workspace, subscription, id feedmill.ID, at time.Time) error {
	return db.write(ctx, func(tx tx) error {
		n, err := tx.exec(ctx, `UPDATE replays SET done_at = $1, cancelled = true
			WHERE id = $2 AND workspace_id = $3 AND subscription_id = $4 AND done_at IS NULL`, at, id, workspace, subscription)
		if err == nil && n == 0 {
			err = feedmill.ErrConflict
		}
		if err != nil {
			return err
		}
		return (recordTx{reader{tx}, tx}).Send(ctx, record.Audited(ctx, kinds{}, workspace, subscription)...)
	})
}

// StepReplay counts or makes the next part of the unfinished replay that has waited
// longest, of those whose time has come, and notes how far it came, in one
// transaction. Where nothing is to be done it returns when something will be. A
// replay whose subscription is deleted or disabled is cancelled.
func (db *DB) StepReplay(ctx context.Context, now time.Time, limit int) (worked bool, next time.Time, err error) {
	// The new deliveries will need room for their attempts.
	ids := []feedmill.ID{feedmill.FirstID(feedmill.PrefixDelivery, time.Now())}
	err = db.withPartitions(ctx, ids, func() error {
		return db.write(ctx, func(tx tx) error {
			worked, next = false, now
			r, err := scanReplay(tx.QueryRow(ctx, `SELECT `+replayColumns+`
				FROM replays WHERE done_at IS NULL AND next_at <= $1 ORDER BY stepped_at, id LIMIT 1 FOR UPDATE SKIP LOCKED`, now))
			if errors.Is(err, feedmill.ErrNotFound) {
				var at *time.Time
				err := tx.QueryRow(ctx, `SELECT min(next_at) FROM replays WHERE done_at IS NULL AND next_at > $1`, now).Scan(&at)
				next = orZero(at)
				return translate(err)
			}
			if err != nil {
				return err
			}
			worked, r.filter = true, db.options.Filter
			return tx.stepReplay(ctx, r, now, db.options.Attempts, limit)
		})
	})
	return worked && err == nil, next, err
}

// stepReplay counts or makes the next part of a replay and notes how far it came.
func (t tx) stepReplay(ctx context.Context, r storedReplay, now time.Time, maxAttempts, limit int) error {
	// Nobody else may make deliveries for the subscription out of what this
	// finds missing.
	sub, err := t.lockReplayed(ctx, r.Subscription)
	if err != nil {
		return err
	}
	if reason := sub.EndedReason(); reason != "" {
		_, err := t.exec(ctx, `UPDATE replays SET done_at = $1, cancelled = true, reason = $2 WHERE id = $3`, now, reason, r.ID)
		return err
	}
	if r.State == feedmill.ReplayCounting {
		return t.countReplay(ctx, r, sub, now, feedmill.ReplayCountSteps*limit)
	}
	found, err := selected(ctx, t, r, sub, r.reached, r.Share(limit))
	if err != nil {
		return err
	}
	fresh, err := t.redeliveries(ctx, sub, found.events, now, maxAttempts)
	if err != nil {
		return err
	}
	seqs, err := t.numbers(ctx, len(fresh))
	if err != nil {
		return err
	}
	for i := range fresh {
		fresh[i].Seq = seqs.seq(i)
	}
	made := len(fresh)
	var failed []feedmill.Delivery // those of events that the filter failed for
	fresh = slices.DeleteFunc(fresh, func(d feedmill.Delivery) bool {
		reason, discard := found.reasons[d.Event]
		if discard {
			failed = append(failed, discarded(d, reason))
		}
		return discard
	})
	return t.send(ctx, func(b *pgx.Batch) error {
		insertOpen(b, fresh, slices.Repeat([]bool{sub.Delivery.Ordered}, len(fresh)), true)
		insertDiscarded(b, failed, true)
		var done *time.Time
		if found.End {
			done = &now
		}
		b.Queue(`UPDATE replays SET made = made + $1, reached = $2, done_at = $3, stepped_at = greatest(stepped_at, $4), next_at = $5 WHERE id = $6`,
			made, found.Reached, done, now, now.Add(r.Pause(len(found.events), found.ReplayPart)), r.ID)
		return nil
	})
}

// lockReplayed reads a subscription and keeps it as it is, and other replays of
// it waiting.
func (t tx) lockReplayed(ctx context.Context, id feedmill.ID) (feedmill.Subscription, error) {
	if _, err := t.exec(ctx, `SELECT id FROM subscriptions WHERE id = $1 FOR NO KEY UPDATE`, id); err != nil {
		return feedmill.Subscription{}, err
	}
	return record.NewStore(engine{reader{t}, nil}, dialect).SubscriptionForDelivery(ctx, id)
}

// redeliveries makes new deliveries of events that are still there, and keeps the
// events from being pruned before the deliveries are open.
func (t tx) redeliveries(ctx context.Context, sub feedmill.Subscription, events []feedmill.Event, now time.Time, maxAttempts int) (fresh []feedmill.Delivery, err error) {
	if len(events) == 0 {
		return nil, nil
	}
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = string(e.ID)
	}
	rows, err := t.Query(ctx, `SELECT id FROM events WHERE workspace_id = $1 AND id = ANY($2::text[]) FOR KEY SHARE`, sub.Workspace, ids)
	found, err := all(rows, translate(err), func(row record.Row) (id feedmill.ID, err error) { return id, row.Scan(&id) })
	if err != nil {
		return nil, err
	}
	there := make(map[feedmill.ID]bool)
	for _, id := range found {
		there[id] = true
	}
	for _, e := range events {
		if there[e.ID] {
			e.Workspace = sub.Workspace
			fresh = append(fresh, newDelivery(e, sub.ID, sub.Delivery.Attempts(maxAttempts), now))
		}
	}
	return fresh, nil
}
