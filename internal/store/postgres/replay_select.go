package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// replayPart is a part of what a replay selects.
type replayPart struct {
	feedmill.ReplayPart
	events []feedmill.Event // without payloads
	// reasons are why deliveries of events are discarded, if the filter failed.
	reasons map[feedmill.ID]string
}

// CountReplay counts the next part of what a replay selects, and returns the
// replay with it: it is running, or done where it makes nothing, once all is
// counted.
func (db *DB) CountReplay(ctx context.Context, r feedmill.Replay, limit int) (feedmill.Replay, error) {
	sub, err := db.SubscriptionForDelivery(ctx, r.Subscription)
	if err != nil {
		return r, err
	}
	return countSelected(ctx, db.pool, storedReplay{Replay: r, beforeSeq: 1 << 62, filter: db.options.Filter}, sub, limit)
}

func countSelected(ctx context.Context, q querier, r storedReplay, sub feedmill.Subscription, limit int) (feedmill.Replay, error) {
	found, err := selected(ctx, q, r, sub, r.Counted, limit)
	if err != nil {
		return r.Replay, err
	}
	return r.Count(len(found.events), found.ReplayPart, time.Now()), nil
}

// countReplay counts the next part of a replay and writes how far that came.
func (t tx) countReplay(ctx context.Context, r storedReplay, sub feedmill.Subscription, now time.Time, limit int) error {
	counted, err := countSelected(ctx, t, r, sub, limit)
	if err != nil {
		return err
	}
	var counting *feedmill.ID
	if counted.State == feedmill.ReplayCounting {
		counting = &counted.Counted
	}
	_, err = t.exec(ctx, `UPDATE replays SET total = $1, counting = $2, done_at = $3, stepped_at = greatest(stepped_at, $4) WHERE id = $5`,
		counted.Total, counting, orNull(counted.EndedAt), now, r.ID)
	return err
}

// selected finds the next of what a replay selects, oldest first.
func selected(ctx context.Context, q querier, r storedReplay, sub feedmill.Subscription, after feedmill.ID, limit int) (replayPart, error) {
	if r.Selection.OfEvents() {
		return selectedEvents(ctx, q, r, sub, after, limit)
	}
	var w where
	w.and("workspace_id = ?", r.Workspace)
	w.and("subscription_id = ?", r.Subscription)
	w.and("seq < ?", r.beforeSeq)
	w.and("id > ?", after)
	w.and("id < ?", r.Bound)
	old, err := listDeliveries(ctx, q, &w, r.Selection.States(), oldest, "ASC", limit)
	if err != nil {
		return replayPart{}, err
	}
	followed, err := followedByOthers(ctx, q, r, old)
	part := replayPart{ReplayPart: feedmill.ReplayPart{Reached: after, End: len(old) < limit}}
	for _, d := range old {
		part.Reached = d.ID
		if !followed[d.ID] {
			part.events = append(part.events, feedmill.Event{ID: d.Event, Type: d.Type, ResourceID: d.ResourceID})
		}
	}
	return part, err
}

// followedByOthers finds those of some deliveries for whose event there is a later delivery
// for which they are not selected: one that is open, or was delivered where they were
// not, or is selected itself. Replays alone make a second delivery of an event, apart from it, so
// only those since the first other replay are looked at.
func followedByOthers(ctx context.Context, q querier, r storedReplay, deliveries []feedmill.Delivery) (map[feedmill.ID]bool, error) {
	followed := make(map[feedmill.ID]bool)
	rows, err := q.Query(ctx, `SELECT id FROM replays WHERE id >= $1 AND id <> $2 AND subscription_id = $3 AND made > 0 ORDER BY id LIMIT 1`,
		feedmill.FirstID(feedmill.PrefixReplay, r.Since), r.ID, r.Subscription)
	scanID := func(row record.Row) (id feedmill.ID, err error) { return id, row.Scan(&id) }
	first, err := all(rows, translate(err), scanID)
	if err != nil || len(first) == 0 || len(deliveries) == 0 {
		return followed, err
	}
	ids, events := make([]string, len(deliveries)), make([]string, len(deliveries))
	for i, d := range deliveries {
		ids[i], events[i] = string(d.ID), string(d.Event)
	}
	states := r.Selection.States()
	delivered := r.Selection != feedmill.ReplayDelivered
	const later = ` o WHERE o.apart AND o.event_id = d.event_id AND o.id > greatest(d.id, $3) AND o.subscription_id = $4`
	rows, err = q.Query(ctx, `SELECT d.id FROM unnest($1::text[], $2::text[]) AS d (id, event_id)
		WHERE EXISTS (SELECT 1 FROM open_deliveries`+later+`)
			OR EXISTS (SELECT 1 FROM ended_deliveries`+later+` AND (o.state = 'delivered' AND $5 OR o.state = ANY($6::text[]) AND o.id < $7 AND o.seq < $8))`,
		ids, events, feedmill.FirstID(feedmill.PrefixDelivery, first[0].Time().Add(-clockSkew)), r.Subscription, delivered, states, r.Bound, r.beforeSeq)
	found, err := all(rows, translate(err), scanID)
	for _, id := range found {
		followed[id] = true
	}
	return followed, err
}

