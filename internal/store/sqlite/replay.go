package sqlite

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// CreateReplay begins a replay. Its bound is fixed here: the deliveries that it
// makes have later ids, and so it ends.
func (db *DB) CreateReplay(ctx context.Context, r feedmill.Replay, response *feedmill.IdempotentResponse) error {
	states := make([]string, len(r.States))
	for i, s := range r.States {
		states[i] = string(s)
	}
	return db.write(ctx, func(tx *tx) error {
		if err := tx.keepResponse(response); err != nil {
			return err
		}
		if err := (recordTx{tx}).Send(ctx, record.Audited(ctx, kinds{}, r.Workspace, r.Subscription)...); err != nil {
			return err
		}
		bound := min(feedmill.FirstID(feedmill.PrefixDelivery, r.Until), feedmill.NewID(feedmill.PrefixDelivery))
		_, err := tx.exec(`INSERT INTO replays
			(id, workspace_id, subscription_id, since, until, states, cursor, bound, made, created_at, done_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.Workspace, r.Subscription, r.Since.UnixMilli(), r.Until.UnixMilli(), strings.Join(states, " "),
			feedmill.FirstID(feedmill.PrefixDelivery, r.Since), bound, r.Made, toMillis(r.CreatedAt), toMillis(r.DoneAt))
		return err
	})
}

// StepReplay makes up to limit new deliveries for one unfinished replay: that
// which has made the fewest, so that a small one does not wait for a large one.
func (db *DB) StepReplay(ctx context.Context, now time.Time, maxAttempts, limit int) (worked bool, err error) {
	var unfinished bool
	err = db.row(ctx, `SELECT EXISTS (SELECT 1 FROM replays WHERE done_at IS NULL)`).Scan(&unfinished)
	if err != nil || !unfinished {
		return false, translate(err)
	}
	err = db.write(ctx, func(tx *tx) error {
		r, err := tx.nextReplay()
		if errors.Is(err, feedmill.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		worked = true
		return tx.stepReplay(r, now, maxAttempts, limit)
	})
	return worked && err == nil, err
}

// replay is an unfinished replay and whether its subscription has ended.
type replay struct {
	id, subscription feedmill.ID
	states           []feedmill.DeliveryState
	cursor, bound    feedmill.ID
	ended, ordered   bool
	own              feedmill.DeliverySettings
}

// nextReplay finds the unfinished replay that has made the fewest deliveries.
func (t *tx) nextReplay() (r replay, err error) {
	var states string
	err = t.row(`SELECT r.id, r.subscription_id, r.states, r.cursor, r.bound, s.deleted_at IS NOT NULL OR s.state = ?, s.ordered, s.retries
		FROM replays r CROSS JOIN subscriptions s ON s.id = r.subscription_id
		WHERE r.done_at IS NULL ORDER BY r.made LIMIT 1`, feedmill.SubscriptionDisabled).
		Scan(&r.id, &r.subscription, &states, &r.cursor, &r.bound, &r.ended, &r.ordered, record.Waits(&r.own.Retries))
	for _, s := range strings.Fields(states) {
		r.states = append(r.states, feedmill.DeliveryState(s))
	}
	return r, translate(err)
}

// stepReplay makes the next deliveries of a replay and notes how far it came.
func (t *tx) stepReplay(r replay, now time.Time, maxAttempts, limit int) error {
	var made int
	if !r.ended {
		old, err := t.replayable(r, limit)
		if err != nil {
			return err
		}
		for _, o := range old {
			d := feedmill.Delivery{
				Workspace: o.Workspace, Subscription: o.Subscription, Type: o.Type, ResourceID: o.ResourceID,
				State: feedmill.DeliveryPending, MaxAttempts: r.own.Attempts(maxAttempts), DueAt: now,
			}
			event, err := t.eventSeqOf(o)
			if err != nil {
				return err
			}
			if err := t.insertDelivery(&d, event, r.ordered); err != nil {
				return err
			}
			r.cursor = o.ID
		}
		made = len(old)
	}
	_, err := t.exec(`UPDATE replays SET cursor = ?1, made = made + ?2, done_at = CASE WHEN ?2 < ?3 THEN ?4 END WHERE id = ?5`,
		r.cursor, made, limit, toMillis(now), r.id)
	return err
}

// replayable lists the next deliveries of a replay, oldest first.
func (t *tx) replayable(r replay, limit int) ([]feedmill.Delivery, error) {
	query := queryFunc(t.rows)
	// The cursor itself is done with; at first it is an id that no delivery has.
	within, err := query.seqRange(r.cursor+" ", r.bound)
	if err != nil {
		return nil, err
	}
	return deliveryList{of: r.subscription, subscription: true, states: r.states, within: within, limit: limit}.read(query)
}

func (t *tx) eventSeqOf(d feedmill.Delivery) (seq int64, err error) {
	err = t.row(`SELECT event_seq FROM deliveries WHERE seq = ?`, d.Seq).Scan(&seq)
	return seq, translate(err)
}
