package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// replayPart is a part of what a replay selects.
type replayPart struct {
	feedmill.ReplayPart
	events []replayedEvent
}

// replayedEvent is an event to deliver again.
type replayedEvent struct {
	seq            int64
	kind, resource string
	// reason is why the delivery is discarded, if the filter of the subscription failed.
	reason string
}

// CountReplay counts the next part of what a replay selects, and returns the
// replay with it: it is running, or done where it makes nothing, once all is
// counted.
func (db *DB) CountReplay(ctx context.Context, r feedmill.Replay, limit int) (feedmill.Replay, error) {
	sub, err := db.SubscriptionForDelivery(ctx, r.Subscription)
	if err != nil {
		return r, err
	}
	return db.count(ctx, r, sub, limit)
}

func (db *DB) count(ctx context.Context, r feedmill.Replay, sub feedmill.Subscription, limit int) (feedmill.Replay, error) {
	found, err := db.selected(ctx, r, sub, r.Counted, limit)
	if err != nil {
		return r, err
	}
	return r.Count(len(found.events), found.ReplayPart, time.Now()), nil
}

// countStep counts the next part of a replay and writes how far that came.
func (db *DB) countStep(ctx context.Context, r storedReplay, sub feedmill.Subscription, now time.Time, limit int) error {
	counted, err := db.count(ctx, r.Replay, sub, feedmill.ReplayCountSteps*limit)
	if err != nil {
		return err
	}
	return db.write(ctx, func(tx *tx) error {
		turn, err := tx.moment()
		if err != nil {
			return err
		}
		var counting any
		if counted.State == feedmill.ReplayCounting {
			counting = string(counted.Counted)
		}
		_, err = tx.exec(`UPDATE replays SET total = ?, counting = ?, done_at = ?, turn = ? WHERE id = ? AND done_at IS NULL`,
			counted.Total, counting, toMillis(counted.EndedAt), turn, r.ID)
		return err
	})
}

// selected finds the next of what a replay selects, oldest first.
func (db *DB) selected(ctx context.Context, r feedmill.Replay, sub feedmill.Subscription, after feedmill.ID, limit int) (replayPart, error) {
	if r.Selection.OfEvents() {
		return db.selectedEvents(ctx, r, sub, after, limit)
	}
	query := db.queryFunc(ctx)
	// What was reached is done with; at first it is an id that no record has.
	within, err := query.seqRange(after+" ", r.Bound)
	if err != nil {
		return replayPart{}, err
	}
	old, err := deliveryList{of: r.Subscription, subscription: true, states: r.Selection.States(), within: within, limit: limit}.read(query)
	if err != nil {
		return replayPart{}, err
	}
	from, err := db.replayedFrom(ctx, r)
	if err != nil {
		return replayPart{}, err
	}
	part := replayPart{ReplayPart: feedmill.ReplayPart{Reached: after, End: len(old) < limit}}
	for _, d := range old {
		part.Reached = d.ID
		e := replayedEvent{kind: d.Type, resource: d.ResourceID}
		if err := db.row(ctx, `SELECT event_seq FROM deliveries WHERE seq = ?`, d.Seq).Scan(&e.seq); err != nil {
			return replayPart{}, translate(err)
		}
		if from.Valid {
			followed, err := db.isFollowed(ctx, r, e.seq, max(d.Seq+1, from.Int64), within.to)
			if err != nil {
				return replayPart{}, err
			}
			if followed {
				continue
			}
		}
		part.events = append(part.events, e)
	}
	return part, nil
}

// replayedFrom is the first delivery that another replay of the subscription may have
// made of what is selected: they alone make a second one of an event. It is not
// valid where there is none.
func (db *DB) replayedFrom(ctx context.Context, r feedmill.Replay) (seq sql.NullInt64, err error) {
	var first sql.NullString
	err = db.row(ctx, `SELECT min(id) FROM replays WHERE id >= ? AND id <> ? AND subscription_id = ? AND made > 0`,
		feedmill.FirstID(feedmill.PrefixReplay, r.Since), r.ID, r.Subscription).Scan(&first)
	if err != nil || !first.Valid {
		return seq, translate(err)
	}
	seq.Valid = true
	seq.Int64, err = db.queryFunc(ctx).seq(math.MaxInt64, firstSeqFrom, feedmill.FirstID(feedmill.PrefixDelivery, feedmill.ID(first.String).Time()))
	return seq, err
}

