package postgres

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

const (
	// sweepEvents is how many events of a day that must stay are looked at in
	// one call of Prune, and sweepRows how many deliveries it removes of them.
	sweepEvents = 250
	sweepRows   = 1000
	// dropPatience is how long to wait for those who use a partition. It is
	// less than the time after which PostgreSQL looks for deadlocks, so that
	// pruning gives way before anybody else has to.
	dropPatience = `500ms`
)

// sweep is how far the present round of pruning has come: the days before day
// are done, and of day itself the events up to reached.
type sweep struct {
	mu      sync.Mutex
	day     time.Time
	reached eventKey
}

// eventKey is an event's place in the index of its workspace.
type eventKey struct{ workspace, id string }

func scanEventKey(row record.Row) (k eventKey, err error) { return k, row.Scan(&k.workspace, &k.id) }

func columns(keys []eventKey) (workspaces, ids []string) {
	for _, k := range keys {
		workspaces, ids = append(workspaces, k.workspace), append(ids, k.id)
	}
	return workspaces, ids
}

// Prune removes what was accepted on days that lie wholly before the time
// given, a part of a day at a time, and makes partitions for the days to come.
// It reports whether there is more.
//
// A day on which nothing is open is dropped with its partitions. From a day with
// an open delivery, or with an event that an open delivery refers to, the events
// that nothing open refers to are deleted, with their deliveries and attempts.
// A replayed delivery that has ended is newer than its event and may stay as
// much longer.
func (db *DB) Prune(ctx context.Context, now, before time.Time) (more bool, err error) {
	if err := db.preparePartitions(ctx, now, before, daysAhead); err != nil {
		return false, err
	}
	if err := db.pruneFiltered(ctx, before); err != nil {
		return false, err
	}
	db.sweep.mu.Lock()
	defer db.sweep.mu.Unlock()
	days, err := db.knownDays(ctx)
	if err != nil {
		return false, err
	}
	days = slices.DeleteFunc(days, func(day time.Time) bool { return day.Before(db.sweep.day) || day.Add(aDay).After(before) })
	if len(days) == 0 {
		db.sweep.day = time.Time{}
		return false, nil
	}
	if day := days[0]; !day.Equal(db.sweep.day) {
		db.sweep.day, db.sweep.reached = day, eventKey{}
	}
	done, err := db.pruneDay(ctx, db.sweep.day, &db.sweep.reached)
	if err != nil || !done {
		return err == nil, err
	}
	db.sweep.day = db.sweep.day.Add(aDay)
	if len(days) == 1 {
		db.sweep.day = time.Time{}
	}
	return len(days) > 1, nil
}

// pruneDay drops a day, or deletes the next events of one that must stay. It
// reports whether the day is done.
func (db *DB) pruneDay(ctx context.Context, day time.Time, reached *eventKey) (done bool, err error) {
	gone := false
	err = db.write(ctx, func(tx tx) error {
		// Another replica that is at the same day goes first.
		n, err := tx.exec(ctx, `SELECT day FROM partition_days WHERE day = $1 FOR UPDATE`, day)
		if err != nil || n == 0 {
			done, gone = true, true
			return err
		}
		open, err := tx.hasOpen(ctx, day)
		if err != nil {
			return err
		}
		if !open {
			done, gone = true, true
			return tx.dropDay(ctx, day)
		}
		done, err = tx.sweepDay(ctx, day, reached)
		return err
	})
	if gone {
		db.days.forget()
	}
	return done && err == nil, err
}

