package record

import (
	"context"
	"time"

	"github.com/feedmill/feedmill"
)

// HeldLeases counts the leases of each holder, but for those of slots, which only PostgreSQL has.
func (s Store) HeldLeases(ctx context.Context, now time.Time) (held []feedmill.HeldLease, err error) {
	err = s.db.Each(ctx, func(row Row) error {
		var l feedmill.HeldLease
		err := row.Scan(&l.Kind, &l.Holder, &l.Count)
		if l.Count > 0 {
			held = append(held, l)
		}
		return err
	}, `SELECT 'refreshes', leased_by, count(*) FROM sources WHERE leased_until > ?1 GROUP BY leased_by
		UNION ALL SELECT 'files', holder, count(*) FROM objects WHERE state = 'writing' GROUP BY holder
		UNION ALL SELECT 'pins', '', count(*) FROM pins WHERE expires_at > `+s.d.Now+`
		UNION ALL SELECT 'move', '', count(*) FROM store_identity WHERE moving <> '' AND moving_until > `+s.d.Now, s.time(now))
	return held, err
}

// FileStatus counts the stored files.
func (s Store) FileStatus(ctx context.Context) (f feedmill.FileStatus, err error) {
	err = s.db.One(ctx, `SELECT count(*), CAST(COALESCE(sum(bytes), 0) AS bigint), CAST(COALESCE(sum(verified), 0) AS bigint), CAST(COALESCE(sum(bytes * verified), 0) AS bigint) FROM (
			SELECT max(v.bytes) AS bytes, CASE WHEN `+s.d.Plus("s.checked_at", feedmill.ScrubEvery)+` > `+s.d.Now+` THEN 1 ELSE 0 END AS verified
			FROM file_sums s JOIN version_files v ON v.file = s.file GROUP BY s.file, s.checked_at) f`, nil,
		&f.Files, &f.Bytes, &f.Verified, &f.VerifiedBytes)
	if err != nil {
		return f, err
	}
	err = s.db.Each(ctx, func(row Row) error {
		var state string
		var count, bytes int64
		err := row.Scan(&state, &count, &bytes)
		switch state {
		case "unreferenced":
			f.Unreferenced, f.UnreferencedBytes = count, bytes
		case "deleting":
			f.Deleting = count
		case "writing":
			f.Writing = count
		}
		return err
	}, `SELECT state, count(*), CAST(COALESCE(sum(CASE WHEN bytes > 0 THEN bytes ELSE 0 END), 0) AS bigint) FROM objects WHERE state <> 'live' AND state <> 'deleted' GROUP BY state`)
	return f, err
}