// clockSkew is how far the clocks of replicas may be apart.
const clockSkew = time.Minute

// selectedEvents finds the next events that match the subscription and have no
// delivery for it, or no open one.
func selectedEvents(ctx context.Context, q querier, r storedReplay, sub feedmill.Subscription, after feedmill.ID, limit int) (replayPart, error) {
	rows, err := q.Query(ctx, `SELECT id, type, resource_id, source_id FROM events WHERE workspace_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4`,
		r.Workspace, after, r.Bound, feedmill.ReplayScanSteps*limit)
	events, err := all(rows, translate(err), func(row record.Row) (e feedmill.Event, err error) {
		return e, row.Scan(&e.ID, &e.Type, &e.ResourceID, &e.Source)
	})
	if err != nil {
		return replayPart{}, err
	}
	// Promises are read after the events: that of an event that is seen is seen, or
	// kept.
	rows, err = q.Query(ctx, `SELECT event_id FROM fanouts WHERE workspace_id = $1 AND event_id > $2 AND event_id < $3 ORDER BY event_id LIMIT 1`,
		r.Workspace, after, r.Bound)
	promised, err := all(rows, translate(err), func(row record.Row) (id feedmill.ID, err error) { return id, row.Scan(&id) })
	if err != nil {
		return replayPart{}, err
	}
	part := replayPart{ReplayPart: feedmill.ReplayPart{Reached: after, End: len(events) < feedmill.ReplayScanSteps*limit}}
	if len(promised) > 0 {
		part.Blocked = part.End || promised[0] <= events[len(events)-1].ID
		part.End = part.End && !part.Blocked
		events = slices.DeleteFunc(events, func(e feedmill.Event) bool { return e.ID >= promised[0] })
	}
	var matching []feedmill.Event
	for _, e := range events {
		if len(matching) == limit {
			part.End, part.Blocked = false, false
			break
		}
		part.Reached = e.ID
		if sub.Selects(e) {
			matching = append(matching, e)
		}
	}
	there, err := haveDeliveries(ctx, q, sub, matching, r.Selection == feedmill.ReplayAll)
	if err != nil {
		return replayPart{}, err
	}
	matching = slices.DeleteFunc(matching, func(e feedmill.Event) bool { return there[e.ID] })
	if sub.Filter != "" {
		return filterReplayed(ctx, q, r, sub, matching, part)
	}
	part.events = matching
	return part, nil
}

// filterReplayed adds the events to a part that match the filter of the subscription. A
// part ends early if the filter takes long.
func filterReplayed(ctx context.Context, q querier, r storedReplay, sub feedmill.Subscription, events []feedmill.Event, part replayPart) (replayPart, error) {
	part.reasons = make(map[feedmill.ID]string)
	until := time.Now().Add(feedmill.MaxFilterStep)
	for i, e := range events {
		v, err := verdict(ctx, q, sub, e.ID, r.filter)
		if err != nil {
			return replayPart{}, err
		}
		if v.Error != "" {
			part.reasons[e.ID] = v.Reason()
		}
		if v.Matches || v.Error != "" {
			part.events = append(part.events, e)
		}
		if i < len(events)-1 && time.Now().After(until) {
			part.Reached, part.End, part.Blocked = e.ID, false, false
			break
		}
	}
	return part, nil
}

// haveDeliveries finds those of some events that have a delivery for a
// subscription, or an open one. Each of the conditions has an index: deliveries
// that were made with their event are between the ids that it knows.
func haveDeliveries(ctx context.Context, q querier, sub feedmill.Subscription, events []feedmill.Event, open bool) (map[feedmill.ID]bool, error) {
	there := make(map[feedmill.ID]bool)
	if len(events) == 0 {
		return there, nil
	}
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = string(e.ID)
	}
	const with = `(o.id BETWEEN e.first_delivery AND e.last_delivery AND o.event_id = e.id)`
	exists := func(table, condition string) string {
		return `EXISTS (SELECT 1 FROM ` + table + ` o WHERE o.subscription_id = $3 AND ` + condition + `)`
	}
	query := `SELECT e.id FROM events e WHERE e.workspace_id = $1 AND e.id = ANY($2::text[]) AND (` +
		exists("open_deliveries", `o.state = 'pending' AND `+with) + ` OR ` + exists("open_deliveries", `o.state = 'retrying' AND `+with) + ` OR ` +
		exists("open_deliveries", `o.apart AND o.event_id = e.id`)
	if !open {
		query += ` OR ` + exists("ended_deliveries", `o.state IN ('delivered', 'exhausted', 'discarded') AND `+with) + ` OR ` +
			exists("ended_deliveries", `o.apart AND o.event_id = e.id`)
	}
	rows, err := q.Query(ctx, query+`)`, sub.Workspace, ids, sub.ID)
	found, err := all(rows, translate(err), func(row record.Row) (id feedmill.ID, err error) { return id, row.Scan(&id) })
	for _, id := range found {
		there[id] = true
	}
	return there, err
}
