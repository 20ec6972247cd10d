package postgres

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

// alive is the condition of a lease that holds, where $2 is the time of a lease:
// it has not run out, and does not end later than a lease can, as one from before
// the database's clock was set back would.
const alive = `expires_at > now() AND expires_at <= now() + 2 * $2::interval`

// LeaseSlots renews the slots that a replica holds, for ttl, takes others up to
// its fair share of the replicas that are alive, and returns all of them and that
// share. All times are the database's.
//
// What a replica holds beyond its share stays its own until it gives it back with
// [DB.ReleaseSlots]. A slot whose row somebody has locked is passed over: nobody
// else can take it meanwhile, and it must not keep the others from being renewed.
func (db *DB) LeaseSlots(ctx context.Context, replica string, ttl time.Duration) (held []int, share int, err error) {
	err = db.write(ctx, func(tx tx) (err error) {
		if share, err = tx.fairShare(ctx, replica, ttl); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `UPDATE slots SET expires_at = now() + $2::interval WHERE slot IN (
				SELECT slot FROM slots WHERE owner = $1 ORDER BY slot FOR UPDATE SKIP LOCKED)
			RETURNING slot`, replica, ttl)
		if held, err = all(rows, translate(err), scanSlot); err != nil {
			return err
		}
		rows, err = tx.Query(ctx, `UPDATE slots SET owner = $1, expires_at = now() + $2::interval WHERE slot IN (
				SELECT slot FROM slots WHERE owner IS NULL OR (owner <> $1 AND NOT (`+alive+`))
				ORDER BY slot LIMIT $3 FOR UPDATE SKIP LOCKED)
			RETURNING slot`, replica, ttl, max(share-len(held), 0))
		taken, err := all(rows, translate(err), scanSlot)
		held = append(held, taken...)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return held, share, nil
}

// fairShare notes that the replica is alive and returns how many slots it may
// hold: the shares of the replicas that are alive add up to all slots.
func (t tx) fairShare(ctx context.Context, replica string, ttl time.Duration) (share int, err error) {
	if _, err := t.exec(ctx, `INSERT INTO replicas (id, expires_at) VALUES ($1, now() + $2::interval)
		ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`, replica, ttl); err != nil {
		return 0, err
	}
	if _, err := t.exec(ctx, `DELETE FROM replicas WHERE expires_at < now() - interval '1 day'`); err != nil {
		return 0, err
	}
	var living, before int
	err = t.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE id < $1) FROM replicas WHERE (`+alive+`) OR id = $1`,
		replica, ttl).Scan(&living, &before)
	if err != nil {
		return 0, translate(err)
	}
	// What does not divide evenly goes to the first of them.
	share = feedmill.Slots / living
	if before < feedmill.Slots%living {
		share++
	}
	return share, nil
}

func scanSlot(row record.Row) (slot int, err error) { return slot, row.Scan(&slot) }

// LeaveReplicas takes a replica out of those that have a share, so that the others
// take the slots that it gives back. Those that it holds still stay its own.
func (db *DB) LeaveReplicas(ctx context.Context, replica string) error {
	return db.write(ctx, func(tx tx) error {
		_, err := tx.exec(ctx, `DELETE FROM replicas WHERE id = $1`, replica)
		return err
	})
}

// ReleaseSlots gives slots back; nil means all that the replica holds, and that
// it goes away.
func (db *DB) ReleaseSlots(ctx context.Context, replica string, slots []int) error {
	return db.write(ctx, func(tx tx) error {
		if slots != nil {
			_, err := tx.exec(ctx, `UPDATE slots SET owner = NULL, expires_at = NULL WHERE owner = $1 AND slot = ANY($2::integer[])`, replica, slots)
			return err
		}
		if _, err := tx.exec(ctx, `UPDATE slots SET owner = NULL, expires_at = NULL WHERE owner = $1`, replica); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `DELETE FROM replicas WHERE id = $1`, replica)
		return err
	})
}
