package record

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/feedmill/feedmill"
)

// pinned holds for an unreferenced file that the records of a running backup may name.
func (s Store) pinned() string {
	return `EXISTS (SELECT 1 FROM pins p WHERE p.expires_at > ` + s.d.Now + ` AND p.protects_from <= objects.since)`
}

// pinMargin is longer than a transaction takes. PostgreSQL's clock stands still in a transaction, so
// one that began before a pin can record that a file became unreferenced before it.
const pinMargin = 10 * time.Minute

// Pin keeps all files that records name from now on, for the time of a lease.
func (s Store) Pin(ctx context.Context, id string, lease time.Duration) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx,
			Statement{`DELETE FROM pins WHERE expires_at <= ` + s.d.Now, nil},
			Statement{`INSERT INTO pins (id, protects_from, expires_at) VALUES (?1, ` + s.d.Plus(s.d.Now, -pinMargin) + `, ` + s.d.Plus(s.d.Now, lease) + `)`, []any{id}},
		)
	})
}

// RenewPin extends a pin. One that has expired is [feedmill.ErrPinLost].
func (s Store) RenewPin(ctx context.Context, id string, lease time.Duration) error {
	return s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `UPDATE pins SET expires_at = `+s.d.Plus(s.d.Now, lease)+` WHERE id = ?1 AND expires_at > `+s.d.Now, id)
		return orNone(n, err, feedmill.ErrPinLost)
	})
}

// Unpin ends a pin.
func (s Store) Unpin(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(tx Tx) error {
		return tx.Send(ctx, Statement{`DELETE FROM pins WHERE id = ?1`, []any{id}})
	})
}

// KeptFiles lists the files behind a name that records name, in the order of their names.
// Exports and the metadata of tables are left out, because the server writes them again.
func (s Store) KeptFiles(ctx context.Context, after string, limit int) (files []feedmill.KeptFile, err error) {
	err = s.db.Each(ctx, func(row Row) error {
		var f feedmill.KeptFile
		err := row.Scan(&f.Name, &f.Bytes, &f.SHA256, &f.Feed, &f.First, &f.Last)
		files = append(files, f)
		return err
	}, `SELECT f.file, f.bytes, COALESCE(s.sha256, ''), f.feed_id, f.first, f.last FROM (
			SELECT file, max(bytes) AS bytes, min(feed_id) AS feed_id, min(number) AS first, max(number) AS last FROM (
				SELECT file, bytes, feed_id, number FROM version_files WHERE file > ?1 AND file NOT LIKE ?2
				UNION ALL SELECT original, original_bytes, feed_id, number FROM feed_versions WHERE original > ?1
				UNION ALL SELECT rejects, -1, feed_id, 0 FROM refreshes WHERE rejects > ?1) a
			GROUP BY file ORDER BY file LIMIT ?3) f
		LEFT JOIN file_sums s ON s.file = f.file ORDER BY f.file`, after, "%"+feedmill.ExportSuffix, limit)
	return files, err
}

// AllKeptFiles lists all files that records name.
func (s Store) AllKeptFiles(ctx context.Context) (all []feedmill.KeptFile, err error) {
	const step = 1000
	after := ""
	for {
		files, err := s.KeptFiles(ctx, after, step)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
		if len(files) < step {
			return all, nil
		}
		after = files[len(files)-1].Name
	}
}

// Restored makes a store of its own from the records of a backup: it gets an id, has no leases
// and no files that the backup does not have, and is paused.
func (s Store) Restored(ctx context.Context, tx Tx, id, backup string) error {
	// A backup has no metadata of tables. It is written anew, for the new location.
	return tx.Send(ctx, append(slices.Clone(forgetTables),
		Statement{`DELETE FROM store_identity`, nil},
		Statement{`INSERT INTO store_identity (only_row, id) VALUES (1, ?1)`, []any{id}},
		Statement{`DELETE FROM pins`, nil},
		Statement{`DELETE FROM version_files WHERE file LIKE ?1`, []any{"%" + feedmill.ExportSuffix}},
		Statement{`DELETE FROM file_sums WHERE file LIKE ?1`, []any{"%" + feedmill.ExportSuffix}},
		Statement{`DELETE FROM unreferenced_files`, nil},
		Statement{`DELETE FROM objects WHERE NOT EXISTS (SELECT 1 FROM version_files v WHERE v.file = objects.file)
			AND NOT EXISTS (SELECT 1 FROM feed_versions v WHERE v.original = objects.file) AND NOT EXISTS (SELECT 1 FROM refreshes r WHERE r.rejects = objects.file)`, nil},
		Statement{`UPDATE objects SET state = 'live', holder = ''`, nil},
		Statement{`UPDATE sources SET leased_until = NULL, leased_by = ''`, nil},
		Statement{`DELETE FROM processes`, nil},
		Statement{`DELETE FROM process_points`, nil},
		Statement{`DELETE FROM previews`, nil},
		Statement{`DELETE FROM stage_parts`, nil},
		Statement{`DELETE FROM permits`, nil},
		Statement{`DELETE FROM rate_limits`, nil},
		Statement{`DELETE FROM send_windows`, nil},
		Statement{`DELETE FROM sign_in_links`, nil},
		Statement{`DELETE FROM portal_links`, nil},
		Statement{`DELETE FROM paused`, nil},
		Statement{`INSERT INTO paused (only_row, backup, since) VALUES (1, ?1, ` + s.d.Now + `)`, []any{backup}},
	)...)
}

// PausedFrom is the backup from which a store was restored that is paused, empty for a store
// that is not.
func (s Store) PausedFrom(ctx context.Context) (backup string, err error) {
	err = s.db.One(ctx, `SELECT backup FROM paused WHERE only_row = 1`, nil, &backup)
	if errors.Is(err, feedmill.ErrNotFound) {
		return "", nil
	}
	return backup, err
}

// Resume ends the pause of a restored store. It reports whether the store was paused.
func (s Store) Resume(ctx context.Context) (was bool, err error) {
	err = s.db.Write(ctx, func(tx Tx) error {
		n, err := tx.Run(ctx, `DELETE FROM paused`)
		was = n > 0
		return err
	})
	return was, err
}
