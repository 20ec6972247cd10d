package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// A call of Prune looks at pruneEvents events at most and removes pruneRows
// deliveries at most: publishing waits while it removes.
const (
	pruneEvents = 250
	pruneRows   = 200
)

// pruning is how far the removal of old events has come.
type pruning struct {
	mu sync.Mutex
	// done is the last event that is done with, and ended the one of which
	// nothing is open, as has been seen.
	done, ended int64
}

// oldEvent is an event that may be removed, or some of its deliveries.
type oldEvent struct {
	seq int64
	id  feedmill.ID
}

// Prune removes events that were accepted before the time given, oldest first.
// It goes on where the call before it stopped, past events that must stay, and
// begins anew once it has come to the end; that is when it reports that there is
// no more. What can be removed is looked for beside the writer: of an event that
// went to very many that takes longer than to remove some of them.
func (db *DB) Prune(ctx context.Context, _, before time.Time) (more bool, err error) {
	p := &db.pruning
	p.mu.Lock()
	defer p.mu.Unlock()
	rows, err := db.rows(ctx, `SELECT seq, id FROM events WHERE seq > ? ORDER BY seq LIMIT ?`, p.done, pruneEvents)
	old, err := all(rows, err, func(row record.Row) (e oldEvent, err error) { return e, row.Scan(&e.seq, &e.id) })
	if err != nil {
		return false, err
	}
	first, room, end := feedmill.FirstID(feedmill.PrefixEvent, before), pruneRows, len(old) < pruneEvents
	var removable []oldEvent
	reached := p.done // the last event that this call is done with
	for _, e := range old {
		if e.id >= first {
			end = true
			break
		}
		n, err := db.prunable(ctx, e, room)
		if err != nil {
			return false, err
		}
		if n >= 0 {
			removable = append(removable, e)
		}
		if n == room {
			end = false // the event itself goes with the last of its deliveries
			break
		}
		room -= max(n, 0)
		reached = e.seq
	}
	err = db.write(ctx, func(tx *tx) error {
		if _, err := tx.exec(`DELETE FROM replays WHERE done_at < ?`, toMillis(before)); err != nil {
			return err
		}
		if _, err := tx.exec(`DELETE FROM filtered_events WHERE event_id IN (SELECT event_id FROM filtered_events WHERE event_id < ? ORDER BY event_id LIMIT ? + 0)`, string(first), pruneRows); err != nil {
			return err
		}
		return tx.prune(removable, reached)
	})
	if err != nil {
		return false, err
	}
	if p.done = reached; end {
		p.done = 0
	}
	return !end, nil
}

// prunable counts the deliveries of an event that can be removed, up to limit; -1
// where one of them is open or promised. One that is opened after that was seen is
// not counted: nothing would be left to do that could ever be done.
func (db *DB) prunable(ctx context.Context, e oldEvent, limit int) (n int, err error) {
	if e.seq != db.pruning.ended {
		var open bool
		err := db.row(ctx, `SELECT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_seq = ?1 AND (d.state = 2 OR d.state = 4))
			OR EXISTS (SELECT 1 FROM fanouts f WHERE f.event_seq = ?1)`, e.seq).Scan(&open)
		if err != nil || open {
			return -1, translate(err)
		}
		db.pruning.ended = e.seq
	}
	err = db.row(ctx, `SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE event_seq = ? AND state <> 2 AND state <> 4 LIMIT ?)`, e.seq, limit).Scan(&n)
	return n, translate(err)
}

// prune removes up to pruneRows deliveries of events, and of those up to the last
// one that the call is done with the events themselves. What was opened again
// meanwhile stays.
func (t *tx) prune(events []oldEvent, last int64) error {
	room := int64(pruneRows)
	for _, e := range events {
		n, err := t.deleteDeliveries(e.seq, room)
		if err != nil {
			return err
		}
		room -= n
		if e.seq > last {
			continue
		}
		if _, err := t.exec(`DELETE FROM events WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_seq = ?1)`, e.seq); err != nil {
			return err
		}
	}
	return nil
}

// deleteDeliveries removes up to limit deliveries of an event with all that
// belongs to them.
func (t *tx) deleteDeliveries(event, limit int64) (n int64, err error) {
	const some = `(SELECT seq FROM deliveries WHERE event_seq = ? AND state <> 2 AND state <> 4 ORDER BY seq LIMIT ? + 0)`
	for _, query := range []string{
		`DELETE FROM attempt_bodies WHERE delivery_seq IN ` + some,
		`DELETE FROM attempts WHERE delivery_seq IN ` + some,
		`DELETE FROM deliveries WHERE seq IN ` + some,
	} {
		if n, err = t.exec(query, event, limit); err != nil {
			return 0, err
		}
	}
	return n, nil
}
