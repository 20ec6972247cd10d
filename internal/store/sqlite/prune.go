package sqlite

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// A call of Prune looks at pruneEvents events at most and removes pruneRows
// deliveries at most: publishing waits while it works.
const (
	pruneEvents = 250
	pruneRows   = 1000
)

// Prune removes events that were accepted before the time given, oldest first.
// It goes on where the call before it stopped, past events that must stay, and
// begins anew once it has come to the end; that is when it reports that there is
// no more.
func (db *DB) Prune(ctx context.Context, _, before time.Time) (more bool, err error) {
	err = db.write(ctx, func(tx *tx) (err error) {
		if _, err := tx.exec(`DELETE FROM replays WHERE done_at < ?`, toMillis(before)); err != nil {
			return err
		}
		more, err = tx.prune(before)
		return err
	})
	return more && err == nil, err
}

// oldEvent is an event that may be removed; open says that it must stay.
type oldEvent struct {
	seq  int64
	id   feedmill.ID
	open bool
}

func (t *tx) prune(before time.Time) (more bool, err error) {
	rows, err := t.rows(`SELECT e.seq, e.id, EXISTS (SELECT 1 FROM deliveries d WHERE d.event_seq = e.seq AND (d.state = 2 OR d.state = 4))
			OR EXISTS (SELECT 1 FROM fanouts f WHERE f.event_seq = e.seq)
		FROM events e WHERE e.seq > ? ORDER BY e.seq LIMIT ?`, t.pruned, pruneEvents)
	old, err := all(rows, err, func(row record.Row) (e oldEvent, err error) {
		err = row.Scan(&e.seq, &e.id, &e.open)
		return e, err
	})
	if err != nil {
		return false, err
	}
	first, room := feedmill.FirstID(feedmill.PrefixEvent, before), int64(pruneRows)
	for _, e := range old {
		if e.id >= first {
			t.pruned = 0
			return false, nil
		}
		if !e.open {
			n, err := t.deleteDeliveries(e.seq, room)
			if err != nil {
				return false, err
			}
			if room -= n; room == 0 {
				return true, nil // the event itself goes with the last of its deliveries
			}
			if _, err := t.exec(`DELETE FROM events WHERE seq = ?`, e.seq); err != nil {
				return false, err
			}
		}
		t.pruned = e.seq
	}
	if len(old) < pruneEvents {
		t.pruned = 0
		return false, nil
	}
	return true, nil
}

// deleteDeliveries removes up to limit deliveries of an event with all that
// belongs to them.
func (t *tx) deleteDeliveries(event, limit int64) (n int64, err error) {
	const some = `(SELECT seq FROM deliveries WHERE event_seq = ? ORDER BY seq LIMIT ?)`
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
