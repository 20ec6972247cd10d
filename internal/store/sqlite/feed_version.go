package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanVersion = scanner(record.Version)

// insertVersion writes a version. The one that it pushes out of the newest is
// from then on kept for its age alone.
func (t *tx) insertVersion(workspace feedmill.ID, v feedmill.FeedVersion) error {
	if _, err := t.exec(`INSERT INTO feed_versions (workspace_id, `+record.VersionColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		append([]any{workspace}, record.Version(&v, kinds{})...)...); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE feed_versions SET stale_at = created_at + ? WHERE workspace_id = ? AND feed_id = ? AND number = ?`,
		feedmill.KeepVersionsFor.Milliseconds(), workspace, v.Feed, v.Number-feedmill.KeepVersions)
	return err
}

const versionsOf = `SELECT ` + record.VersionColumns + ` FROM feed_versions v WHERE workspace_id = ?1 AND feed_id = ?2
	AND EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = ?1 AND f.id = ?2)`

// FeedVersion finds a version of a feed that is kept.
func (db *DB) FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error) {
	return scanVersion(db.row(ctx, versionsOf+` AND number = ?3`, workspace, feed, number))
}

// FeedVersions lists versions that are kept, newest first.
func (db *DB) FeedVersions(ctx context.Context, workspace, feed feedmill.ID, before int64, limit int) ([]feedmill.FeedVersion, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	rows, err := db.rows(ctx, versionsOf+` AND number < ?3 ORDER BY number DESC LIMIT ?4`, workspace, feed, before, limit)
	return all(rows, err, scanVersion)
}

// ForgetVersions removes versions that need not be kept any more, and returns
// the files that nothing has any more.
func (db *DB) ForgetVersions(ctx context.Context, now time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit,
		`SELECT rowid, file, original FROM feed_versions INDEXED BY feed_versions_stale WHERE stale_at IS NOT NULL AND stale_at <= ? ORDER BY stale_at LIMIT ?`,
		toMillis(now), `DELETE FROM feed_versions WHERE rowid = ?`)
}
