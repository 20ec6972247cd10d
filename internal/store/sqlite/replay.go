package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// CreateReplay begins a replay, as far as it has been counted.
func (db *DB) CreateReplay(ctx context.Context, r feedmill.Replay, response *feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.keepResponse(response); err != nil {
			return err
		}
		if err := (recordTx{tx}).Send(ctx, record.Audited(ctx, kinds{}, r.Workspace, r.Subscription)...); err != nil {
			return err
		}
		turn, err := tx.moment()
		if err != nil {
			return err
		}
		_, err = tx.exec(`INSERT INTO replays
			(id, workspace_id, subscription_id, since, until, selection, rate, dry_run, total, counting, cursor, bound, made, created_at, done_at, turn)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.Workspace, r.Subscription, r.Since.UnixMilli(), r.Until.UnixMilli(), string(r.Selection), r.Rate, r.DryRun, r.Total,
			sql.NullString{String: string(r.Counted), Valid: r.State == feedmill.ReplayCounting}, r.First(), r.Bound, r.Made, toMillis(r.CreatedAt), toMillis(r.EndedAt), turn)
		return err
	})
}

// storedReplay is a replay with what its steps go by.
type storedReplay struct {
	feedmill.Replay
	cursor feedmill.ID
}

const replayColumns = `id, workspace_id, subscription_id, since, until, selection, rate, dry_run, max(total, made), counting, cursor, bound, made,
	created_at, done_at, cancelled, reason`

func scanReplay(row record.Row) (r storedReplay, err error) {
	var since, until int64
	var created, done sql.NullInt64
	var counting sql.NullString
	var cancelled bool
	err = row.Scan(&r.ID, &r.Workspace, &r.Subscription, &since, &until, &r.Selection, &r.Rate, &r.DryRun, &r.Total, &counting, &r.cursor, &r.Bound, &r.Made,
		&created, &done, &cancelled, &r.Reason)
	r.Since, r.Until, r.Counted = time.UnixMilli(since).UTC(), time.UnixMilli(until).UTC(), feedmill.ID(counting.String)
	r.CreatedAt, r.EndedAt = fromMillis(created), fromMillis(done)
	r.SetState(cancelled, counting.Valid)
	return r, translate(err)
}

// Replay finds a replay of a subscription.
func (db *DB) Replay(ctx context.Context, workspace, subscription, id feedmill.ID) (feedmill.Replay, error) {
	r, err := scanReplay(db.row(ctx, `SELECT `+replayColumns+` FROM replays WHERE id = ? AND workspace_id = ? AND subscription_id = ?`, id, workspace, subscription))
	return r.Replay, err
}

// CancelReplay ends a replay that goes on; one that has ended is
// feedmill.ErrConflict.
func (db *DB) CancelReplay(ctx context.Context, workspace, subscription, id feedmill.ID, at time.Time) error {
	return db.write(ctx, func(tx *tx) error {
		n, err := tx.exec(`UPDATE replays SET done_at = ?, cancelled = 1 WHERE id = ? AND workspace_id = ? AND subscription_id = ? AND done_at IS NULL`,
			toMillis(at), id, workspace, subscription)
		if err == nil && n == 0 {
			err = feedmill.ErrConflict
		}
		if err != nil {
			return err
		}
		return (recordTx{tx}).Send(ctx, record.Audited(ctx, kinds{}, workspace, subscription)...)
	})
}

// StepReplay counts or makes the next part of one unfinished replay whose time has
// come: that which has waited longest, so that none waits for another to end. What it makes is looked for before the transaction, so that nobody
// waits for that.
func (db *DB) StepReplay(ctx context.Context, now time.Time, limit int) (worked bool, next time.Time, err error) {
	r, err := scanReplay(db.row(ctx, `SELECT `+replayColumns+` FROM replays WHERE done_at IS NULL AND next_at <= ? ORDER BY turn LIMIT 1`, toMillis(now)))
	if errors.Is(err, feedmill.ErrNotFound) {
		var at sql.NullInt64
		err = db.row(ctx, `SELECT min(next_at) FROM replays WHERE done_at IS NULL`).Scan(&at)
		return false, fromMillis(at), translate(err)
	}
	if err != nil {
		return false, time.Time{}, err
	}
	sub, err := db.SubscriptionForDelivery(ctx, r.Subscription)
	if err != nil {
		return false, time.Time{}, err
	}
	if reason := sub.EndedReason(); reason != "" {
		return true, now, db.write(ctx, func(tx *tx) error {
			_, err := tx.exec(`UPDATE replays SET done_at = ?, cancelled = 1, reason = ? WHERE id = ? AND done_at IS NULL`, toMillis(now), reason, r.ID)
			return err
		})
	}
	if r.State == feedmill.ReplayCounting {
		return true, now, db.countStep(ctx, r, sub, now, limit)
	}
	found, err := db.selected(ctx, r.Replay, sub, r.cursor, r.Share(limit))
	if err != nil {
		return false, time.Time{}, err
	}
	return true, now, db.write(ctx, func(tx *tx) error { return tx.makeReplayed(r, sub, found, now) })
}

// makeReplayed writes the deliveries that a step has found, unless the replay or
// its subscription has ended meanwhile, and how far it came.
func (t *tx) makeReplayed(r storedReplay, sub feedmill.Subscription, found replayPart, now time.Time) error {
	var open bool
	var state feedmill.SubscriptionState
	err := t.row(`SELECT r.done_at IS NULL AND s.deleted_at IS NULL, s.state FROM replays r CROSS JOIN subscriptions s ON s.id = r.subscription_id
		WHERE r.id = ?`, r.ID).Scan(&open, &state)
	if err != nil || !open || state == feedmill.SubscriptionDisabled {
		return translate(err)
	}
	made := 0
	for _, e := range found.events {
		// The event may have been pruned since it was found.
		if err := t.row(`SELECT 1 FROM events WHERE seq = ?`, e.seq).Scan(new(int)); errors.Is(err, sql.ErrNoRows) {
			continue
		} else if err != nil {
			return translate(err)
		}
		d := feedmill.Delivery{
			Workspace: r.Workspace, Subscription: r.Subscription, Type: e.kind, ResourceID: e.resource,
			State: feedmill.DeliveryPending, MaxAttempts: sub.Delivery.Attempts(t.attempts), DueAt: now,
		}
		if e.reason != "" {
			d.State, d.Reason = feedmill.DeliveryDiscarded, e.reason
		}
		if err := t.insertDelivery(&d, e.seq, sub.Delivery.Ordered); err != nil {
			return err
		}
		made++
	}
	turn, err := t.moment()
	if err != nil {
		return err
	}
	_, err = t.exec(`UPDATE replays SET cursor = ?, made = made + ?, next_at = ?, done_at = ?, turn = ? WHERE id = ?`,
		found.Reached, made, now.Add(r.Pause(len(found.events), found.ReplayPart)).UnixMilli(), sql.NullInt64{Int64: now.UnixMilli(), Valid: found.End}, turn, r.ID)
	return err
}