// isFollowed reports whether an event has a later delivery, from a number on, for which
// an earlier one is not selected: one that is open, or was delivered where
// the other was not, or is selected itself, as those before another number are.
func (db *DB) isFollowed(ctx context.Context, r feedmill.Replay, event, from, bound int64) (followed bool, err error) {
	condition := ``
	for n, state := range stateNumbers {
		if slices.Contains(r.Selection.States(), state) {
			condition += ` OR state = ` + strconv.Itoa(n) + ` AND seq < ?4`
		}
	}
	if r.Selection != feedmill.ReplayDelivered {
		condition += ` OR state = 3`
	}
	err = db.row(ctx, `SELECT EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_of_event
		WHERE event_seq = ?1 AND seq >= ?2 AND subscription_id = ?3 AND (state = 2 OR state = 4`+condition+`))`, event, from, r.Subscription, bound).Scan(&followed)
	return followed, translate(err)
}

// selectedEvents finds the next events that match the subscription and have no
// delivery for it, or no open one.
func (db *DB) selectedEvents(ctx context.Context, r feedmill.Replay, sub feedmill.Subscription, after feedmill.ID, limit int) (replayPart, error) {
	rows, err := db.rows(ctx, `SELECT seq, id, type, resource_id, source_id FROM events INDEXED BY events_by_id
		WHERE workspace_id = ? AND id > ? AND id < ? ORDER BY id LIMIT ?`, r.Workspace, after, r.Bound, feedmill.ReplayScanSteps*limit)
	type scanned struct {
		seq int64
		feedmill.Event
	}
	events, err := all(rows, err, func(row record.Row) (e scanned, err error) {
		return e, row.Scan(&e.seq, &e.ID, &e.Type, &e.ResourceID, &e.Source)
	})
	if err != nil {
		return replayPart{}, err
	}
	// Promises are read after the events: that of an event that is seen is seen, or
	// kept.
	var promised sql.NullString
	if err := db.row(ctx, `SELECT min(event_id) FROM fanouts WHERE workspace_id = ? AND event_id > ? AND event_id < ?`, r.Workspace, after, r.Bound).Scan(&promised); err != nil {
		return replayPart{}, translate(err)
	}
	states := ``
	if r.Selection == feedmill.ReplayAll {
		states = ` AND (state = 2 OR state = 4)`
	}
	part := replayPart{ReplayPart: feedmill.ReplayPart{Reached: after, End: len(events) < feedmill.ReplayScanSteps*limit}}
	if promised.Valid {
		first := feedmill.ID(promised.String)
		part.Blocked = part.End || first <= events[len(events)-1].ID
		part.End = part.End && !part.Blocked
		events = slices.DeleteFunc(events, func(e scanned) bool { return e.ID >= first })
	}
	until := time.Now().Add(feedmill.MaxFilterStep)
	for _, e := range events {
		if len(part.events) == limit || sub.Filter != "" && time.Now().After(until) {
			part.End, part.Blocked = false, false
			break
		}
		part.Reached = e.ID
		if !sub.Selects(e.Event) {
			continue
		}
		var there bool
		if err := db.row(ctx, `SELECT EXISTS (SELECT 1 FROM deliveries WHERE event_seq = ? AND subscription_id = ?`+states+`)`, e.seq, sub.ID).Scan(&there); err != nil {
			return replayPart{}, translate(err)
		}
		if there {
			continue
		}
		found := replayedEvent{e.seq, e.Type, e.ResourceID, ""}
		if sub.Filter != "" {
			verdict, err := db.verdict(ctx, sub, e.seq)
			if err != nil {
				return replayPart{}, err
			}
			if verdict.Error != "" {
				found.reason = verdict.Reason()
			} else if !verdict.Matches {
				continue
			}
		}
		part.events = append(part.events, found)
	}
	return part, nil
}

// verdict evaluates the filter of a subscription for an event. An event that is gone does
// not match.
func (db *DB) verdict(ctx context.Context, sub feedmill.Subscription, seq int64) (feedmill.FilterVerdict, error) {
	var payload []byte
	err := db.row(ctx, `SELECT payload FROM events WHERE seq = ?`, seq).Scan(&payload)
	if errors.Is(err, sql.ErrNoRows) {
		return feedmill.FilterVerdict{}, nil
	}
	if err != nil {
		return feedmill.FilterVerdict{}, translate(err)
	}
	return db.options.Filter(payload)(sub.Filter), nil
}
