package postgres

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/internal/store/record"
)

var scanVersion = scanner(record.Version)

// insertVersion writes a version. The one that it pushes out of the newest is
// from then on kept for its age alone.
func insertVersion(b *pgx.Batch, workspace feedmill.ID, v feedmill.FeedVersion) {
	b.Queue(`INSERT INTO feed_versions (workspace_id, `+record.VersionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		append([]any{workspace}, record.Version(&v, kinds{})...)...)
	b.Queue(`UPDATE feed_versions SET stale_at = created_at + $1::interval WHERE workspace_id = $2 AND feed_id = $3 AND number = $4`,
		feedmill.KeepVersionsFor, workspace, v.Feed, v.Number-feedmill.KeepVersions)
}

const versionsOf = `SELECT ` + record.VersionColumns + ` FROM feed_versions v WHERE workspace_id = $1 AND feed_id = $2
	AND EXISTS (SELECT 1 FROM feeds f WHERE f.workspace_id = $1 AND f.id = $2)`

// FeedVersion finds a version of a feed that is kept.
func (db *DB) FeedVersion(ctx context.Context, workspace, feed feedmill.ID, number int64) (feedmill.FeedVersion, error) {
	return scanVersion(db.pool.QueryRow(ctx, versionsOf+` AND number = $3`, workspace, feed, number))
}

// FeedVersions lists versions that are kept, newest first.
func (db *DB) FeedVersions(ctx context.Context, workspace, feed feedmill.ID, before int64, limit int) ([]feedmill.FeedVersion, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	rows, err := db.rows(ctx, versionsOf+` AND number < $3 ORDER BY number DESC LIMIT $4`, workspace, feed, before, limit)
	return all(rows, err, scanVersion)
}

// ForgetVersions removes versions that need not be kept any more, and returns
// the files that nothing has any more. It passes over those that another
// replica is at.
func (db *DB) ForgetVersions(ctx context.Context, now time.Time, limit int) (files []string, more bool, err error) {
	return db.forgetRows(ctx, limit, `DELETE FROM feed_versions WHERE (workspace_id, feed_id, number) IN (
		SELECT workspace_id, feed_id, number FROM feed_versions WHERE stale_at <= $1 ORDER BY stale_at LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING file, original`, now)
}