// hasOpen reports whether anything open belongs to a day.
func (t tx) hasOpen(ctx context.Context, day time.Time) (open bool, err error) {
	err = t.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM open_deliveries WHERE id >= $1 AND id < $2)
			OR EXISTS (SELECT 1 FROM open_deliveries WHERE apart AND event_id >= $3 AND event_id < $4)
			OR EXISTS (SELECT 1 FROM fanouts WHERE event_id >= $3 AND event_id < $4)`,
		feedmill.FirstID(feedmill.PrefixDelivery, day), feedmill.FirstID(feedmill.PrefixDelivery, day.Add(aDay)),
		feedmill.FirstID(feedmill.PrefixEvent, day), feedmill.FirstID(feedmill.PrefixEvent, day.Add(aDay))).Scan(&open)
	return open, translate(err)
}

// dropDay drops the partitions of a day, unless something has opened before
// they were locked. What opens a delivery reads its event in the same
// transaction, so it has either ended by then or waits and finds nothing.
func (t tx) dropDay(ctx context.Context, day time.Time) error {
	var names []string
	for _, p := range partitioned {
		names = append(names, partitionName(p.table, day))
	}
	list := strings.Join(names, ", ")
	if _, err := t.exec(ctx, `SET LOCAL lock_timeout = '`+dropPatience+`'; LOCK TABLE `+list+` IN ACCESS EXCLUSIVE MODE`); err != nil {
		return err
	}
	if open, err := t.hasOpen(ctx, day); err != nil || open {
		return err
	}
	if _, err := t.exec(ctx, `DROP TABLE `+list); err != nil {
		return err
	}
	_, err := t.exec(ctx, `DELETE FROM partition_days WHERE day = $1`, day)
	return err
}

// sweepDay deletes, of the next events of a day, those that nothing open refers
// to, or some of their deliveries where they have many: the events go with the
// last of these. It reports whether it came to the end.
func (t tx) sweepDay(ctx context.Context, day time.Time, reached *eventKey) (end bool, err error) {
	events := partitionName("events", day)
	rows, err := t.Query(ctx, `SELECT workspace_id, id FROM `+events+` WHERE (workspace_id, id) > ($1, $2)
		ORDER BY workspace_id, id LIMIT $3`, reached.workspace, reached.id, sweepEvents)
	scanned, err := all(rows, translate(err), scanEventKey)
	if err != nil || len(scanned) == 0 {
		return true, err
	}
	unused, err := t.lockUnused(ctx, events, scanned)
	if err != nil {
		return false, err
	}
	n, err := t.deleteEnded(ctx, day, unused)
	if err != nil || n == sweepRows {
		return false, err
	}
	workspaces, ids := columns(keysOf(unused))
	if _, err := t.exec(ctx, `DELETE FROM `+events+` WHERE (workspace_id, id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`, workspaces, ids); err != nil {
		return false, err
	}
	*reached = scanned[len(scanned)-1]
	return len(scanned) < sweepEvents, nil
}

// lockUnused locks those of some events that nothing open refers to. One that is
// being opened again is locked, and stays; what was opened before it could be
// locked here is seen by looking once more.
func (t tx) lockUnused(ctx context.Context, events string, some []eventKey) (unused []span, err error) {
	for _, lock := range []string{` FOR UPDATE OF e SKIP LOCKED`, ``} {
		workspaces, ids := columns(some)
		rows, err := t.Query(ctx, `SELECT workspace_id, id, first_delivery, last_delivery FROM `+events+` e
			JOIN unnest($1::text[], $2::text[]) AS k (workspace_id, id) USING (workspace_id, id)
			WHERE NOT EXISTS (SELECT 1 FROM open_deliveries o WHERE o.apart AND o.event_id = e.id)
			AND NOT EXISTS (SELECT 1 FROM fanouts f WHERE f.event_id = e.id)
			AND NOT EXISTS (SELECT 1 FROM open_deliveries o WHERE o.id BETWEEN e.first_delivery AND e.last_delivery AND o.event_id = e.id)`+lock,
			workspaces, ids)
		if unused, err = all(rows, translate(err), scanSpan); err != nil {
			return nil, err
		}
		some = keysOf(unused)
	}
	return unused, nil
}

func keysOf(spans []span) []eventKey {
	keys := make([]eventKey, len(spans))
	for i, s := range spans {
		keys[i] = s.eventKey
	}
	return keys
}

// span is an event and the first and the last of the deliveries that it had
// when it was accepted; nil where it had none.
type span struct {
	eventKey
	first, last *string
}

func scanSpan(row record.Row) (s span, err error) {
	return s, row.Scan(&s.workspace, &s.id, &s.first, &s.last)
}

// deleteEnded deletes up to sweepRows deliveries of events of a day, with their
// attempts, and returns how many.
func (t tx) deleteEnded(ctx context.Context, day time.Time, events []span) (int, error) {
	ids, first, last := make([]string, len(events)), make([]*string, len(events)), make([]*string, len(events))
	for i, s := range events {
		ids[i], first[i], last[i] = s.id, s.first, s.last
	}
	rows, err := t.Query(ctx, `SELECT id FROM ended_deliveries WHERE apart AND event_id = ANY($1::text[]) LIMIT $2`, ids, sweepRows)
	ended, err := all(rows, translate(err), scanText)
	if err != nil {
		return 0, err
	}
	rows, err = t.Query(ctx, `SELECT d.id FROM unnest($1::text[], $2::text[], $3::text[]) AS e (id, first, last)
		CROSS JOIN LATERAL (SELECT d.id FROM `+partitionName("ended_deliveries", day)+` d
			WHERE NOT d.apart AND d.id BETWEEN e.first AND e.last AND d.event_id = e.id LIMIT $4) d LIMIT $4`, ids, first, last, sweepRows-len(ended))
	more, err := all(rows, translate(err), scanText)
	if err != nil {
		return 0, err
	}
	ended = append(ended, more...)
	if len(ended) == 0 {
		return 0, nil
	}
	for _, delivery := range []string{"attempts WHERE delivery_id", "attempt_bodies WHERE delivery_id", "ended_deliveries WHERE id"} {
		if _, err := t.exec(ctx, `DELETE FROM `+delivery+` = ANY($1::text[])`, ended); err != nil {
			return 0, err
		}
	}
	return len(ended), nil
}

func scanText(row record.Row) (s string, err error) { return s, row.Scan(&s) }

func scanDay(row record.Row) (day time.Time, err error) {
	err = row.Scan(&day)
	return day.UTC(), err
}
