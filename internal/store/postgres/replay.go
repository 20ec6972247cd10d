package postgres

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// CreateReplay begins a replay of the deliveries that were created from Since
// up to, and without, Until, but not after the replay itself.
func (db *DB) CreateReplay(ctx context.Context, r feedmill.Replay, response *feedmill.IdempotentResponse) error {
	return db.write(ctx, func(tx tx) error {
		if err := tx.keepResponse(ctx, response); err != nil {
			return err
		}
		states := make([]string, len(r.States))
		for i, s := range r.States {
			states[i] = string(s)
		}
		if err := (recordTx{reader{tx}, tx}).Send(ctx, record.Audited(ctx, kinds{}, r.Workspace, r.Subscription)...); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `INSERT INTO replays (id, workspace_id, subscription_id, since, until, states, created_at, made, done_at, stepped_at, before_seq)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $7, nextval('delivery_seq') << $10)`,
			r.ID, r.Workspace, r.Subscription, orNull(r.Since), orNull(r.Until), states, r.CreatedAt, r.Made, orNull(r.DoneAt), blockBits)
		return err
	})
}

// StepReplay makes up to limit new deliveries for the unfinished replay that
// has waited longest and notes how far it came, in one transaction. It reports
// whether there was one. A replay whose subscription is deleted or disabled is
// finished as it stands.
func (db *DB) StepReplay(ctx context.Context, now time.Time, maxAttempts, limit int) (worked bool, err error) {
	// The new deliveries will need room for their attempts.
	ids := []feedmill.ID{feedmill.FirstID(feedmill.PrefixDelivery, time.Now())}
	err = db.withPartitions(ctx, ids, func() error {
		return db.write(ctx, func(tx tx) error {
			r, err := scanReplay(tx.QueryRow(ctx, `SELECT id, workspace_id, subscription_id, since, until, states, reached, before_seq
				FROM replays WHERE done_at IS NULL ORDER BY stepped_at, id LIMIT 1 FOR UPDATE SKIP LOCKED`))
			if errors.Is(err, feedmill.ErrNotFound) {
				worked = false
				return nil
			}
			if err != nil {
				return err
			}
			worked = true
			return tx.stepReplay(ctx, r, now, maxAttempts, limit)
		})
	})
	return worked && err == nil, err
}

// replay is a replay and how far it has come.
type replay struct {
	feedmill.Replay
	reached   feedmill.ID
	beforeSeq int64
}

func scanReplay(row record.Row) (r replay, err error) {
	var since, until *time.Time
	err = row.Scan(&r.ID, &r.Workspace, &r.Subscription, &since, &until, &r.States, &r.reached, &r.beforeSeq)
	r.Since, r.Until = orZero(since), orZero(until)
	return r, translate(err)
}

// stepReplay makes the next deliveries of a replay and notes how far it came.
func (t tx) stepReplay(ctx context.Context, r replay, now time.Time, maxAttempts, limit int) error {
	ended, own, err := t.lockSubscription(ctx, r.Subscription)
	if err != nil {
		return err
	}
	var old []feedmill.Delivery
	if !ended {
		if old, err = t.replayable(ctx, r, limit); err != nil {
			return err
		}
	}
	fresh, err := t.redeliveries(ctx, old, now, cmp.Or(own, maxAttempts))
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
	return t.send(ctx, func(b *pgx.Batch) error {
		insertOpen(b, fresh, true)
		if len(old) > 0 {
			r.reached = old[len(old)-1].ID
		}
		var done *time.Time
		if len(old) < limit {
			done = &now
		}
		b.Queue(`UPDATE replays SET made = made + $1, reached = $2, done_at = $3, stepped_at = greatest(stepped_at, $4) WHERE id = $5`,
			len(fresh), r.reached, done, now, r.ID)
		return nil
	})
}

// replayable lists the next deliveries of a replay, oldest first.
func (t tx) replayable(ctx context.Context, r replay, limit int) ([]feedmill.Delivery, error) {
	var w where
	w.and("workspace_id = ?", r.Workspace)
	w.and("subscription_id = ?", r.Subscription)
	w.and("seq < ?", r.beforeSeq)
	w.and("id > ?", r.reached)
	if !r.Since.IsZero() {
		w.and("id >= ?", feedmill.FirstID(feedmill.PrefixDelivery, r.Since))
	}
	if !r.Until.IsZero() {
		w.and("id < ?", feedmill.FirstID(feedmill.PrefixDelivery, r.Until))
	}
	return listDeliveries(ctx, t, &w, r.States, true, "ASC", limit)
}

// redeliveries makes new deliveries of old ones, of those whose event is still there,
// and keeps the events from being pruned before the deliveries are open.
func (t tx) redeliveries(ctx context.Context, old []feedmill.Delivery, now time.Time, maxAttempts int) (fresh []feedmill.Delivery, err error) {
	if len(old) == 0 {
		return nil, nil
	}
	ids := make([]string, len(old))
	for i, d := range old {
		ids[i] = string(d.Event)
	}
	rows, err := t.Query(ctx, `SELECT id FROM events WHERE workspace_id = $1 AND id = ANY($2::text[]) FOR KEY SHARE`, old[0].Workspace, ids)
	found, err := all(rows, translate(err), func(row record.Row) (id feedmill.ID, err error) { return id, row.Scan(&id) })
	if err != nil {
		return nil, err
	}
	there := make(map[feedmill.ID]bool)
	for _, id := range found {
		there[id] = true
	}
	for _, d := range old {
		if there[d.Event] {
			e := feedmill.Event{ID: d.Event, Workspace: d.Workspace, Type: d.Type, ResourceID: d.ResourceID}
			fresh = append(fresh, newDelivery(e, d.Subscription, maxAttempts, now))
		}
	}
	return fresh, nil
}
